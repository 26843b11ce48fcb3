"""The first page of each role in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible
from tests.integration.web.conftest import demo_server
from theodolite.domain.people.role import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def served(tmp_path):
    """A server of its own: on the shared one, other tests have led people further than their first pages."""
    with demo_server(tmp_path) as address:
        yield address


def test_everybody_comes_in_with_one_click_and_meets_no_barrier(page_as):
    for role in Role:
        page = page_as(role, bypass_csp=True)

        expect(page.locator("h1")).to_have_count(1)
        assert_accessible(page)
