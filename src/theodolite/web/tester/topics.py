"""What a tester would rather not meet: said before anything is met, and changed at any time."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from theodolite.domain.errors import InputError
from theodolite.domain.people.session import Session
from theodolite.testing.steps import Step
from theodolite.usecases.people.topics import choose_topics
from theodolite.usecases.people.venue import Venue
from theodolite.web.departures import hang_up
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit, has_chosen
from theodolite.web.topics import told_topics
from theodolite.web.venues import venue_of

_ENDED = _(
    "The session that went on was about it and has ended here. You need not say why, and nothing is asked about it. "
    "What was said in it is kept; you can still take it back."
)


@for_testers()
def topics(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask what a tester would rather not meet, and let go of what is in hand of it."""
    study, store = visit.venue.study, visit.venue.store
    if not study.topics or not (visit.sessions or visit.has_agreed()):  # consent worded anew waits for the next session
        return redirect("tester:home", study=visit.here.hosted.token)
    if request.method != "POST":
        avoided = store.avoided_by(study.name, visit.participant)
        context = {"here": visit.here, "topics": told_topics(visit.read, avoided), "has_chosen": has_chosen(visit)}
        return render(request, "web/topics.html", context)
    try:
        ended = choose_topics(visit.venue, visit.participant, request.POST.getlist("topic"), let_go=_letting_go(visit))
    except InputError as odd:  # a topic of an edition that is gone
        messages.error(request, f"{odd}.")
        return redirect("tester:topics", study=visit.here.hosted.token)
    if ended:
        messages.info(request, _ENDED)
    return redirect("tester:home", study=visit.here.hosted.token)


@for_testers(Step.SPARED, waits=False)
def spared(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say kindly that nothing is left."""
    event = visit.venue.study.event
    context = {"here": visit.here, "contact": event.contact if event else ""}
    return render(request, "web/tester/spared.html", context)


def _letting_go(visit: Visit) -> Callable[[Session], Venue]:
    def let_go(session: Session) -> Venue:
        hang_up(visit.here.hosted, session)
        return venue_of(visit.here.hosted, session.edition)

    return let_go
