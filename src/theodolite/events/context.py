"""The context of an event: study, plan, run and store, with everything that services need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

from theodolite.config.loading import LoadedStudy
from theodolite.domain.dialogue import Level, Search, found_text, material_with
from theodolite.domain.errors import InputError
from theodolite.domain.event import LevelPlan
from theodolite.domain.plan import Plan
from theodolite.domain.run import Run
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Clock
from theodolite.testing.assigning import people_levels
from theodolite.testing.opening import Hours, hours_of

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore
    from theodolite.store.event_dialogues import LiveDialogueRepository
    from theodolite.store.event_responses import ResponseRepository
    from theodolite.store.event_sessions import ParticipantRepository, SessionRepository

EventStore: TypeAlias = "DjangoStore"
"""The store of an event, for callers that may not import `store`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContext:
    """One event that is open.

    Attributes:
        study: The study, in the release in which the event was opened.
        plan: The same study fully drawn.
        run: The run that dialogues of participants join.
        store: The database of the workspace.
        clock: Tells the time.
        searches: Search over the corpus of each scenario, by name of the scenario.
        keeps_hours: Whether the schedule of the study is enforced; not if the event was opened
            ahead of it, for example for a rehearsal.
    """

    study: Study
    plan: Plan
    run: Run
    store: DjangoStore
    clock: Clock
    searches: Mapping[str, Search] = field(default_factory=dict)
    keeps_hours: bool = True

    @property
    def participants(self) -> ParticipantRepository:
        """Consent, avoided topics and profiles."""
        return self.store.events.participants

    @property
    def sessions(self) -> SessionRepository:
        """Sessions and allocated slots."""
        return self.store.events.sessions

    @property
    def dialogues(self) -> LiveDialogueRepository:
        """Live dialogues and their turns."""
        return self.store.events.dialogues

    @property
    def responses(self) -> ResponseRepository:
        """Questionnaire responses and guesses."""
        return self.store.events.responses

    def sessions_of(self, participant: str) -> list[Session]:
        """Return the sessions of a participant in this study, in the order in which they were created."""
        return [session for session in self.sessions.of_participant(participant) if session.study == self.study.name]

    def material(self, scenario: str, *found: str) -> str:
        """Return the source material of a scenario, with the results of searches for it."""
        return material_with(self.study.scenario(scenario).context, *found)

    def found(self, scenario: str, prompt: str) -> str:
        """Return what a prompt finds in the corpus of a scenario; empty if it has none."""
        search = self.searches.get(scenario)
        return found_text(prompt, search(prompt)) if search else ""

    def level_plan(self, level: Level) -> LevelPlan:
        """Return the plan of a level.

        Raises:
            InputError: If no people take part in the level.
        """
        for plan in people_levels(self.study):
            if plan.level is level:
                return plan
        message = f"no people take part in {level.value}; give the level some in the study: `people: 20`"
        raise InputError(message)

    def hours(self, level: Level) -> Hours:
        """Return when a level is open; always, if the study has no schedule or the schedule is suspended."""
        plan = next((plan for plan in people_levels(self.study) if plan.level is level), None)
        if plan is None or not self.keeps_hours:
            return Hours()
        event = self.study.event
        return hours_of(event, plan, ZoneInfo(event.zone if event else "UTC"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEvent:
    """An open event with the study as it was read and the way to its applications.

    Attributes:
        event: The event.
        loaded: The study as it was read.
        connect: Returns connections to the applications; nothing is sent yet.
    """

    event: EventContext
    loaded: LoadedStudy
    connect: Callable[[], Clients] = field(repr=False)  # it carries keys


ContextOf = Callable[[Session], EventContext]
"""From a session to the event in the release for which the session was created."""
