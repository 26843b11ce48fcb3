"""What a tester is told to do, acknowledged before the clock starts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.errors import Conflict
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.session import Pauser, Session
from theodolite.testing.steps import Step
from theodolite.usecases.people.seating import avoided_scenarios
from theodolite.usecases.people.sitting import begin_session, prepare_session
from theodolite.web.tester.aliases import alias_of
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.order import n_offered, nth
from theodolite.web.tester.pausing import pauses
from theodolite.web.tester.screening import no_place
from theodolite.web.tester.texts import hints_for, task_of
from theodolite.web.tester.visit import Visit
from theodolite.web.topics import told_topics_in


@for_testers(Step.INSTRUCTIONS)
def instructions(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Show the task of a session, or begin the session with it."""
    try:
        session = prepare_session(visit.venue, visit.participant, visit.level, place - 1)
    except Conflict:  # somebody took the last place a moment ago
        return no_place(request, visit)
    if visit.venue.study.topics and session.scenario in avoided_scenarios(visit.venue, visit.participant):
        return redirect("tester:home", study=visit.here.hosted.token)  # another seat than the one looked at before
    task = task_of(visit.read, session.scenario, visit.level)
    if request.method == "POST" and request.POST.get("version") == task.version:
        _acknowledge(visit, session, task.version)
        begun = begin_session(visit.venue, session.key, language=visit.language)
        if pauses(visit, begun):  # its application rests: the clock waits with it
            now = visit.venue.clock.now()
            visit.venue.store.revise_session(session.key, lambda known: known.paused(Pauser.ORGANISER, now))
        return redirect("tester:chat", study=visit.here.hosted.token, place=place)
    context = {
        "here": visit.here,
        "alias": alias_of(session),
        "nth": nth(visit, session),
        "of": n_offered(visit),
        "topics": told_topics_in(visit.read, session.scenario),
        "minutes": visit.plan.minutes,
        "task": task,
        "hints": hints_for(visit.venue.study.scenario(session.scenario), visit.level),
    }
    return render(request, "web/tester/instructions.html", context)


def _acknowledge(visit: Visit, session: Session, version: str) -> None:
    visit.venue.store.acknowledge(
        Acknowledgement(
            participant=visit.participant,
            study=visit.venue.study.name,
            subject=AcknowledgedText.INSTRUCTIONS,
            version=version,
            at=visit.venue.clock.now(),
            session=session.key,
        )
    )
