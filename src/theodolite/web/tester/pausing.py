"""Pauses: of one tester, or of everybody; clocks stand still in both."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from theodolite.domain.people.session import Pauser, Session
from theodolite.testing.steps import Step
from theodolite.web.models import HostedStudy
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.sheet import Sheet
from theodolite.web.tester.visit import Visit


def everybody_pauses(visit: Visit) -> bool:
    """Tell whether the organiser lets everything stand still."""
    return visit.here.hosted.state == HostedStudy.State.PAUSED


def pauses(visit: Visit, session: Session) -> bool:
    """Tell whether a session stands still."""
    rests = visit.here.hosted.paused_applications.filter(name=session.application)
    return everybody_pauses(visit) or bool(session.clock.pausers) or rests.exists()


def paused_page(request: HttpRequest, visit: Visit, sheet: Sheet) -> HttpResponse:
    """Say who pauses, for how long the session still is, and how it goes on."""
    organiser = Pauser.TESTER not in sheet.session.clock.pausers or everybody_pauses(visit)
    context = {
        "here": visit.here,
        "everybody": organiser,
        "message": visit.here.hosted.message if organiser else "",
        "left": sheet.left,
        "place": sheet.place,
    }
    return render(request, "web/tester/paused.html", context)


@for_testers(Step.CHAT)
@require_POST
def pause(_request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Let the clock of a session stand still."""
    now = visit.venue.clock.now()
    visit.venue.store.revise_session(visit.session(place).key, lambda session: session.paused(Pauser.TESTER, now))
    return redirect("tester:chat", study=visit.here.hosted.token, place=place)


@for_testers(Step.CHAT)
@require_POST
def resume(_request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Let it go on."""
    now = visit.venue.clock.now()
    visit.venue.store.revise_session(visit.session(place).key, lambda session: session.resumed(Pauser.TESTER, now))
    return redirect("tester:chat", study=visit.here.hosted.token, place=place)
