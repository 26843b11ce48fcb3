"""Calibration rooms: vote blindly, see all votes, talk, vote again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.annotation import calibration
from theodolite.domain.annotating.room import CalibrationRoom, RoomState
from theodolite.domain.annotation import WAYS_OUT, Answer
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, at_desk, library, wants_json
from theodolite.web.annotator.items import key_of, worded
from theodolite.web.annotator.positions import votes_side_by_side
from theodolite.web.annotator.session_sheet import SessionSheet, answers_from
from theodolite.web.annotator.sheet import sheet_of
from theodolite.web.annotator.shown import Frame


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_GET
@at_desk
def room(request: HttpRequest, desk: Desk, room: str) -> HttpResponse:
    """Show a room: how many have voted, and after the reveal all votes and what was said."""
    seen = _seen(desk, room)
    context = {
        "here": desk.here,
        "room": seen,
        "title": worded(seen.guideline.name),
        "sheet": sheet_of(seen.guideline, seen.dialogue, seen.own),
        "has_voted": bool(seen.own),
        "is_open": seen.state is not RoomState.CLOSED,
        "may_vote": seen.state is RoomState.VOTING or (seen.state is RoomState.REVEALED and bool(seen.own)),
        "before": votes_side_by_side(seen.guideline, seen.before),
        "after": votes_side_by_side(seen.guideline, seen.after) if seen.after != seen.before else (),
        "is_senior": desk.here.role is Role.SENIOR,
    }
    return render(request, "web/annotator/room.html", context)


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_http_methods(["GET", "POST"])
@at_desk
def vote(request: HttpRequest, desk: Desk, room: str) -> HttpResponse:
    """Let one vote, on the annotation page."""
    seen = _seen(desk, room)
    title = f"Room: {worded(seen.guideline.name)}"
    page = SessionSheet(
        request,
        f"room {room} {seen.state.value}",
        lambda answers: sheet_of(seen.guideline, seen.dialogue, answers, title),
    )
    page.begin_with({key_of(one.question, one.turn): _as_sent(one) for one in seen.own})
    frame = Frame(address=desk.address("room_vote", room=room), progress=f"{seen.n_voted} voted", is_work=False)
    is_read = request.method == "GET" or page.take()
    if wants_json(request):
        return page.told()
    if request.method == "GET" or not is_read:
        return page.shown(desk.here, frame)
    if "submit" not in request.POST:
        return redirect(desk.address("room_vote", room=room))
    asked = set(page.sheet.asked)
    answers = answers_from({key: value for key, value in page.given.items() if key in asked})
    if calibration.vote(library(), room, desk.participant, answers):
        return page.shown(desk.here, frame, problem="Not voted: some answers are open.")
    page.forget()
    messages.success(request, "Your votes are in.")
    return redirect(desk.address("room", room=room))


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_POST
@at_desk
def say(request: HttpRequest, desk: Desk, room: str) -> HttpResponse:
    """Contribute to the discussion."""
    _seen(desk, room)
    calibration.say(room, desk.participant, request.POST.get("text", "")[:2000])
    return redirect(desk.address("room", room=room))


def _seen(desk: Desk, token: str) -> CalibrationRoom:
    """Return a room of this study's queue; others do not exist."""
    if token not in {one for one, _, _ in calibration.rooms(desk.queue)}:
        raise Http404
    return calibration.room(library(), token, desk.participant)


def _as_sent(answer: Answer) -> str:
    return answer.value or next((value for value, outcome in WAYS_OUT.items() if outcome is answer.outcome), "")
