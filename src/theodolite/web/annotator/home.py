"""The page on which an annotator begins: what waits, what one did last, how far one is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.role import Role
from theodolite.domain.work import Reservation
from theodolite.store.annotating import reviews, rooms, taking, training
from theodolite.store.annotating.own import CategoryCount, own_counts
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.desk import Desk, desk_of, library
from theodolite.web.annotator.sheet import worded


@dataclass(frozen=True, slots=True, kw_only=True)
class LastOne:
    """One of the last submissions, as its own annotator sees it."""

    title: str
    address: str
    submitted: datetime | None
    is_open: bool


@allowed(Role.ANNOTATOR)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show where an annotator begins."""
    desk = desk_of(here)
    context = {"here": here, "desk": desk} | (_at_work(desk) if desk else {})
    return render(request, "web/annotator/home.html", context)


def _at_work(desk: Desk) -> dict[str, object]:
    counts = own_counts(library(), desk.queue, desk.participant)
    last = taking.last_ones(desk.queue, desk.participant)
    return {
        "categories": [(worded(one.name), one) for one in counts],
        "n_left": sum(one.n_left for one in counts),
        "held": next((one for one in counts if one.is_held), None),
        "steps": _steps(desk),
        "returned": [
            (desk.address("sheet", claim=one.reservation), one.comment)
            for one in reviews.returned_to(desk.queue, desk.participant)
        ],
        "rooms": [
            (worded(category), desk.address("room", room=token))
            for token, category, _ in rooms.rooms(desk.queue, is_open=True)
        ],
        "last_ones": [_last(desk, one) for one in last],
        "totals": _totals(counts),
    }


def _steps(desk: Desk) -> dict[str, object]:
    """Return the steps before the queue; nothing where none is asked for."""
    design = library().design(queue_of(desk.queue).design_id)
    if not (design.background or design.rules or design.process.pass_mark):
        return {}
    standing = training.onboarding(library(), desk.queue, desk.participant)
    return {
        "background": design.background,
        "rules": design.rules,
        "standing": standing,
        "has_tests": bool(design.process.pass_mark),
        "pass_percent": round(100 * design.process.pass_mark),
        "categories": [(worded(one.category), one) for one in standing.categories],
    }


def _totals(counts: tuple[CategoryCount, ...]) -> dict[str, int]:
    return {"done": sum(one.n_done for one in counts), "today": sum(one.n_today for one in counts)}


def _last(desk: Desk, one: Reservation) -> LastOne:
    return LastOne(
        title=worded(one.category),
        address=desk.address("sheet", claim=one.token),
        submitted=one.submitted,
        is_open=one.is_open,
    )
