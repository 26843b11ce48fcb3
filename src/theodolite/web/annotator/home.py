"""The page on which an annotator begins: what waits, what one did last, how far one is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.annotation import assignment, calibration, quality
from theodolite.annotation.assignment import CategoryCount, own_counts, own_pace
from theodolite.annotation.rules import REST_AFTER_MIN
from theodolite.domain.annotating.work import Reservation
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.desk import Desk, desk_of, library
from theodolite.web.annotator.items import worded
from theodolite.web.annotator.steps import way_of
from theodolite.web.annotator.topics import own_topics


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
    context = {"here": here, "desk": desk} | (_at_work(request, desk) if desk else {})
    return render(request, "web/annotator/home.html", context)


def _at_work(request: HttpRequest, desk: Desk) -> dict[str, object]:
    counts = own_counts(library(), desk.queue, desk.participant)
    n_left = sum(one.n_left for one in counts)
    pace = own_pace(desk.queue, desk.participant, n_left)
    last = assignment.last_ones(desk.queue, desk.participant)
    return {
        "categories": [(worded(one.name), one) for one in counts],
        "n_left": n_left,
        "left": _in_words(pace.left),
        "rest": round(pace.at_work) if pace.at_work >= _rest_after(desk) else 0,
        "held": next((one for one in counts if one.is_held), None),
        "way": way_of(desk),
        "topics": own_topics(request, desk, n_left),
        "returned": [
            (desk.address("sheet", claim=one.reservation), one.comment)
            for one in quality.returned_to(desk.queue, desk.participant)
        ],
        "rooms": [
            (worded(category), desk.address("room", room=token))
            for token, category, _ in calibration.rooms(desk.queue, is_open=True)
        ],
        "last_ones": [_last(desk, one) for one in last],
        "totals": _totals(counts),
    }


def _rest_after(desk: Desk) -> int:
    """Return after how many minutes an annotator is reminded to rest: as the study says for its testers, or so."""
    event = library().study(queue_of(desk.queue).study_content_id).event
    return (event.breaks.every_min if event else 0) or REST_AFTER_MIN


def _in_words(minutes: float | None) -> str:
    """Return how long something takes, roughly; empty where nobody knows.

    Example:
        >>> _in_words(38.0), _in_words(200.0), _in_words(None)
        ('about 40 minutes', 'about 3 hours', '')
    """
    if not minutes:
        return ""
    if minutes >= 100:
        return f"about {round(minutes / 60)} hours"
    return f"about {max(5, 5 * round(minutes / 5))} minutes"


def _totals(counts: tuple[CategoryCount, ...]) -> dict[str, int]:
    return {"done": sum(one.n_done for one in counts), "today": sum(one.n_today for one in counts)}


def _last(desk: Desk, one: Reservation) -> LastOne:
    return LastOne(
        title=worded(one.category),
        address=desk.address("sheet", claim=one.token),
        submitted=one.submitted,
        is_open=one.is_open,
    )
