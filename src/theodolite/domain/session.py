"""Sessions: one person with one application, and the clock of the session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError


class SessionState(StrEnum):
    """State of a session."""

    WAITING = "waiting"
    ACTIVE = "active"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    """The person left before the end; the texts are stored."""
    FAILED = "failed"
    """The application never answered."""
    WITHDRAWN = "withdrawn"
    """The person withdrew everything; a record without content remains."""


NOT_ENDED: Final = (SessionState.WAITING, SessionState.ACTIVE)
"""States of sessions that have not ended."""


class Pauser(StrEnum):
    """The person who paused a session."""

    TESTER = "tester"
    ORGANISER = "organiser"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClock:
    """The clock of a session; it stops while any person or program pauses it.

    Attributes:
        started: Its start; UTC, None before the start.
        ended: Its end; UTC, None before the end.
        stood_s: Total time of finished pauses; seconds.
        paused: Start of the pause; UTC, None while it runs.
        pausers: People who have paused it; it runs if there are none.
    """

    started: datetime | None = None
    ended: datetime | None = None
    stood_s: float = 0.0
    paused: datetime | None = None
    pausers: frozenset[Pauser] = frozenset()

    def elapsed_s(self, now: datetime) -> float:
        """Return the elapsed time without pauses; seconds, 0 before the start."""
        if self.started is None:
            return 0.0
        until = self.ended or self.paused or now
        return max((until - self.started).total_seconds() - self.stood_s, 0.0)

    def left_s(self, now: datetime, minutes: int) -> float | None:
        """Return the time left of a session of this length; seconds, None if there is no limit."""
        return max(60.0 * minutes - self.elapsed_s(now), 0.0) if minutes else None

    def stopped(self, by: Pauser, now: datetime) -> SessionClock:
        """Return the clock with an additional pause."""
        return replace(self, pausers=self.pausers | {by}, paused=self.paused or now)

    def resumed(self, by: Pauser, now: datetime) -> SessionClock:
        """Return the clock without this person's pause; it runs if no pause is left."""
        rest = self.pausers - {by}
        if rest or self.paused is None:
            return replace(self, pausers=rest)
        stood = max((now - self.paused).total_seconds(), 0.0)
        return replace(self, pausers=rest, paused=None, stood_s=self.stood_s + stood)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of one person with one application.

    Attributes:
        key: Opaque key; 64 hexadecimal digits.
        study: Name of the study.
        study_version: Content hash of the study at the time of the session's creation.
        run: Key of the run that its dialogues belong to.
        participant: Opaque key of the person.
        level: Level of testing.
        scenario: Name of the scenario.
        scenario_version: Content hash of all that decides the texts and labels of the scenario.
        application: Name of the application.
        application_version: Content hash of the application.
        slot: Number of the slot, from 0.
        place: Index among the sessions of the slot, from 0.
        stratum: Stratum that the slot belongs to.
        alias: Alias of the application for the person, e.g. `Application K`.
        state: State of the session.
        clock: Its duration.
        task_done: Whether the person states that the task was completed; None if not stated.
        brought: Whether the dialogue was imported from a file.
        language: Language in which the person read the study at its start, as a tag; empty if unknown.
    """

    key: str
    study: str
    study_version: str = field(metadata={"stored_as": "edition"})
    run: str
    participant: str
    level: Level
    scenario: str
    scenario_version: str
    application: str
    application_version: str
    slot: int = field(metadata={"stored_as": "seat"})
    place: int
    stratum: str = ""
    alias: str = ""
    state: SessionState = SessionState.WAITING
    clock: SessionClock = field(default_factory=SessionClock)
    task_done: bool | None = None
    brought: bool = False
    language: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it has reached its maximum number of turns."""
        return self.state not in NOT_ENDED

    def begun(self, now: datetime, language: str = "") -> Session:
        """Return the session with a running clock; a started one continues.

        Args:
            now: When.
            language: Language in which the person reads the study, as a tag; empty if unknown.

        Raises:
            InputError: If it is over.
        """
        self._must_go_on("begun")
        if self.state is SessionState.ACTIVE:
            return self
        clock = replace(self.clock, started=now)
        return replace(self, state=SessionState.ACTIVE, clock=clock, language=language)

    def paused(self, by: Pauser, now: datetime) -> Session:
        """Return the session with a paused clock; ended and unstarted sessions do not change."""
        return replace(self, clock=self.clock.stopped(by, now)) if self.state is SessionState.ACTIVE else self

    def resumed(self, by: Pauser, now: datetime) -> Session:
        """Return the session without this person's pause."""
        return replace(self, clock=self.clock.resumed(by, now)) if self.state is SessionState.ACTIVE else self

    def over(self, state: SessionState, now: datetime) -> Session:
        """Return the ended session; a completed one is unchanged.

        Args:
            state: Its outcome.
            now: Current time; a paused clock ends at the start of its pause.
        """
        if self.is_over:
            return self
        clock = replace(self.clock, ended=self.clock.paused or now) if self.clock.started else self.clock
        return replace(self, state=state, clock=clock)

    def with_task_done(self, task_done: bool | None) -> Session:  # noqa: FBT001  # yes, no or not said
        """Return the session with the person's statement on the task; without a new one, the earlier one is kept."""
        return self if task_done is None else replace(self, task_done=task_done)

    def _must_go_on(self, what: str) -> None:
        if self.is_over:
            message = f"a session that is {self.state.value} cannot be {what}; ask the organiser for another one"
            raise InputError(message)
