"""Instruments on pages: previews, autosave, and responses to incomplete forms."""

from __future__ import annotations

import re

import pytest
from django.test import RequestFactory
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_key
from theodolite.domain.event import Role
from theodolite.domain.instrument import YES_NO, Condition, Instrument, Operator, Question
from theodolite.web.questions import FormPage, form_page

YES = Condition(question="seen", operator=Operator.EQUAL, values=("yes",))
TWO = Instrument(
    name="two",
    questions=(
        Question(name="seen", text="Was it seen?", scale=YES_NO),
        Question(name="twice", text="More than once?", scale=YES_NO, when=YES),
    ),
)


@pytest.fixture
def post(event):
    """Return a function that sends answers to a sheet, and what the sheet kept."""
    kept = []

    def send(sent, **headers):
        request = RequestFactory().post("/", sent, headers=headers)
        page = FormPage(instrument=TWO, save=lambda *facts: kept.append(facts), next_page="/done/")
        return form_page(request, page), kept

    return send


def test_each_answer_is_saved_and_returns_the_next_questions(post):
    reply, kept = post({"a:seen": "yes"}, x_autosave="1")

    assert reply.content == b'{"asked": ["a:seen", "a:twice"], "open": 1, "kept": true}'
    assert [(answers[0].value, done) for answers, done in kept] == [("yes", False)]


def test_without_scripts_the_page_returns_with_the_follow_up_questions(post):
    reply, _ = post({"a:seen": "yes", "save": "yes"})
    page = reply.content.decode()

    assert (reply.status_code, "Saved" in page) == (200, True)
    assert not re.search(r'data-field="a:twice"[^>]* hidden', page)


def test_submission_with_an_open_question_returns_422_and_that_question(post):
    reply, kept = post({"a:seen": "yes", "hand_in": "yes"})
    page = reply.content.decode()

    assert (reply.status_code, kept[-1][1]) == (422, False)
    assert "1 question still open" in page
    assert len(re.findall("autofocus", page)) == 1


def test_a_complete_questionnaire_is_submitted_once(post):
    reply, kept = post({"a:seen": "no", "hand_in": "yes"})

    assert (reply.status_code, reply["Location"], kept[-1][1]) == (302, "/done/", True)


def test_organisers_see_every_instrument_with_its_version(event, client_as):
    page = client_as(Role.ORGANISER).get(reverse("organiser:questions", args=[event.token])).content.decode()

    for name in ("risk-assessment", "dialogue-utility", "tv-spoilers-red-teaming", "tv-spoilers-field-testing"):
        assert name in page


def test_an_unknown_instrument_is_not_found(event, client_as):
    client = client_as(Role.ORGANISER)

    assert client.get(reverse("organiser:question", args=[event.token, "nothing"])).status_code == 404


def test_a_questionnaire_works_by_keyboard_alone(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.goto(page.locator("a[href*='/organise/']").first.get_attribute("href") + "questions/tv-spoilers-red-teaming/")
    assert_accessible(page)
    follow_up = page.get_by_role("group", name="In how many of your dialogues")
    expect(follow_up).to_be_hidden()

    page.get_by_role("radio", name="no", exact=True).first.focus()
    page.keyboard.press("ArrowDown")
    expect(follow_up).to_be_visible()
    page.get_by_role("button", name="Try to submit").focus()
    load_by_key(page, "Enter")

    expect(page.get_by_role("alert")).to_contain_text("questions still open")
    expect(follow_up.get_by_role("radio").first).to_be_focused()
    assert_accessible(page)
