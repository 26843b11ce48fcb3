"""Arrival: where a tester is led who opens a page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from theodolite.testing.steps import Step
from theodolite.web.access import Here, View, allowed
from theodolite.web.tester.doors import shut_door
from theodolite.web.tester.visit import LEVELS, Visit, title_of, visit_of


def for_testers(*steps: Step, waits: bool = True) -> Callable[[View], View]:
    """Open a view to testers whose next step is one of some; others are led to their own.

    The view is called as `view(request, visit, ...)`. While a door is
    shut (the event is not open, or the person's time has not come), the person is told
    so instead.

    Args:
        steps: Where the view belongs; none for a view that may be opened at any time.
        waits: Whether shut doors count.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def page(request: HttpRequest, here: Here, **rest: Any) -> HttpResponseBase:
            visit = arrived(request, here, steps, rest.get("place", 0), waits=waits)
            return view(request, visit, **rest) if isinstance(visit, Visit) else visit

        return allowed(*LEVELS)(page)

    return decorate


def arrived(
    request: HttpRequest, here: Here, steps: tuple[Step, ...], place: int, *, waits: bool = True
) -> Visit | HttpResponse:
    """Return the visit, or where the person is led instead."""
    visit = visit_of(request, here)
    request.study_title = title_of(visit)  # type: ignore[attr-defined] # every page shows it
    if not steps:
        is_begun = not place or any(session.place == place - 1 for session in visit.sessions)
        return visit.at(place) if is_begun else redirect(visit.address(visit.upcoming()))
    upcoming = visit.upcoming()
    shut = shut_door(visit, upcoming.step) if waits else None
    if shut:
        event = visit.venue.study.event
        context = {"here": here, "shut": shut, "contact": event.contact if event else ""}
        return render(request, "web/tester/wait.html", context)
    if upcoming.step not in steps or (place and place != upcoming.place):
        return redirect(visit.address(upcoming))
    return visit.at(place)
