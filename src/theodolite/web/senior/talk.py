"""Threads and rooms: what annotators ask is answered and settled; rooms are opened, revealed and closed."""

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
from theodolite.store.models.annotating import WorkItemRow
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.senior.desk import at_senior_desk, own_item, page_of
from theodolite.web.senior.paging import Pages, page_number


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownThread:
    """A thread under a heading that says what it hangs on, and the question in its own words; empty for none."""

    thread: FeedbackThread
    title: str
    ask: str


def _shown(thread: FeedbackThread) -> ShownThread:
    anchor = thread.anchor
    about = f"turn {anchor.turn}" if anchor.kind is AnchorKind.TURN else f"the {anchor.kind.value}"
    where = f", turn {anchor.turn}" if anchor.turn and anchor.kind is not AnchorKind.TURN else ""
    known = {one.name: one.text for one in library().guideline(thread.version).instrument.questions}
    title = f"{worded(anchor.category)}: about {about}{where}"
    return ShownThread(thread=thread, title=title, ask=known.get(anchor.question, ""))


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def questions(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show the threads that are open, or those that were settled, page by page."""
    n_open, n_ended = threads.n_threads(desk.queue)
    is_open, page = request.GET.get("view") != "settled", page_number(request)
    found = threads.thread_page(desk.queue, desk.participant, is_open=is_open, page=page)
    context = {
        "here": desk.here,
        "views": [("open", n_open, is_open), ("settled", n_ended, not is_open)],
        "is_open": is_open,
        "threads": [_shown(one) for one in found],
        "pages": Pages(page=page, n=n_open if is_open else n_ended, size=threads.PAGE),
        "for_guideline": [
            (worded(category), text) for category, text in threads.settled(desk.queue, end=ThreadEnd.GUIDELINE)
        ],
        "ends": [(end.name.lower(), end.value) for end in ThreadEnd],
    }
    return render(request, "web/senior/questions.html", context)


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def answer(request: HttpRequest, desk: Desk, thread: str) -> HttpResponse:
    """Answer in a thread, and end it where one says so."""
    if not threads.is_thread_of(desk.queue, thread):
        raise Http404
    text, end = request.POST.get("text", "")[:4000], request.POST.get("end", "")
    with transaction.atomic():
        threads.reply(thread, desk.participant, text, senior=True)
        ended = next((one for one in ThreadEnd if one.name.lower() == end), None)
        if ended is not None:
            threads.end_thread(thread, ended, by=desk.participant, text=request.POST.get("settled", "")[:4000])
            audit(desk.here.account, "ended a thread", f"thread {thread}", hosted=desk.here.hosted, end=ended.value)
    messages.success(request, "Answered." if ended is None else "Answered and settled.")
    return redirect(page_of(desk, "questions"))


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def open_room(_request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Open a room on the dialogue of an item."""
    row = WorkItemRow.objects.select_related("dialogue__unit").get(token=own_item(desk, item))
    with transaction.atomic():
        token = calibration.open_room(library(), desk.queue, row.dialogue.unit.key, row.category, by=desk.participant)
        audit(desk.here.account, "opened a room", f"room {token}", hosted=desk.here.hosted)
    return redirect(reverse("annotator:room", args=[desk.here.hosted.token, token]))


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def room_step(request: HttpRequest, desk: Desk, room: str) -> HttpResponse:
    """Reveal the votes of a room, or close it."""
    if room not in {token for token, _, _ in calibration.rooms(desk.queue)}:
        raise Http404
    step = request.POST.get("step", "")
    with transaction.atomic():
        if step == "reveal":
            calibration.reveal(room)
        elif step == "close":
            calibration.close_room(room)
        audit(desk.here.account, f"room: {step}", f"room {room}", hosted=desk.here.hosted)
    return redirect(reverse("annotator:room", args=[desk.here.hosted.token, room]))
