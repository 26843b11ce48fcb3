"""Leaving the event at any time, and what becomes of one's words then."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.web.access import open_to_all
from theodolite.web.audit import audit
from theodolite.web.departures import depart, take_back
from theodolite.web.languages import page_languages, speak
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

_KEEP = "keep"
_WISHES = {_KEEP, Withdrawal.ANONYMISE.value, Withdrawal.REMOVE.value}


@for_testers()
def leave(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask what is to become of a person's words, and do it."""
    wish = request.POST.get("what", "")
    if request.method != "POST" or wish not in _WISHES:
        fault = _("Choose what shall become of your words.") if request.method == "POST" else ""
        status = 422 if fault else 200
        return render(request, "web/tester/leave.html", {"here": visit.here, "fault": fault}, status=status)
    if wish == _KEEP:
        depart(visit.here.membership)
    else:
        take_back(visit.here.membership, Withdrawal(wish))
    audit(request.user, "left", wish, hosted=visit.here.hosted)
    return redirect("tester:left", study=visit.here.hosted.token)


def left(request: HttpRequest, study: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Say that it was done; whoever opens the page, it tells nothing."""
    speak(request, page_languages())
    return render(request, "web/tester/left.html")


open_to_all(left)
