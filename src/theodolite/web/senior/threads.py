"""Threads and calibration sessions: answer, settle, open, reveal and close."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import calibration, threads
from theodolite.domain.annotating.thread import AnchorKind, FeedbackThread, ThreadEnd
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed, audit
from theodolite.web.annotator.context import AnnotatorContext
from theodolite.web.annotator.questions import worded
from theodolite.web.senior.context import Pages, own_item, page_number, page_of, senior_view


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownThread:
    """A thread under a heading that says what it hangs on, and the question in its own words; empty for none."""

    thread: FeedbackThread
    title: str
    ask: str


def _shown(annotator: AnnotatorContext, thread: FeedbackThread) -> ShownThread:
    anchor = thread.anchor
    about = f"turn {anchor.turn}" if anchor.kind is AnchorKind.TURN else f"the {anchor.kind.value}"
    where = f", turn {anchor.turn}" if anchor.turn and anchor.kind is not AnchorKind.TURN else ""
    known = {one.name: one.text for one in annotator.records.guideline(thread.version).instrument.questions}
    title = f"{worded(anchor.category)}: about {about}{where}"
    return ShownThread(thread=thread, title=title, ask=known.get(anchor.question, ""))


@allowed(Role.SENIOR)
@require_GET
@senior_view
def questions(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the threads that are open, or those that were settled, page by page."""
    n_open, n_ended = threads.n_threads(annotator.queue)
    is_open, page = request.GET.get("view") != "settled", page_number(request)
    found = threads.thread_page(annotator.queue, annotator.participant, is_open=is_open, page=page)
    context = {
        "access": annotator.access,
        "views": [("open", n_open, is_open), ("settled", n_ended, not is_open)],
        "is_open": is_open,
        "threads": [_shown(annotator, one) for one in found],
        "pages": Pages(page=page, n=n_open if is_open else n_ended, size=threads.PAGE),
        "for_guideline": [
            (worded(category), text) for category, text in threads.settled(annotator.queue, end=ThreadEnd.GUIDELINE)
        ],
        "ends": [(end.name.lower(), end.value) for end in ThreadEnd],
    }
    return render(request, "web/senior/questions.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def answer(request: HttpRequest, annotator: AnnotatorContext, thread: str) -> HttpResponse:
    """Answer in a thread, and end it where one says so."""
    if not threads.is_thread_of(annotator.queue, thread):
        raise Http404
    text, end = request.POST.get("text", "")[:4000], request.POST.get("end", "")
    with transaction.atomic():
        threads.reply(thread, annotator.participant, text, senior=True)
        ended = next((one for one in ThreadEnd if one.name.lower() == end), None)
        if ended is not None:
            threads.end_thread(thread, ended, by=annotator.participant, text=request.POST.get("settled", "")[:4000])
            audit(
                annotator.access.account,
                "ended a thread",
                f"thread {thread}",
                hosted=annotator.access.hosted,
                end=ended.value,
            )
    messages.success(request, "Answered." if ended is None else "Answered and settled.")
    return redirect(page_of(annotator, "questions"))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def open_room(_request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Open a room on the dialogue of an item."""
    with transaction.atomic():
        token = calibration.open_room_on(annotator.records, own_item(annotator, item), by=annotator.participant)
        audit(annotator.access.account, "opened a room", f"room {token}", hosted=annotator.access.hosted)
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, token]))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def room_step(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Reveal the votes of a room, or close it."""
    if room not in {token for token, _, _ in calibration.rooms(annotator.queue)}:
        raise Http404
    step = request.POST.get("step", "")
    with transaction.atomic():
        if step == "reveal":
            calibration.reveal(room)
        elif step == "close":
            calibration.close_room(room)
        audit(annotator.access.account, f"room: {step}", f"room {room}", hosted=annotator.access.hosted)
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, room]))
