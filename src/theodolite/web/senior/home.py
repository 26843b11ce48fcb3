"""The context and the first page of a senior annotator, and adding dialogues to the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Event

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import DatabaseError, close_old_connections
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.annotation import cases, quality, queues, review
from theodolite.annotation.agreement import agreement, daily_agreement, orders
from theodolite.annotation.listing import ROOMS, n_rooms, room_lines
from theodolite.annotation.quality import from_above, to_review
from theodolite.domain.annotating.case import CaseView
from theodolite.domain.errors import Conflict, InputError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.events.next_steps import RoleStep, step_of_senior
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.home import AnnotatorContext, annotator_context, queue_view, records
from theodolite.web.events import last_edition, study_of
from theodolite.web.models import HostedStudy
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.participants import zone_of
from theodolite.web.questions import humanize


def _said_on_home(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    messages.warning(request, f"Not done: {error}.".replace("..", "."))
    return redirect(page_of(annotator, "home"))


senior_view = queue_view(_said_on_home)
"""Call a view of seniors as `view(request, annotator, ...)`; a refusal is shown on their first page."""


def page_of(annotator: AnnotatorContext, name: str, **parts: str | int) -> str:
    """Return the address of a page of seniors."""
    return reverse(f"senior:{name}", kwargs={"study": annotator.access.hosted.token, **parts})


def own_item(annotator: AnnotatorContext, item: str) -> str:
    """Return the token of a work item of this study's queue; others answer 404."""
    if not queues.has_item(annotator.queue, item):
        raise Http404
    return item


MOST = 100_000
"""Maximum page number in an address; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Position in a paged list.

    Attributes:
        page: Page number, from 0.
        n: Entries of the whole list; count.
        size: Entries per page; count.
    """

    page: int
    n: int
    size: int

    @property
    def before(self) -> int | None:
        """The number of the previous page; None on the first."""
        return self.page or None

    @property
    def after(self) -> int | None:
        """The number of the next page; None on the last."""
        return self.page + 2 if (self.page + 1) * self.size < self.n else None

    @property
    def words(self) -> str:
        """The displayed entries, e.g. `51 to 100 of 230`; empty if all fit on one page."""
        last = min(self.n, (self.page + 1) * self.size)
        return f"{self.page * self.size + 1} to {last} of {self.n}" if self.n > self.size else ""


def page_number(request: HttpRequest, name: str = "page") -> int:
    """Return the page number of an address, converted from 1-based to 0-based; 0 if it names none."""
    written = request.GET.get(name, "")
    return min(int(written), MOST) - 1 if written.isdecimal() and int(written) > 0 else 0


MOST_QUEUES = 4
"""Number of queues with precomputed figures, those with the latest submissions; count."""


_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def warming() -> AsyncIterator[None]:
    """Compute figures in the background; at shutdown the server waits for one category at most."""
    over = Event()
    task = asyncio.create_task(sync_to_async(warm, thread_sensitive=False)(over))
    try:
        yield
    finally:
        over.set()
        await task


def warm(over: Event) -> None:
    """Read the answers of the active queues; errors appear on the page of a queue.

    Args:
        over: Set when the figures are no longer needed.
    """
    close_old_connections()
    try:
        for queue in queues.last_active_queues(MOST_QUEUES):
            _read(queue, over)
    except (TheodoliteError, DatabaseError) as error:
        _LOG.warning("could not precompute the figures of a queue: %s", error)
    close_old_connections()


def _read(queue: str, over: Event) -> None:
    zone = zone_of(queues.study_of(records(), queue))
    for number, category in enumerate(queues.design_of(records(), queue).categories):
        if over.is_set():
            return
        if number == 0:  # the dashboard shows the first category
            daily_agreement(records(), queue, category.name, zone, now=timezone.now())
        agreement(records(), queue, category.name)
        orders(records(), queue, category.name)
    from_above(records(), queue)
    to_review(records(), queue)


