"""A visit: a tester on a page, with everything that is known of the way through the event."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from theodolite.domain.consent import AcknowledgedText
from theodolite.domain.dialogue import Level
from theodolite.domain.event import LevelPlan
from theodolite.domain.questionnaire import Questionnaire
from theodolite.domain.role import Role
from theodolite.domain.session import Session
from theodolite.testing.steps import Next, SittingSoFar, Standing, Step, next_step
from theodolite.usecases.people.venue import Venue
from theodolite.web.access import Here, View, allowed
from theodolite.web.models import HostedStudy
from theodolite.web.tester.texts import Text, texts_of
from theodolite.web.venues import venue_of

_LEVELS = {Role.RED_TEAMER: Level.RED_TEAMING, Role.FIELD_TESTER: Level.FIELD_TESTING}
_NOT_OPEN = {
    HostedStudy.State.DRAFT: ("Not open yet", "The event has not been opened yet. Come back when you are told to."),
    HostedStudy.State.PUBLISHED: ("Not open yet", "The event has not been opened yet. Come back when you are told to."),
    HostedStudy.State.CLOSED: ("The event is over", "Nothing more can be said in it. Thank you for the time you gave."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A tester on a page.

    Attributes:
        here: Who asks.
        venue: The event, put together: as it was published last, or as a session of the person began with it.
        level: Of testing, as the person's role says.
        sessions: Those of the person that were made, in order.
        agreed: What the person acknowledged: text and version, with the session where it is about one.
    """

    here: Here
    venue: Venue
    level: Level
    sessions: tuple[Session, ...]
    agreed: frozenset[tuple[AcknowledgedText, str, str]]

    @property
    def participant(self) -> str:
        """Key under which the store knows the person."""
        return self.here.membership.participant

    @property
    def plan(self) -> LevelPlan:
        """What the level is to hold."""
        plans = (plan for plan in self.venue.study.levels if plan.level is self.level)
        return next(plans, LevelPlan(level=self.level))

    @property
    def texts(self) -> tuple[Text, ...]:
        """What is to be agreed to before anything else."""
        return texts_of(self.venue.study)

    def has_agreed(self) -> bool:
        """Tell whether every text was agreed to as it is worded now."""
        return all((text.subject, text.version, "") in self.agreed for text in self.texts)

    def session(self, place: int) -> Session:
        """Return a session of the person by its number, from 1.

        Raises:
            Http404: If it was not begun.
        """
        for session in self.sessions:
            if session.place == place - 1:
                return session
        raise Http404

    def seated(self, session: Session) -> Visit:
        """Return the visit in the edition that a session was made for: whoever began with it ends with it."""
        return replace(self, venue=venue_of(self.here.hosted, session.edition))

    def at(self, place: int) -> Visit:
        """Return the visit as it is in the session of a number, from 1; as it stands where there is none yet."""
        known = next((session for session in self.sessions if session.place == place - 1), None)
        return self.seated(known) if known is not None else self

    def has_read(self, session: Session) -> bool:
        """Tell whether the instructions of a session were acknowledged."""
        return any(subject is AcknowledgedText.INSTRUCTIONS and key == session.key for subject, _, key in self.agreed)

    def to_answer(self, session: Session) -> list[Questionnaire]:
        """Return the questionnaires of a session that are not submitted yet, in order."""
        asked = self.seated(session).venue.study.questionnaires_after(session.scenario, session.level)
        if not asked:
            return []
        answered = {given.questionnaire for given in self.venue.store.responses_to(session.key) if given.submitted}
        return [questionnaire for questionnaire in asked if questionnaire.name not in answered]

    def standing(self) -> Standing:
        """Return how far the person has come."""
        store = self.venue.store
        made = {session.place: self._sitting(session) for session in self.sessions}
        over = bool(made) and all(sitting.is_over for sitting in made.values())
        return Standing(
            has_agreed=self.has_agreed(),
            was_asked=bool(made) or store.profile(self.participant) is not None,
            sittings=tuple(made.get(place, SittingSoFar()) for place in range(self.plan.sessions)),
            has_guessed=over and bool(self.keys & {guess.session for guess in store.guesses(self.venue.study.name)}),
        )

    @property
    def keys(self) -> set[str]:
        """Keys of the sessions."""
        return {session.key for session in self.sessions}

    def upcoming(self) -> Next:
        """Return what the person does next."""
        return next_step(self.standing())

    def address(self, upcoming: Next) -> str:
        """Return the page of a step."""
        study = self.here.hosted.token
        arguments = [study, upcoming.place] if upcoming.place else [study]
        return reverse(f"tester:{upcoming.step.value}", args=arguments)

    def _sitting(self, session: Session) -> SittingSoFar:
        return SittingSoFar(
            is_read=self.has_read(session),
            is_over=session.is_over,
            to_answer=len(self.to_answer(session)) if session.is_over else 0,
        )


def visit_of(here: Here) -> Visit:
    """Return the visit of who asks."""
    venue = venue_of(here.hosted)
    level = _LEVELS[here.role]
    given = venue.store.acknowledgements(here.membership.participant)
    mine = (one for one in venue.store.sessions_of(here.membership.participant) if one.level is level)
    return Visit(
        here=here,
        venue=venue,
        level=level,
        sessions=tuple(sorted(mine, key=lambda session: session.place)),
        agreed=frozenset((each.subject, each.version, each.session) for each in given),
    )


def for_testers(*steps: Step) -> Callable[[View], View]:
    """Open a view to testers whose next step is one of some; others are led to their own.

    The view is called as `view(request, visit, ...)`, in a thread. While the event is
    not open, or the session stands still, the person is told so instead.

    Args:
        steps: Where the view belongs; none for a view that may be opened at any time.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def page(request: HttpRequest, here: Here, **rest: Any) -> HttpResponseBase:
            visit = arrived(request, here, steps, rest.get("place", 0))
            return view(request, visit, **rest) if isinstance(visit, Visit) else visit

        return allowed(*_LEVELS)(page)

    return decorate


def for_testers_live(*steps: Step) -> Callable[[View], View]:
    """Do the same for a view that is awaited."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        async def page(request: HttpRequest, here: Here, **rest: Any) -> HttpResponseBase:
            visit = await sync_to_async(arrived)(request, here, steps, rest.get("place", 0))
            answer: HttpResponseBase = await view(request, visit, **rest) if isinstance(visit, Visit) else visit
            return answer

        return allowed(*_LEVELS)(page)

    return decorate


def arrived(request: HttpRequest, here: Here, steps: tuple[Step, ...], place: int) -> Visit | HttpResponse:
    """Return the visit, or where the person is led instead."""
    if not steps:
        visit = visit_of(here)
        is_begun = not place or any(session.place == place - 1 for session in visit.sessions)
        return visit.at(place) if is_begun else redirect(visit.address(visit.upcoming()))
    shut = _NOT_OPEN.get(HostedStudy.State(here.hosted.state))
    if shut:
        return render(request, "web/tester/wait.html", {"here": here, "title": shut[0], "words": shut[1]})
    visit = visit_of(here)
    upcoming = visit.upcoming()
    if upcoming.step not in steps or (place and place != upcoming.place):
        return redirect(visit.address(upcoming))
    return visit.at(place)
