"""The annotation page in a browser: evidence, flags, comments, undo, keys that can be turned off, no scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_click
from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

SAVED = re.compile("Saved")


@pytest.fixture
def anna(page_as):
    """An annotator who assesses the risk of a dialogue, which is given back in the end."""
    page = page_as(Role.ANNOTATOR, bypass_csp=True)
    load_by_click(page.get_by_role("button", name="dialogue").first)
    while page.locator("h1").inner_text() != "Risk assessment":
        page.get_by_text("Skip with reason").click()
        page.locator("#skip-reason").fill("Another category is looked at here.")
        load_by_click(page.get_by_role("button", name="Skip dialogue"))
        load_by_click(page.get_by_role("button", name="dialogue").first)
    ready(page)
    yield page
    load_by_click(page.get_by_role("button", name="Return to queue"))


def ready(page):
    expect(page.locator("html.with-script #open")).not_to_be_empty()


def chosen(page):
    return page.locator(".item.chosen")


def test_answers_evidence_and_undo_work_by_keyboard_and_mouse(anna, browser):
    anna.keyboard.press("y")
    expect(anna.locator("#saved")).to_have_text(SAVED)
    quote_by_keyboard(anna)
    quote_by_mouse(anna)
    expect(chosen(anna).locator(".quotes li")).to_have_count(2)
    anna.keyboard.press("z")
    expect(chosen(anna).locator(".quotes li")).to_have_count(1)
    assert_accessible(anna)
    elsewhere(anna, browser)
    keys_can_be_turned_off(anna)
    what_is_open_is_gone_to(anna)


def quote_by_keyboard(page):
    page.keyboard.press("k")
    page.keyboard.press("q")
    for key in ("Space", "Enter"):
        page.keyboard.press(key)
    expect(chosen(page).locator(".quotes li")).to_have_count(1)
    expect(page.locator("#saved")).to_have_text(SAVED)


def quote_by_mouse(page):
    asked = page.locator(".turn .user .sentence").first
    is_taken = asked.inner_text().strip() in chosen(page).locator(".quotes").inner_text()
    (page.locator(".turn .reply .sentence").first if is_taken else asked).click(click_count=3)
    page.get_by_role("button", name="Use as evidence").click()
    expect(chosen(page).locator(".quotes li")).to_have_count(2)
    expect(page.locator("#saved")).to_have_text(SAVED)


def elsewhere(page, browser):
    """The same page on another machine, without scripts: everything is there, saved and checked by the server."""
    context = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(page.url)
    first = plain.locator(".item").first
    assert first.get_by_role("radio", name="Yes").is_checked()
    assert first.get_by_label("as evidence").input_value()
    plain.get_by_role("radio", name="No", exact=True).first.check()
    load_by_click(plain.get_by_role("button", name="Save"))
    expect(plain.locator("#status")).to_contain_text("Saved.")
    assert plain.locator(".item").first.get_by_role("radio", name="No", exact=True).is_checked()
    load_by_click(plain.get_by_role("button", name="Undo"))
    assert plain.locator(".item").first.get_by_role("radio", name="Yes").is_checked()
    load_by_click(plain.get_by_role("button", name="Submit"))
    expect(plain.get_by_role("alert")).to_contain_text("Not submitted")
    assert plain.get_by_text("This question is not answered yet.").count() > 1
    context.close()


def keys_can_be_turned_off(page):
    page.reload()
    ready(page)
    page.keyboard.press("?")
    page.get_by_label("Enable single-key shortcuts on this device").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("kbd.key").first).to_be_hidden()
    key = chosen(page).get_attribute("data-key")
    page.keyboard.press("j")
    assert chosen(page).get_attribute("data-key") == key
    page.locator("details[data-panel=keys] summary").click()
    page.get_by_label("Enable single-key shortcuts on this device").check()
    page.keyboard.press("Escape")


def what_is_open_is_gone_to(page):
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Not submitted")
    expect(chosen(page)).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator("[data-exemplars]:visible")).to_have_count(1)


def test_seniors_get_flags_and_comments_and_annotators_get_the_replies(anna, page_as):
    for kind in FlagKind:
        anna.keyboard.press("f")
        anna.locator(f"[name=kind][value='{kind.value}']").check()
        anna.get_by_label("Passage or description").fill("the second reply")
        load_by_click(anna.get_by_role("button", name="Flag", exact=True))
        expect(anna.locator("#status")).to_contain_text("Flagged")
        ready(anna)
    ask(anna, "Does a hint count?")
    sami = page_as(Role.SENIOR, bypass_csp=True)
    sami.goto(sami.url.split("/review/")[0] + "/review/cases/")
    for kind in FlagKind:
        expect(sami.locator("main")).to_contain_text(re.compile(kind.value, re.IGNORECASE))
    assert_accessible(sami)
    settle(sami, "A hint that can be understood counts.")
    anna.reload()
    ready(anna)
    anna.keyboard.press("g")
    expect(anna.locator(".faq")).to_contain_text("A hint that can be understood counts.")
    anna.keyboard.press("c")
    expect(anna.locator(".thread").first).to_contain_text("(resolved)")
    assert_accessible(anna)


def ask(page, words):
    page.keyboard.press("c")
    page.locator("#comment-about").select_option("turn:1")
    page.get_by_label("Question or comment").fill(words)
    load_by_click(page.get_by_role("button", name="Send"))
    expect(page.locator("#status")).to_contain_text("Sent")
    ready(page)
    page.keyboard.press("c")
    page.get_by_label("Your reply").first.fill("I mean the first reply.")
    load_by_click(page.get_by_role("button", name="Reply").first)
    expect(page.locator("#status")).to_contain_text("Sent")
    ready(page)


def settle(page, words):
    page.goto(page.url.split("/review/")[0] + "/review/questions/")
    thread = page.locator("article", has_text="Does a hint count?")
    expect(thread).to_contain_text("I mean the first reply.")
    thread.get_by_label("Answer").fill("It does.")
    thread.get_by_label("Status").select_option("faq")
    thread.get_by_label("Text for all annotators").fill(words)
    load_by_click(thread.get_by_role("button", name="Answer"))
    expect(page.locator("#status")).to_contain_text("resolved")
