"""Saying something, and watching the reply come; every word is stored before the application is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveTurn
from theodolite.testing.steps import Step
from theodolite.usecases.people.talking import retry as ask_again
from theodolite.usecases.people.talking import say_in
from theodolite.web.access import Here, allowed
from theodolite.web.answering import once
from theodolite.web.crew import by_crew
from theodolite.web.languages import PLAIN
from theodolite.web.live_room import Spot, room
from theodolite.web.tester.arrival import arrived, for_testers
from theodolite.web.tester.chat import chat_page, mend
from theodolite.web.tester.pausing import pauses
from theodolite.web.tester.sheet import Sheet, sheet_of
from theodolite.web.tester.streaming import end_of, pieces_of
from theodolite.web.tester.unsent import LONGEST, forget_unsent
from theodolite.web.tester.visit import LEVELS, Visit, visit_of
from theodolite.web.venues import opened_venue

PART = "X-Part"
"""Header by which a script asks for a part of the page, and is told that it got one."""


@for_testers(Step.CHAT)
@require_POST
def say(request: HttpRequest, visit: Visit, place: int, dialogue: int) -> HttpResponseBase:
    """Store what a tester says, ask the application, and show the turn."""
    stored = _stored(request, visit, place, dialogue)
    return stored if isinstance(stored, HttpResponse) else _asked(request, visit, stored)


@for_testers(Step.CHAT)
@require_POST
def retry(request: HttpRequest, visit: Visit, place: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Ask the application again after an error."""
    try:
        stored = _stored_again(visit, place, dialogue, turn)
    except (Conflict, InputError):  # the page says how the session stands
        return redirect("tester:chat", study=visit.here.hosted.token, place=place)
    return _asked(request, visit, stored)


@for_testers(Step.CHAT)
@require_POST
def stop(_request: HttpRequest, visit: Visit, place: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Stop a reply and keep what is shown of it."""
    found = _found(visit, place, dialogue, turn)[1]
    page = redirect("tester:chat", study=visit.here.hosted.token, place=place)
    return once(page, partial(room().stop, found.key))


@allowed(*LEVELS)
def reply(request: HttpRequest, here: Here, place: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Stream a reply as it appears, from where the watcher has got to."""
    participant, level = here.membership.participant, LEVELS[here.role]
    live = room().at(Spot(participant=participant, level=level, session=place, dialogue=dialogue, turn=turn))
    if live is None:
        visit = arrived(request, here, (), place)
        if not isinstance(visit, Visit):
            return visit
        _found(visit, place, dialogue, turn)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after") or "0"

    async def events() -> AsyncIterator[str]:
        if live is not None:
            async for event in pieces_of(live, int(after) if after.isdecimal() else 0):
                yield event
        yield await by_crew(_end, request, here, place, dialogue, turn)

    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return StreamingHttpResponse(events(), content_type="text/event-stream; charset=utf-8", headers=headers)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What was said, as it is stored, and what the application is to be asked; None where it was asked before."""

    sheet: Sheet
    turn: LiveTurn
    asked: SayToApplication | None = None


def turn_html(request: HttpRequest, visit: Visit, sheet: Sheet, turn: LiveTurn) -> str:
    """Return one turn as it stands on the page."""
    context = {"here": visit.here, "page": sheet, "turn": sheet.turn(turn)}
    return render_to_string("web/tester/_turn.html", context, request=request)


def _fault(request: HttpRequest, sheet: Sheet, dialogue: int, text: str) -> str | None:
    """Return why a text cannot be said; empty where it can, None where the same was said a moment ago."""
    if pauses(sheet.visit, sheet.session):
        return _("The session stands still. Your text is kept here: send it when it goes on.")
    said = sheet.said
    if dialogue == sheet.number and said and request.POST.get("number") == str(len(said)) and said[-1].prompt == text:
        return None  # the line was lost after it had been stored
    if dialogue != sheet.number or request.POST.get("number") != str(sheet.next_number):
        return _("The dialogue has gone on elsewhere. Load the page again; your text is kept here.")
    if not text or len(text) > LONGEST:
        return _("Write something first (%(most)s letters at most).") % {"most": f"{LONGEST:,}"}
    return sheet.why_not


def _refused(request: HttpRequest, visit: Visit, sheet: Sheet, fault: str, text: str) -> HttpResponse:
    if PART in request.headers:
        part = render_to_string("web/tester/_fault.html", {"fault": fault})
        return HttpResponse(part, status=422, headers={PART: "fault"})
    return chat_page(request, visit, sheet, status=422, say_fault=fault, text_given=text)


def _stored(request: HttpRequest, visit: Visit, place: int, dialogue: int) -> _Stored | HttpResponse:
    """Store what is said; a text that was stored already, the line having been lost then, is not stored twice."""
    sheet = sheet_of(visit, place)
    text = request.POST.get("text", "").replace("\r\n", "\n").strip()
    fault = _fault(request, sheet, dialogue, text)
    if fault is None:
        return _Stored(sheet, _turn(sheet, sheet.next_number - 1))
    if fault:
        return _refused(request, visit, sheet, fault, text)
    try:
        turn, asked = say_in(visit.venue, sheet.session, sheet.dialogue, text)
    except (Conflict, InputError) as error:
        return _refused(request, visit, sheet, sheet_of(visit, place).why_not or str(error), text)
    forget_unsent(sheet)
    return _Stored(sheet.with_turn(turn), turn, asked)


def _stored_again(visit: Visit, place: int, dialogue: int, turn: int) -> _Stored:
    found = _found(visit, place, dialogue, turn)[1]
    again, asked = ask_again(visit.venue, found.key)
    return _Stored(sheet_of(visit, place), again, asked)


def _asked(request: HttpRequest, visit: Visit, stored: _Stored) -> HttpResponseBase:
    """Ask the application; a script gets the turn at once, a plain form the page once the reply is there."""
    sheet, turn = stored.sheet, stored.turn
    opened = opened_venue(visit.here.hosted, sheet.session.edition)
    is_script = PART in request.headers

    async def ask() -> None:
        if stored.asked is not None and sheet.dialogue is not None:
            await room().ask(opened, visit.venue, sheet.session, sheet.dialogue, turn, stored.asked)
        if not is_script:
            await room().over(turn.key)

    if is_script:
        return once(HttpResponse(turn_html(request, visit, sheet, turn), headers={PART: "turn"}), ask)
    page = redirect("tester:chat", study=visit.here.hosted.token, place=sheet.place)
    page["Location"] += f"#turn-{turn.number}"
    return once(page, ask)


def _found(visit: Visit, place: int, dialogue: int, turn: int) -> tuple[Sheet, LiveTurn]:
    sheet = sheet_of(visit, place)
    if sheet.dialogue is None or sheet.dialogue.number != dialogue:
        raise Http404
    return sheet, _turn(sheet, turn)


def _turn(sheet: Sheet, number: int) -> LiveTurn:
    turns = () if sheet.dialogue is None else sheet.dialogue.turns
    if not 1 <= number <= len(turns):
        raise Http404
    return turns[number - 1]


def _end(request: HttpRequest, here: Here, place: int, dialogue: int, turn: int) -> str:
    """Return the last event of a reply: the turn as it stands from now on, and what is announced of it."""
    with translation.override(PLAIN):  # the thread speaks for others next
        visit = visit_of(request, here).at(place)
        sheet, found = _found(visit, place, dialogue, turn)
        found = mend(visit, found)
        return end_of(turn_html(request, visit, sheet, found), found)
