"""Who is let in and when, in a real browser: an organiser makes slots and links, and strangers come by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser_pages import Visitor, assert_accessible, load_by_click
from tests.integration.web.server import Server
from theodolite.demo.studies import lay_out_event

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

SHOTS = os.environ.get("THEODOLITE_SHOTS", "")
TIMES = "event: {opens: 2020-01-01T09:00, zone: Europe/Berlin}\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("admission")
    lay_out_event(folder / "theodolite-event")
    study = folder / "theodolite-event" / "study.yaml"
    study.write_text(f"{study.read_text()}\n{TIMES}")
    with Server(folder, "--demo") as server:
        yield f"http://127.0.0.1:{server.port}"


def looked_at(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)
    assert_accessible(page)


def an_open_link(page: Page, event: str) -> str:
    """Make slots and an open link as the organiser, and return the link."""
    page.goto(f"{event}/organise/slots/")
    page.get_by_label("Start", exact=True).fill("2999-03-02T09:00")
    page.get_by_label("Number of consecutive slots").fill("2")
    page.get_by_label("Room or note").fill("Room B 12")
    load_by_click(page.get_by_role("button", name="Create slots"))
    looked_at(page, "organiser-slots")
    page.goto(f"{event}/organise/links/")
    page.get_by_label("Name of the link").fill("Poster in the hall")
    page.get_by_label("Anyone with the link").check()
    page.get_by_label("Role", exact=True).select_option("red teamer")
    load_by_click(page.get_by_role("button", name="Create link"))
    looked_at(page, "organiser-links")
    return page.get_by_label("Address of Poster in the hall", exact=True).input_value()


def come_in(visitor: Visitor, link: str) -> Page:
    page = visitor.page
    page.goto(link)
    looked_at(page, "open-link")
    load_by_click(page.get_by_role("button", name="Start"))
    load_by_click(page.get_by_role("link", name="Continue"))
    return page


def answer_first(page: Page, answer: str) -> None:
    page.get_by_label(answer, exact=True).check()
    load_by_click(page.get_by_role("button", name="Continue"))


def to_the_time(page: Page) -> None:
    agree = page.get_by_role("button", name="I agree")
    for box in page.get_by_role("checkbox").all():
        box.check()
    load_by_click(agree)
    load_by_click(page.get_by_role("button", name="Skip"))


def test_strangers_are_asked_let_in_or_not_and_choose_their_time(browser, base):
    organiser, out, within = (Visitor(browser, base, bypass_csp=True) for _ in range(3))
    organiser.page.goto("/demo/")
    load_by_click(organiser.page.get_by_role("button", name=", organiser"))
    load_by_click(organiser.page.locator('a[href*="/organise/"]').first)
    event = organiser.page.url.split("/organise/")[0]
    link = an_open_link(organiser.page, event)
    page = come_in(out, link)
    looked_at(page, "tester-screening")
    answer_first(page, "No")
    looked_at(page, "tester-screened-out")
    page = come_in(within, link)
    answer_first(page, "Yes")
    to_the_time(page)
    looked_at(page, "tester-slot")
    page.get_by_role("radio").first.check()
    load_by_click(page.get_by_role("button", name="Book this time"))
    looked_at(page, "tester-wait")
    expect(page.locator("main")).to_contain_text("Saturday 2 March 2999, 09:00 to 10:30 (Europe/Berlin), Room B 12")
    organiser.page.goto(f"{event}/organise/people/?links=yes")
    looked_at(organiser.page, "organiser-people")
    load_by_click(organiser.page.get_by_role("link", name="Ravi"))
    looked_at(organiser.page, "organiser-person")
    organiser.page.goto(f"{event}/organise/operations/")
    looked_at(organiser.page, "organiser-operations")
    assert [*organiser.complaints, *out.complaints, *within.complaints] == []
