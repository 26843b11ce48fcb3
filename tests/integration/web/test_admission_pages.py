"""Admission in a real browser: an organiser creates time slots and links, and visitors use one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser_pages import (
    ActionCounter,
    Job,
    Visitor,
    assert_accessible,
    documented_actions,
    load_by_click,
)
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


def test_visitors_are_screened_admitted_or_refused_and_choose_a_time_slot(browser, base):
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


STUDY = """study: paths
pack: aria/pathfinder
applications:
  green: {kind: http, url: https://green.example/chat, body: {q: "{{ prompt }}", sid: "{{ session }}"}, reply: $.text}
levels:
  red_teaming: {people: 20, sessions: 1, minutes: 30}
consent: consent.md
contact: lab@example.org
"""


def test_an_organiser_opens_an_event_from_a_pack_and_invites_20_people_in_few_clicks(browser, base):
    organiser = Visitor(browser, base)
    page = organiser.page
    page.goto("/demo/")
    load_by_click(page.get_by_role("button", name=", organiser"))
    actions = ActionCounter(page)
    publish_a_pack(actions)
    record_approval(actions)
    invite_20_people(page)
    actions.follow(page.get_by_role("link", name="Home", exact=True))
    actions.follow(page.get_by_role("link", name="Open event"))
    actions.follow(page.get_by_role("button", name="Open the event"))
    expect(page.locator("h1 + *")).to_contain_text("open")
    assert actions.n == documented_actions()[Job.OPEN_EVENT].count
    assert organiser.complaints == []


def publish_a_pack(actions: ActionCounter) -> None:
    """Add a study from a pack, write its application and its consent text, and publish it."""
    page = actions.page
    actions.follow(page.get_by_role("link", name="Studies on this server"))
    actions.follow(page.get_by_role("link", name="New study"))
    actions.write(page.get_by_label("Name", exact=True), "paths")
    actions.click(page.get_by_label("An event with testers, on a scenario pack"))
    actions.select(page.get_by_label("Scenario pack", exact=True), "aria/pathfinder")
    actions.follow(page.get_by_role("button", name="Create study"))
    write_file(actions, "study.yaml", STUDY)
    actions.follow(page.get_by_role("link", name="consent.md", exact=True))
    write_file(actions, "consent.md", "You talk to a program for 30 minutes. You can stop at any time.")
    actions.follow(page.get_by_role("button", name="Review and publish"))
    actions.follow(page.get_by_role("button", name="Publish version 1"))


def write_file(actions: ActionCounter, name: str, text: str) -> None:
    actions.write(actions.page.get_by_role("textbox", name=name), text)
    actions.press("Control+s")
    expect(actions.page.locator("#saved")).to_contain_text("Saved")


def record_approval(actions: ActionCounter) -> None:
    page = actions.page
    actions.follow(page.get_by_role("link", name="Home", exact=True))
    actions.follow(page.get_by_role("link", name="Record approval"))
    actions.write(page.get_by_label("Body that approved the event"), "Review board")
    actions.write(page.get_by_label("Number or text of the decision"), "2020-7")
    actions.write(page.get_by_label("Valid from"), "2020-01-01")
    actions.follow(page.get_by_role("button", name="Record", exact=True))


def invite_20_people(page: Page) -> None:
    """Paste names into the field that has the focus, and copy the links of all."""
    actions = ActionCounter(page)
    actions.click(page.get_by_role("link", name="Paste addresses"))
    expect(page.locator("#paste_addresses")).to_be_focused()
    page.keyboard.insert_text("\n".join(f"Person {number}" for number in range(20)))
    actions.follow(page.locator("form", has=page.locator("#paste_addresses")).get_by_role("button"))
    expect(page.locator("#status")).to_contain_text("20 invited")
    actions.click(page.get_by_role("button", name="Copy all links"))
    expect(page.locator("#status")).to_contain_text("Copied")
    assert len(page.get_by_label("All invitation links").input_value().splitlines()) == 20
    assert actions.n == documented_actions()[Job.INVITE].count
