"""The layout of the tester's chat in a real browser: the composer stays in sight, and touch keyboards write lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser_pages import assert_accessible, barriers, load_by_click
from tests.integration.web.conftest import demo_server
from theodolite.domain.event import Role

pytestmark = [pytest.mark.integration, pytest.mark.browser, pytest.mark.timeout(300)]

N_TURNS = 30
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
TABLET = {"width": 768, "height": 900}
WITH_KEYBOARD = {"width": 390, "height": 450}
"""What a touch keyboard leaves of a phone."""

COPY_TURNS = """count => {
  const log = document.getElementById("dialogue");
  const first = log.querySelector("article");
  for (let number = 2; number <= count; number++) {
    const copy = first.cloneNode(true);
    copy.id = `turn-${number}`;
    copy.querySelectorAll("[id]").forEach(part => part.removeAttribute("id"));
    log.append(copy);
  }
}"""
"""Repeats the first turn, because an event limits the turns of a dialogue."""

OUTSIDE = """() => [...document.querySelectorAll("header *, main *")].filter(part => {
  const box = part.getBoundingClientRect();
  if (!box.width || part.closest(".quiet, .wide-only, .who, svg") || !part.checkVisibility()) return false;
  return box.left < -1 || box.right > document.documentElement.clientWidth + 1;
}).map(part => part.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[str]:
    """Address of a server of these tests alone: they start the session that other tests must find unstarted."""
    with demo_server(seeded_copy(tmp_path_factory.mktemp("layout"))) as address:
        yield address


def open_chat(page: Page) -> None:
    """Open the composer of the first session after consent and profile."""
    composer = page.get_by_label("Your message")
    agree, skip = page.get_by_role("button", name="I agree"), page.get_by_role("button", name="Skip")
    start = page.get_by_role("button", name="I have read it; start")
    if agree.count():
        for box in page.get_by_role("checkbox").all():
            box.check()
        load_by_click(agree)
    for button in (skip, start):
        if button.count():
            load_by_click(button)
    expect(composer).to_be_visible()
    expect(page.locator("html.scripted")).to_be_attached()


def send_by_button(page: Page, text: str) -> int:
    """Send a message and return the number of its turn, once the reply is complete."""
    number = page.locator("#dialogue article").count() + 1
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Send").click()
    expect(page.locator(f"#turn-{number}[data-state='complete']")).to_be_visible(timeout=60_000)
    return number


def scroll_to(page: Page, share: float) -> None:
    page.evaluate("share => scrollTo({top: share * document.documentElement.scrollHeight, behavior: 'instant'})", share)


def assert_composer_in_sight(page: Page) -> None:
    size = page.viewport_size
    box = page.locator("#say").bounding_box()
    assert size
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] >= size["height"] / 4, "the composer leaves no room for the dialogue"
    assert box["y"] + box["height"] <= size["height"]


def assert_head_in_sight(page: Page) -> None:
    """Fail where the head has scrolled away, does not hold its content, or covers the task beside or below it."""
    head, side = page.locator("header.top"), page.locator(".side").bounding_box()
    box = head.bounding_box()
    assert box
    assert side
    assert box["y"] == 0
    assert head.evaluate("head => head.scrollHeight <= head.clientHeight + 1")
    assert side["y"] == pytest.approx(box["height"], abs=1.5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_composer_stays_visible_after_thirty_turns(page_as: Callable[..., Page], scheme: str) -> None:
    page = page_as(Role.RED_TEAMER, viewport=DESKTOP, color_scheme=scheme, bypass_csp=True)
    open_chat(page)
    assert_composer_in_sight(page)
    send_by_button(page, "Who is in it?")
    page.evaluate(COPY_TURNS, N_TURNS)
    for viewport in (DESKTOP, TABLET, PHONE, WITH_KEYBOARD):
        page.set_viewport_size(viewport)  # type: ignore[arg-type]
        for share in (0, 0.5, 1):
            scroll_to(page, share)
            assert_composer_in_sight(page)
            if viewport is not WITH_KEYBOARD:
                assert_head_in_sight(page)
        assert page.evaluate(OUTSIDE) == []
    assert barriers(page) == []
    assert_accessible(page)


def test_own_messages_are_on_the_right_and_replies_on_the_left(page_as: Callable[..., Page]) -> None:
    page = page_as(Role.RED_TEAMER, viewport=DESKTOP)
    open_chat(page)
    number = send_by_button(page, "Who is in it?")
    ends = page.locator("#dialogue").bounding_box()
    own = page.locator(f"#turn-{number} .you .words").bounding_box()
    reply = page.locator(f"#turn-{number} .reply .words").bounding_box()
    assert ends
    assert own
    assert reply
    assert own["x"] + own["width"] == pytest.approx(ends["x"] + ends["width"], abs=1)
    assert own["x"] > ends["x"] + 100
    assert reply["x"] == pytest.approx(ends["x"], abs=1)


def test_enter_on_a_touch_keyboard_inserts_a_line_break(page_as: Callable[..., Page]) -> None:
    page = page_as(Role.RED_TEAMER, viewport=PHONE, has_touch=True, is_mobile=True)
    open_chat(page)
    before = page.locator("#dialogue article").count()
    box = page.get_by_label("Your message")
    box.fill("Who")
    box.press("Enter")
    expect(box).to_have_value("Who\n")
    expect(page.locator("#dialogue article")).to_have_count(before)
    expect(page.locator("#text-help")).to_be_hidden()
    box.press("Control+Enter")
    expect(page.locator("#dialogue article")).to_have_count(before + 1)
    expect(page.locator(f"#turn-{before + 1}[data-state='complete']")).to_be_visible(timeout=60_000)
    box.fill("Where")
    page.get_by_role("button", name="Send").tap()
    expect(page.locator("#dialogue article")).to_have_count(before + 2)
    expect(page.locator(f"#turn-{before + 2}[data-state='complete']")).to_be_visible(timeout=60_000)
    expect(page.locator("#turn-of")).to_have_text(re.compile(rf"turn {before + 2} of \d+"))
    assert_composer_in_sight(page)


def test_the_collapsed_section_on_a_phone_opens_task_and_notes(page_as: Callable[..., Page]) -> None:
    page = page_as(Role.RED_TEAMER, viewport=PHONE)
    open_chat(page)
    end = page.get_by_role("link", name="End session")
    expect(end).to_be_hidden()
    page.locator("#tools > summary").click()
    expect(end).to_be_visible()
    page.locator("#tools > summary").click()
    page.locator("#task > summary").click()
    expect(page.locator("#task .words")).to_be_visible()
    assert_composer_in_sight(page)
    page.keyboard.press("Escape")
    expect(page.locator("#task .words")).to_be_hidden()
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    expect(end).to_be_visible()
