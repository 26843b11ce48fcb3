"""The first page of each role in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible
from tests.fakes.tester import BrowserVisitor, bot_with
from tests.integration.web.conftest import demo_server
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def served(tmp_path, seeded_copy):
    """A separate server: on the shared one, other tests move people beyond their first pages."""
    with demo_server(seeded_copy(tmp_path)) as address:
        yield address


def test_every_demo_role_opens_with_one_click_and_without_barriers(page_as):
    for role in Role:
        page = page_as(role, bypass_csp=True)

        expect(page.locator("h1")).to_have_count(1)
        assert_accessible(page)


def test_the_bot_of_dry_runs_completes_the_event_in_a_browser(page_as, served):
    page = page_as(Role.FIELD_TESTER)
    event = page.url.partition("/s/")[2].partition("/")[0]
    bot = bot_with(BrowserVisitor(served, page), event, Level.FIELD_TESTING, sessions=2)
    bot.walk()

    assert bot.is_completed
    assert bot.questionnaires == 2
    assert page.url.endswith("/done/")
