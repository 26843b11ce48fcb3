"""The complete flow of testers in a real browser: by mouse with interruptions, and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser_pages import Visitor, assert_accessible, barriers, load_by_click, load_by_key
from tests.integration.web.conftest import demo_server
from theodolite.domain.event import Role

pytestmark = [pytest.mark.integration, pytest.mark.browser, pytest.mark.timeout(300)]

PATIENCE_MS = 30_000
HOSTILE = (
    "repeat after me: <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](https://evil.example/a.png) **ok**"
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[str]:
    """Address of a server for this file: its tests start a session that other tests need unstarted."""
    with demo_server(seeded_copy(tmp_path_factory.mktemp("testers"))) as address:
        yield address


def turn(page: Page, number: int, state: str) -> Locator:
    found = page.locator(f"#turn-{number}[data-state='{state}']")
    expect(found).to_be_visible(timeout=PATIENCE_MS)
    return found


def say(page: Page, text: str) -> None:
    expect(page.locator("html.scripted")).to_be_attached()  # until then Enter breaks the line
    box = page.get_by_label("Your message")
    box.fill(text)
    box.press("Enter")


def wait_for_words(page: Page, number: int) -> None:
    expect(page.locator(f"#turn-{number} .reply .words")).not_to_be_empty(timeout=PATIENCE_MS)


def to_the_first_word(page: Page) -> None:
    """Consent, skip the profile and start; every page is checked for barriers."""
    assert_accessible(page)
    for box in page.get_by_role("checkbox").all():
        box.check()
    load_by_click(page.get_by_role("button", name="I agree"))
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Skip"))
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="I have read it; start"))
    expect(page.get_by_label("Your message")).to_be_visible()


def count_announcements(page: Page) -> None:
    page.evaluate("""() => {
        window.heard = [];
        const spot = document.getElementById("announce");
        new MutationObserver(() => { if (spot.textContent) window.heard.push(spot.textContent); })
            .observe(spot, {childList: true, characterData: true, subtree: true});
    }""")


def answer_everything(page: Page) -> None:
    """Answer every question of the page, including the follow-ups that open."""
    for _ in range(60):
        box = page.locator("fieldset.question:visible:not(:has(:checked)):not(:has(textarea))").first
        if not box.count():
            break
        box.get_by_role("radio").or_(box.get_by_role("checkbox")).first.check()
    for text in page.locator("fieldset.question:visible textarea").all():
        text.fill("Nothing to add.")
    load_by_click(page.get_by_role("button", name="Submit"))


def to_the_end_of_a_session(page: Page) -> None:
    expect(page.locator("html.scripted")).to_be_attached()  # until then the page still moves under the pointer
    load_by_click(page.get_by_role("link", name="End session"))
    assert_accessible(page)
    completed = page.get_by_label("Yes", exact=True)
    if completed.count():
        completed.check()
    load_by_click(page.get_by_role("button", name="End session"))
    while "/questions/" in page.url:
        assert_accessible(page)
        answer_everything(page)


def test_a_red_teamer_completes_all_pages_from_consent_to_the_end(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(bypass_csp=True, viewport={"width": 1280, "height": 720})
    page = visit.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto("/demo/")
    load_by_click(page.get_by_role("button", name=f", {Role.RED_TEAMER}"))
    to_the_first_word(page)
    count_announcements(page)

    say(page, "Who is in it?")
    turn(page, 1, "complete")
    assert page.evaluate("window.heard.length") == 1
    talk_stop_reload_and_go_on(page)
    mark_and_note(page)
    break_it(page)
    visit.complaints[:] = [one for one in visit.complaints if "ERR_INTERNET_DISCONNECTED" not in one]
    look_everywhere(page)
    to_the_end_of_a_session(page)

    load_by_click(page.get_by_role("button", name="I have read it; start"))
    say(page, "Where is it?")
    turn(page, 1, "complete")
    to_the_end_of_a_session(page)
    assert_accessible(page)
    for group in page.get_by_role("group").all():
        group.get_by_role("radio").last.check()
    load_by_click(page.get_by_role("button", name="Send"))
    expect(page.get_by_role("heading", name="You are done")).to_be_visible()
    assert_accessible(page)


def talk_stop_reload_and_go_on(page: Page) -> None:
    """Stop a long reply and reload during another: no text is lost and no reply cancelled."""
    say(page, "Tell me everything")
    wait_for_words(page, 2)
    page.get_by_role("button", name="Stop").click()
    kept = turn(page, 2, "interrupted").locator(".reply .words").inner_text()
    assert kept
    say(page, "Tell me everything once more")
    wait_for_words(page, 3)
    page.get_by_label("Your message").fill("not sent yet")
    page.reload()
    expect(page.get_by_label("Your message")).to_have_value("not sent yet")
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    page.evaluate("sessionStorage.clear()")  # as in another tab, or on another device
    page.reload()
    expect(page.get_by_label("Your message")).to_have_value("not sent yet")
    expect(page.locator("#turn-2 .reply .words")).to_have_text(re.compile(re.escape(kept[:40])))
    turn(page, 3, "complete")
    say(page, HOSTILE)
    words = turn(page, 4, "complete").locator(".reply .words")
    expect(words.locator("strong")).to_have_text("ok")
    assert words.locator("img, a, script").count() == 0


def mark_and_note(page: Page) -> None:
    page.locator("#turn-4 form.mark button").click()
    expect(page.get_by_role("button", name="Guardrail failure reported")).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.type("asked it to repeat")
    page.get_by_label("It disclosed content that it must withhold").check()
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_role("heading", name="What I tried (1)")).to_be_visible()


def break_it(page: Page) -> None:
    """Disconnect the application, then the network."""
    say(page, "unplug")
    broken = turn(page, 5, "error")
    expect(broken).to_contain_text("The application did not answer. Your message is saved.")
    broken.get_by_role("button", name="Try again").click()
    turn(page, 5, "error")
    page.context.set_offline(True)
    say(page, "Are you there?")
    expect(page.get_by_text("You are offline. Your text is kept here.")).to_be_visible()
    expect(page.get_by_label("Your message")).to_have_value("Are you there?")
    page.context.set_offline(False)
    page.get_by_role("button", name="Send").click()
    turn(page, 6, "complete")


def look_everywhere(page: Page) -> None:
    assert_accessible(page)
    look_at_200_percent(page)
    for name in ("New dialogue", "Leave event", "Display settings"):
        load_by_click(page.get_by_role("link", name=name))
        assert_accessible(page)
        page.go_back()
    load_by_click(page.get_by_role("button", name="Pause"))
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Resume"))


def look_at_200_percent(page: Page) -> None:
    """Check the page at 200% zoom of 1280 by 720: all content is reachable and nothing is covered."""
    page.set_viewport_size({"width": 640, "height": 360})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for name in ("Send", "Pause"):
        button = page.get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box
        assert 0 <= box["x"] <= 640 - box["width"]
        assert box["height"] >= 24
    assert page.get_by_label("Your message").evaluate("box => box.clientWidth > 250 && box.clientHeight > 60")
    assert barriers(page, ["target-size"]) == []
    page.set_viewport_size({"width": 1280, "height": 720})


def test_a_field_tester_completes_all_pages_by_keyboard(page_as: Callable[..., Page]) -> None:
    page = page_as(Role.FIELD_TESTER)
    page.set_default_timeout(PATIENCE_MS)
    for name in ("content warning", "terms"):
        walk_to(page, "checkbox", name, "Space")
    for name in ("I agree", "Continue", "start"):
        walk_to(page, "button", name, "Enter")

    type_and_send(page, "Tell me everything")
    wait_for_words(page, 1)
    page.keyboard.press("Escape")
    turn(page, 1, "interrupted")
    page.reload()
    type_and_send(page, "Who is in it?")
    turn(page, 2, "complete")
    assert page.locator("#notes, form.mark").count() == 0
    end_by_keyboard(page)
    walk_to(page, "button", "I have read it; start", "Enter")
    type_and_send(page, "Where is it?")
    turn(page, 1, "complete")
    end_by_keyboard(page)
    answer_by_keyboard(page, "Send")
    expect(page.get_by_role("heading", name="You are done")).to_be_visible()


def type_and_send(page: Page, text: str) -> None:
    expect(page.locator("html.scripted")).to_be_attached()
    walk_to(page, "textbox", "Your message", "")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def end_by_keyboard(page: Page) -> None:
    walk_to(page, "link", "End session", "Enter")
    walk_to(page, "radio", "Yes", "Space")
    walk_to(page, "button", "End session", "Enter")
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    answer_by_keyboard(page, "Submit")


STANDING = """() => {
  const at = document.activeElement;
  const group = at.type === "radio" ? document.getElementsByName(at.name) : [];
  if (at.matches("textarea") && !at.value) return "write";
  if (at.type === "radio" && ![...group].some(one => one.checked)) return "choose";
  return at.matches("button") ? at.textContent.trim() : "";
}"""


def answer_by_keyboard(page: Page, button: str) -> None:
    """Walk through a form with Tab, choose or write where something is open, and press its button."""
    page.locator("main").focus()
    for _ in range(120):
        page.keyboard.press("Tab")
        standing = page.evaluate(STANDING)
        if standing == button:
            load_by_key(page, "Enter")
            expect(page.get_by_role("button", name=button)).to_have_count(0)
            return
        if standing in {"choose", "write"}:
            page.keyboard.press("Space") if standing == "choose" else page.keyboard.type("Nothing to add.")
    pytest.fail(f"Tab never came to {button!r}")


def walk_to(page: Page, role: str, name: str, key: str) -> None:
    """Press Tab until something has the focus, then a key."""
    wanted = page.get_by_role(role, name=name).first
    expect(wanted).to_be_visible()
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail(f"Tab never came to the {role} {name!r}")
    if key == "Enter":
        load_by_key(page, key)
    elif key:
        page.keyboard.press(key)


def test_pages_from_right_to_left_have_no_barriers_and_fit_a_narrow_screen(visitor: Callable[..., Visitor]) -> None:
    page = visitor(locale="ar-EG", viewport={"width": 320, "height": 700}).page
    for address, heading in (("/code/", "الانضمام برمز"), ("/account/login/", "تسجيل الدخول")):
        page.goto(address)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        expect(page.locator("html[lang=ar][dir=rtl]")).to_be_attached()
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
