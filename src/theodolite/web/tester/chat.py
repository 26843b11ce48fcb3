"""The tester's page, and how it is told that the clock runs, stands still or is over."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.html import format_html

from theodolite.domain.dialogue import TurnState
from theodolite.domain.errors import Conflict
from theodolite.domain.live import LiveEnding, LiveTurn
from theodolite.testing.steps import Step
from theodolite.usecases.people.talking import finish
from theodolite.web.live_room import room
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.order import n_offered, nth
from theodolite.web.tester.pausing import paused_page, pauses
from theodolite.web.tester.sheet import Sheet, sheet_of
from theodolite.web.tester.unsent import unsent_text
from theodolite.web.tester.visit import Visit
from theodolite.web.topics import told_topics_in

_ABOUT_TO_BEGIN = timedelta(seconds=20)


@for_testers(Step.CHAT)
def chat(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Show the session, or that it stands still."""
    sheet = sheet_of(visit, place)
    if pauses(visit, sheet.session):
        return paused_page(request, visit, sheet)
    waiting = sheet.dialogue.under_way if sheet.dialogue is not None else None
    if waiting is not None and mend(visit, waiting) is not waiting:
        sheet = sheet_of(visit, place)
    return chat_page(request, visit, sheet, text_given=unsent_text(sheet))


def mend(visit: Visit, turn: LiveTurn) -> LiveTurn:
    """Return a turn that nobody gives a reply to any more as interrupted; any other one as it is.

    The page would wait for it without end. What began a moment ago is let be: its
    reply is about to.
    """
    now = visit.venue.clock.now()
    if not turn.is_under_way or room().find(turn.key) is not None or now - turn.asked < _ABOUT_TO_BEGIN:
        return turn
    try:
        return finish(visit.venue, turn.key, LiveEnding(state=TurnState.INTERRUPTED, text=turn.response))
    except Conflict:  # it has just ended
        return visit.venue.store.dialogue_of_turn(turn.key).turns[turn.number - 1]


def chat_page(request: HttpRequest, visit: Visit, sheet: Sheet, *, status: int = 200, **more: object) -> HttpResponse:
    """Return the page of a session, with what else it is to show."""
    met = told_topics_in(visit.read, sheet.session.scenario)
    named = ", ".join(topic.inline for topic in met)
    context = {
        "here": visit.here,
        "page": sheet,
        "nth": nth(visit, sheet.session),
        "of": n_offered(visit),
        "touches": format_html('<span lang="{}">{}</span>', met[0].language, named) if met else "",
    }
    return render(request, "web/tester/chat.html", {**context, **more}, status=status)


@for_testers()
def state(_request: HttpRequest, visit: Visit, place: int) -> JsonResponse:
    """Tell the page what has changed while nobody pressed anything."""
    sheet = sheet_of(visit, place)
    standing = {
        "left": sheet.left,
        "paused": pauses(visit, sheet.session),
        "over": sheet.session.is_over,
        "rest": sheet.rest,
    }
    return JsonResponse(standing)