@allowed(Role.SENIOR)
@require_POST
def fill(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Create the study's queue if there is none, and add all missing dialogues to it."""
    try:
        n_new = fill_queue(access.hosted, by=access.account.token)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not done: {error}.")
    else:
        access.audit("filled the queue", f"study {access.hosted.token}", items=n_new)
        messages.success(request, f"{n_new} new item{'' if n_new == 1 else 's'} in the queue.")
    return redirect("senior:home", study=access.hosted.token)


def fill_queue(hosted: HostedStudy, *, by: str) -> int:
    """Add the study's completed dialogues to its queue, except those with withheld texts.

    The queue uses the questions of the latest release. Detectors scan
    new dialogues before annotators see them; their findings become cases.

    Args:
        hosted: The study.
        by: The deciding account.

    Returns:
        Number of new items; count.

    Raises:
        Conflict: If the queue of that study holds another study's dialogues.
        InputError: If the study has no release, or no schema to annotate by.
    """
    release = last_edition(hosted)
    if release is None:
        message = "this study has no published version yet; an organiser must publish one"
        raise InputError(message)
    return queues.fill_queue(records(), hosted.token, study_of(release), by=by)


@allowed(Role.SENIOR)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the senior annotator's home page."""
    annotator = annotator_context(access)
    if annotator is None:
        step = step_of_senior(has_queue=False, n_cases=0, n_questions=0, n_disputed=0, n_to_check=0)
        context: dict[str, object] = {"access": access, "next_step": next_step_card(step, access.hosted.token)}
        return render(request, "web/senior/home.html", context)
    n_cases = cases.n_cases(queues.study_name(annotator.queue))
    n_disputed, page = review.n_disputed_items(annotator.queue), page_number(request)
    disputed = review.disputed_items(annotator.records, annotator.queue, annotator.participant, page=page)
    room_page = page_number(request, "rooms")
    found_rooms = room_lines(annotator.records, annotator.queue, reader=annotator.participant, page=room_page)
    to_check = quality.to_review(annotator.records, annotator.queue)
    n_unsettled = review.n_unsettled(annotator.queue)
    n_questions, n_open = cases.n_threads(annotator.queue)[0], n_cases[CaseView.OPEN]
    context = {
        "access": access,
        "annotator": annotator,
        "next_step": _next_step(annotator, to_check, n_cases=n_open, n_questions=n_questions, n_unsettled=n_unsettled),
        "n_unsettled": n_unsettled,
        "n_disputed": n_disputed,
        "disputed": [(humanize(dispute.category), dispute) for dispute in disputed],
        "pages": Pages(page=page, n=n_disputed, size=review.PAGE),
        "to_review": to_check,
        "n_questions": n_questions,
        "rooms": [(humanize(found_room.category), found_room) for found_room in found_rooms],
        "room_pages": Pages(page=room_page, n=n_rooms(annotator.queue), size=ROOMS),
        "n_open": n_open,
        "n_suggested": n_cases[CaseView.SUGGESTED],
        "dissent": review.dissent(annotator.queue),
    }
    return render(request, "web/senior/home.html", context)


def _next_step(
    annotator: AnnotatorContext, to_check: Sequence[str], *, n_cases: int, n_questions: int, n_unsettled: int
) -> NextStepCard:
    step = step_of_senior(
        has_queue=True, n_cases=n_cases, n_questions=n_questions, n_disputed=n_unsettled, n_to_check=len(to_check)
    )
    counts = {
        RoleStep.DECIDE_CASES: n_cases,
        RoleStep.ANSWER_ANNOTATORS: n_questions,
        RoleStep.ADJUDICATE: n_unsettled,
        RoleStep.CHECK_ANNOTATIONS: len(to_check),
    }
    address = ""
    if step is RoleStep.ADJUDICATE:
        address = page_of(annotator, "resolution", item=review.next_disputed(annotator.queue, ""))
    elif step is RoleStep.CHECK_ANNOTATIONS:
        address = page_of(annotator, "check", reservation=to_check[0])
    return next_step_card(step, annotator.access.hosted.token, n=counts.get(step, 1), address=address)
