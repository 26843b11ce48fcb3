"""The first page of a senior annotator, and filling the queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from theodolite.annotation import cases, quality, queues, review, threads
from theodolite.annotation.listing import ROOMS, n_rooms, room_lines
from theodolite.domain.annotating.case import CaseView
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.context import annotator_context, records
from theodolite.web.events import last_edition, study_of
from theodolite.web.models import HostedStudy
from theodolite.web.questions.form import humanize
from theodolite.web.senior.context import Pages, page_number


@allowed(Role.SENIOR)
@require_POST
def fill(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Open the study's queue where there is none, and bring every dialogue into it that is not there yet."""
    try:
        n_new = fill_queue(access.hosted, by=access.account.token)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not done: {error}.")
    else:
        audit(access.account, "filled the queue", f"study {access.hosted.token}", hosted=access.hosted, items=n_new)
        messages.success(request, f"{n_new} new item{'' if n_new == 1 else 's'} in the queue.")
    return redirect("senior:home", study=access.hosted.token)


def fill_queue(hosted: HostedStudy, *, by: str) -> int:
    """Add the study's completed dialogues to its queue, except those with withheld texts.

    The queue asks what the edition published last asks. Programs look through
    what is new before annotators see it; what they suspect becomes cases.

    Args:
        hosted: The study.
        by: Who says so.

    Returns:
        Items that are new; count.

    Raises:
        Conflict: If the queue of that study holds another study's dialogues.
        InputError: If nothing was published, or the study has no schema to annotate by.
    """
    release = last_edition(hosted)
    if release is None:
        message = "this study has no published version yet; an organiser must publish one"
        raise InputError(message)
    return queues.fill_queue(records(), hosted.token, study_of(release), by=by)


@allowed(Role.SENIOR)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show where a senior annotator begins."""
    annotator = annotator_context(access)
    if annotator is None:
        return render(request, "web/senior/home.html", {"access": access})
    n_cases = cases.n_cases(queues.study_name(annotator.queue))
    n_disputed, page = review.n_disputed_items(annotator.queue), page_number(request)
    disputed = review.disputed_items(annotator.records, annotator.queue, annotator.participant, page=page)
    room_page = page_number(request, "rooms")
    found_rooms = room_lines(annotator.records, annotator.queue, reader=annotator.participant, page=room_page)
    context = {
        "access": access,
        "annotator": annotator,
        "n_disputed": n_disputed,
        "disputed": [(humanize(dispute.category), dispute) for dispute in disputed],
        "pages": Pages(page=page, n=n_disputed, size=review.PAGE),
        "to_review": quality.to_review(annotator.records, annotator.queue),
        "n_questions": threads.n_threads(annotator.queue)[0],
        "rooms": [(humanize(found_room.category), found_room) for found_room in found_rooms],
        "room_pages": Pages(page=room_page, n=n_rooms(annotator.queue), size=ROOMS),
        "n_open": n_cases[CaseView.OPEN],
        "n_suggested": n_cases[CaseView.SUGGESTED],
        "dissent": review.dissent(annotator.queue),
    }
    return render(request, "web/senior/home.html", context)
