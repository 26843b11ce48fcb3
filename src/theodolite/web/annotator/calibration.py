"""Calibration pages: vote blindly, reveal all votes, discuss, vote again."""

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
from theodolite.web.annotator.annotate import Frame
from theodolite.web.annotator.annotation_page import annotation_page
from theodolite.web.annotator.context import AnnotatorContext, annotator_view, wants_json
from theodolite.web.annotator.practice import SessionPage, answers_from
from theodolite.web.annotator.questions import key_of, votes_side_by_side, worded


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_GET
@annotator_view
def room(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Show a room: how many have voted, and after the reveal all votes and what was said."""
    seen = _seen(annotator, room)
    context = {
        "access": annotator.access,
        "room": seen,
        "title": worded(seen.guideline.name),
        "sheet": annotation_page(seen.guideline, seen.dialogue, seen.own),
        "has_voted": bool(seen.own),
        "is_open": seen.state is not RoomState.CLOSED,
        "may_vote": seen.state is RoomState.VOTING or (seen.state is RoomState.REVEALED and bool(seen.own)),
        "before": votes_side_by_side(seen.guideline, seen.before),
        "after": votes_side_by_side(seen.guideline, seen.after) if seen.after != seen.before else (),
        "is_senior": annotator.access.role is Role.SENIOR,
    }
    return render(request, "web/annotator/room.html", context)


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def vote(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Let one vote, on the annotation page."""
    seen = _seen(annotator, room)
    title = f"Room: {worded(seen.guideline.name)}"
    page = SessionPage(
        request,
        f"room {room} {seen.state.value}",
        lambda answers: annotation_page(seen.guideline, seen.dialogue, answers, title),
    )
    page.begin_with({key_of(one.question, one.turn): _as_sent(one) for one in seen.own})
    frame = Frame(address=annotator.address("room_vote", room=room), progress=f"{seen.n_voted} voted", is_work=False)
    is_read = request.method == "GET" or page.take()
    if wants_json(request):
        return page.told()
    if request.method == "GET" or not is_read:
        return page.shown(annotator.access, frame)
    if "submit" not in request.POST:
        return redirect(annotator.address("room_vote", room=room))
    asked = set(page.sheet.asked)
    answers = answers_from({key: value for key, value in page.given.items() if key in asked})
    if calibration.vote(annotator.records, room, annotator.participant, answers):
        return page.shown(annotator.access, frame, problem="Not voted: some answers are open.")
    page.forget()
    messages.success(request, "Your votes are in.")
    return redirect(annotator.address("room", room=room))


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_POST
@annotator_view
def say(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Contribute to the discussion."""
    _seen(annotator, room)
    calibration.say(room, annotator.participant, request.POST.get("text", "")[:2000])
    return redirect(annotator.address("room", room=room))


def _seen(annotator: AnnotatorContext, token: str) -> CalibrationRoom:
    """Return a room of this study's queue; others do not exist."""
    if token not in {one for one, _, _ in calibration.rooms(annotator.queue)}:
        raise Http404
    return calibration.room(annotator.records, token, annotator.participant)


def _as_sent(answer: Answer) -> str:
    return answer.value or next((value for value, outcome in WAYS_OUT.items() if outcome is answer.outcome), "")
