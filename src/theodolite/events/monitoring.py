"""Monitoring: how an event proceeds, in sessions, replies and cells of the design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from theodolite.domain.application import RecordedFile
from theodolite.domain.live import FailedReply, NamingCount, ReplyCounts
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.events.context import EventContext
from theodolite.testing.assigning import allocation_design, people_levels, planned_slots

STUCK_S = 30
"""Time in progress from which a reply counts as stuck; seconds."""

RECENT_ERRORS = 5
"""Failed replies that are shown, the latest ones; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """The sessions of one cell of the design: planned, started and ended; counts."""

    level: str
    scenario: str
    application: str
    planned: int
    begun: int
    over: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityCounts:
    """What participants of a study have done, where no session is looked at.

    Attributes:
        guesses: Guesses about the blinding; count.
        submitted: Submitted questionnaire responses; count.
    """

    guesses: int
    submitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatus:
    """The state of an event at one moment.

    Attributes:
        sessions: All sessions that took place here.
        waiting_since: When the reply in progress of a session was requested, by key of the session.
        replies: How the replies of each application ended.
        applications: Names of the applications: those that testers use in order of the study, then earlier ones.
        failures: The latest failed replies, the last one first.
        cells: The sessions of each cell of the design.
    """

    sessions: Sequence[Session]
    waiting_since: Mapping[str, datetime]
    replies: Mapping[str, ReplyCounts]
    applications: tuple[str, ...]
    failures: Sequence[FailedReply]
    cells: tuple[CellCount, ...]

    @property
    def active(self) -> tuple[Session, ...]:
        """The active sessions."""
        return tuple(session for session in self.sessions if session.state is SessionState.ACTIVE)

    @property
    def cost_microusd(self) -> int | None:
        """What the replies have cost; millionths of a US dollar, None if no application reports a cost."""
        costs = [counts.cost_microusd for counts in self.replies.values() if counts.cost_microusd is not None]
        return sum(costs) if costs else None


def status_of(event: EventContext) -> EventStatus:
    """Return the state of an event at this moment."""
    name, replies = event.study.name, event.store.events.replies
    sessions = event.sessions.in_study(name)
    counts = replies.counts(name, now=event.clock.now(), stuck_s=STUCK_S)
    used = [one.name for one in event.study.applications if not isinstance(one.connection, RecordedFile)]
    return EventStatus(
        sessions=sessions,
        waiting_since=replies.waiting_since(name),
        replies=counts,
        applications=(*used, *sorted(set(counts) - set(used))),
        failures=replies.recent_failures(name, RECENT_ERRORS),
        cells=cell_counts(event.study, sessions),
    )


def activity_counts(event: EventContext) -> ActivityCounts:
    """Return how many guesses and submitted responses a study has."""
    guesses, submitted = event.responses.counts(event.study.name)
    return ActivityCounts(guesses=guesses, submitted=submitted)


def naming_counts(event: EventContext) -> list[NamingCount]:
    """Return how often each application identified itself, in order of the names."""
    return event.store.events.replies.naming_counts(event.study.name)


def cell_counts(study: Study, sessions: Sequence[Session]) -> tuple[CellCount, ...]:
    """Return the sessions of each cell: planned by the design, started and ended.

    Args:
        study: The current study.
        sessions: All sessions that took place here.
    """
    planned: Counter[tuple[str, str, str]] = Counter()
    for plan in people_levels(study):
        design = allocation_design(study, plan)
        for slot in planned_slots(plan):
            cells = design.cells(slot.number, slot.stratum)
            planned.update((plan.level.value, cell.scenario, cell.application) for cell in cells)
    started = Counter(_cell(session) for session in sessions if session.state is not SessionState.WAITING)
    ended = Counter(_cell(session) for session in sessions if session.is_over)
    return tuple(
        CellCount(
            level=cell[0],
            scenario=cell[1],
            application=cell[2],
            planned=planned[cell],
            begun=started[cell],
            over=ended[cell],
        )
        for cell in sorted({*planned, *started})
    )


def _cell(session: Session) -> tuple[str, str, str]:
    return session.level.value, session.scenario, session.application
