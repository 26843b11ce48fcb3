"""The blinding check detects unblinding texts on all pages of testers and annotators, and starts nothing."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_click
from tests.fakes.annotated_event import submitted
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Role
from theodolite.domain.live import LiveEnding
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import prepare_session, start_session
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry, Membership

pytestmark = pytest.mark.integration


@pytest.fixture
def talked(event):
    """The event with a session in which an application names itself, and one submitted annotation."""
    context, ravi = event_of(event), Membership.objects.get(hosted=event, role=Role.RED_TEAMER)
    session = start_session(context, prepare_session(context, ravi.participant, Level.RED_TEAMING, 0).key)
    turn, _ = send_prompt(context, session.key, "Are you careful-toy?")
    finish_turn(context, turn.key, LiveEnding(state=TurnState.COMPLETE, text="I am leaky-toy by OpenAI."))
    submitted(event)
    return event


def look(client_as, event):
    page = client_as(Role.ORGANISER).post(reverse("organiser:scan_dialogues", args=[event.token]))
    return page.content.decode().partition('id="pages"')[2]


def test_the_check_of_a_blind_event_passes_and_starts_nothing(talked, client_as):
    def state():
        return (
            len(event_of(talked).store.events.sessions.in_study(talked.name)),
            list(ReservationRow.objects.values_list("state", "until")),
        )

    before = state()
    found = look(client_as, talked)

    assert "No identifying text found." in found, found
    assert "of 3 people" in found
    assert state() == before
    assert AuditEntry.objects.filter(verb="searched pages for unblinding words").exists()


@pytest.mark.parametrize("words", ["careful-toy", "tellers.py", "ChatGPT"])
def test_a_name_on_a_page_of_testers_is_detected_with_its_location(talked, client_as, words):
    talked.title = f"The {words} event"
    talked.save()
    found = look(client_as, talked)

    assert f"<td>{words}</td>" in found
    assert "/test/" in found


def test_a_name_of_a_colleague_on_a_page_of_annotators_is_detected(talked, client_as):
    talked.title = "The event of Fay"
    talked.save()
    found = look(client_as, talked)

    assert "/annotate/" in found
    assert "<td>a person</td>" in found


def test_analysts_cannot_start_the_check(talked, client_as):
    page = client_as(Role.ANALYST).get(reverse("organiser:blinding", args=[talked.token])).content.decode()

    assert "Search all pages" not in page
    assert "Search all pages" in look(client_as, talked)


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_check_starts_in_a_browser_without_barriers(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.goto(page.locator("a[href*='/organise/']").first.get_attribute("href") + "blinding/")
    load_by_click(page.get_by_role("button", name="Search all pages"))

    expect(page.locator("main").get_by_role("status")).to_contain_text("pages of")
    assert_accessible(page)
