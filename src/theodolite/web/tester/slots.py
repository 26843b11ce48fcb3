"""When a tester comes: a time is chosen from those that organisers offer, and may be changed until it begins."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.errors import Conflict
from theodolite.testing.steps import Step
from theodolite.web.booking import book, booked_slot, offered
from theodolite.web.moments import told_span, zone_of
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

_CHOOSING = (Step.SLOT, Step.INSTRUCTIONS)


@for_testers(*_CHOOSING, waits=False)
def slot(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Offer times, or take a place at one."""
    membership, now, zone = visit.here.membership, visit.venue.clock.now(), zone_of(visit.venue.study)
    fault = ""
    if request.method == "POST":
        try:
            book(visit.here.account, membership, request.POST.get("slot", ""), now)
            return redirect("tester:home", study=visit.here.hosted.token)
        except Conflict as conflict:
            fault = f"{conflict}."
    own = booked_slot(membership, now)
    times = [
        {
            "token": one.slot.token,
            "when": told_span(one.slot.begins, one.slot.ends, zone),
            "where": one.slot.where,
            "left": one.left,
            "is_own": own is not None and own.pk == one.slot.pk,
        }
        for one in offered(visit.here.hosted, membership.role, now)
    ]
    context = {"here": visit.here, "times": times, "own": own, "fault": fault}
    return render(request, "web/tester/slot.html", context, status=409 if fault else 200)
