"""The pages of application teams in a real browser: the check runs while the page is open, without barriers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_click
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

SHOTS = os.environ.get("THEODOLITE_SHOTS", "")


def looked_at(page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)
    assert_accessible(page)


def test_a_team_checks_its_application_and_an_organiser_reviews_another(page_as):
    page = page_as(Role.TEAM, bypass_csp=True)
    looked_at(page, "team-home")
    load_by_click(page.get_by_role("link", name="requirements and test scenarios"))
    looked_at(page, "team-criteria")
    page.go_back()
    load_by_click(page.get_by_role("link", name="Submit an application"))
    looked_at(page, "team-edit")
    page.goto(page.url.replace("new/", ""))
    load_by_click(page.get_by_role("link", name="echo", exact=True))
    load_by_click(page.get_by_role("button", name="Run check"))
    for _ in range(400):
        if page.get_by_text("No errors.").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    expect(page.get_by_text("No errors.")).to_be_visible()
    looked_at(page, "team-submission")

    event = page.url.split("/team/")[0]
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.goto(f"{event}/organise/submissions/")
    looked_at(page, "organiser-submissions")
    load_by_click(page.get_by_role("link", name="echo-two"))
    looked_at(page, "organiser-submission")


def test_the_pages_to_prepare_an_event_have_no_barriers(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.goto("/")
    event = page.locator('a[href*="/organise/"]').first.get_attribute("href").split("/organise/")[0]
    for name in ("", "ethics/", "people/", "operations/", "blinding/", "second-factors/"):
        page.goto(f"{event}/organise/{name}")
        looked_at(page, f"organiser-{name.strip('/') or 'home'}")
    page.goto("/second-factor/")
    looked_at(page, "second-factor")
    page.goto(f"{event}/organise/people/")
    page.get_by_label("Number of access codes").fill("3")
    load_by_click(page.get_by_role("button", name="Create access codes"))
    looked_at(page, "organiser-access-codes")
