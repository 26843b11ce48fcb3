"""The page on which a senior annotator begins: what is disputed, sampled, asked and flagged."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.annotation import cases, quality, review, threads
from theodolite.annotation.listing import ROOMS, n_rooms, room_lines
from theodolite.domain.annotating.case import CaseView
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.desk import desk_of, library
from theodolite.web.annotator.items import worded
from theodolite.web.senior.paging import Pages, page_number


@allowed(Role.SENIOR)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show where a senior annotator begins."""
    desk = desk_of(here)
    if desk is None:
        return render(request, "web/senior/home.html", {"here": here})
    n_cases = cases.n_cases(queue_of(desk.queue).study)
    n_disputed, page = review.n_disputed_items(desk.queue), page_number(request)
    disputed = review.disputed_items(library(), desk.queue, desk.participant, page=page)
    room_page = page_number(request, "rooms")
    found_rooms = room_lines(library(), desk.queue, reader=desk.participant, page=room_page)
    context = {
        "here": here,
        "desk": desk,
        "n_disputed": n_disputed,
        "disputed": [(worded(one.category), one) for one in disputed],
        "pages": Pages(page=page, n=n_disputed, size=review.PAGE),
        "to_review": quality.to_review(library(), desk.queue),
        "n_questions": threads.n_threads(desk.queue)[0],
        "rooms": [(worded(one.category), one) for one in found_rooms],
        "room_pages": Pages(page=room_page, n=n_rooms(desk.queue), size=ROOMS),
        "n_open": n_cases[CaseView.OPEN],
        "n_suggested": n_cases[CaseView.SUGGESTED],
        "dissent": review.dissent(desk.queue),
    }
    return render(request, "web/senior/home.html", context)
