"""Sessions: one person with one application, and the clock of the session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError


class SessionState(StrEnum):
    """Where a session is."""

    WAITING = "waiting"
    ACTIVE = "active"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    """The person left before its end; what was said is kept."""
    FAILED = "failed"
    """The application never answered."""
    WITHDRAWN = "withdrawn"
    """The person took everything back; a mark without content is left."""


class Pauser(StrEnum):
    """Who lets a session stand still."""

    TESTER = "tester"
    ORGANISER = "organiser"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClock:
    """The clock of a session; it stands still while anybody pauses it.

    Attributes:
        started: When it began to run; UTC, None before.
        ended: When it stopped for good; UTC, None before.
        stood_s: Time that it stood still in pauses that are over; seconds.
        paused: Since when it stands still; UTC, None while it runs.
        pausers: Who lets it stand still; it goes on when nobody does.
    """

    started: datetime | None = None
    ended: datetime | None = None
    stood_s: float = 0.0
    paused: datetime | None = None
    pausers: frozenset[Pauser] = frozenset()

    def elapsed_s(self, now: datetime) -> float:
        """Return the time that counts; seconds, 0 before the start."""
        if self.started is None:
            return 0.0
        until = self.ended or self.paused or now
        return max((until - self.started).total_seconds() - self.stood_s, 0.0)

    def left_s(self, now: datetime, minutes: int) -> float | None:
        """Return the time left of a session of so many minutes; seconds, None where there is no limit."""
        return max(60.0 * minutes - self.elapsed_s(now), 0.0) if minutes else None

    def stopped(self, by: Pauser, now: datetime) -> SessionClock:
        """Return the clock with one more who lets it stand still."""
        return replace(self, pausers=self.pausers | {by}, paused=self.paused or now)

    def resumed(self, by: Pauser, now: datetime) -> SessionClock:
        """Return the clock with one less who lets it stand still; it runs when nobody does."""
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
        study_version: Content hash of the study as it was when the session was made.
        run: Key of the run that its dialogues belong to.
        participant: Opaque key of the person.
        level: Level of testing.
        scenario: Name of the scenario.
        scenario_version: Content hash of what decides what is said and judged in the scenario.
        application: Name of the application.
        application_version: Content hash of the application.
        slot: Number of the slot, from 0.
        place: Place among the sessions of the slot, from 0.
        stratum: Stratum that the slot belongs to.
        alias: What the person knows the application by, e.g. `Application K`.
        state: Its state.
        clock: How long it has taken.
        task_done: Whether the person says that the task was completed; None while not said.
        brought: Whether it took place elsewhere, and its dialogue came in from a file.
        language: Language in which the person read the study when it began, as a tag; empty where that is not known.
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
        """Whether nothing more is said in it."""
        return self.state not in {SessionState.WAITING, SessionState.ACTIVE}

    def begun(self, now: datetime, language: str = "") -> Session:
        """Return it with its clock running; one that has begun goes on.

        Args:
            now: When.
            language: In which the person reads the study, as a tag; empty where that is not known.

        Raises:
            InputError: If it is over.
        """
        self._must_go_on("begun")
        if self.state is SessionState.ACTIVE:
            return self
        clock = replace(self.clock, started=now)
        return replace(self, state=SessionState.ACTIVE, clock=clock, language=language)

    def paused(self, by: Pauser, now: datetime) -> Session:
        """Return it with its clock standing still; over is over, and what has not begun does not run."""
        return replace(self, clock=self.clock.stopped(by, now)) if self.state is SessionState.ACTIVE else self

    def resumed(self, by: Pauser, now: datetime) -> Session:
        """Return it with one less who lets it stand still."""
        return replace(self, clock=self.clock.resumed(by, now)) if self.state is SessionState.ACTIVE else self

    def over(self, state: SessionState, now: datetime) -> Session:
        """Return it ended; one that is over stays as it is.

        Args:
            state: How it ended.
            now: When; a clock that stands still ended when it was stopped.
        """
        if self.is_over:
            return self
        clock = replace(self.clock, ended=self.clock.paused or now) if self.clock.started else self.clock
        return replace(self, state=state, clock=clock)

    def told(self, task_done: bool | None) -> Session:  # noqa: FBT001  # yes, no or not said
        """Return it with what the person says of the task; what was said before stays where nothing is said."""
        return self if task_done is None else replace(self, task_done=task_done)

    def _must_go_on(self, what: str) -> None:
        if self.is_over:
            message = f"a session that is {self.state.value} cannot be {what}; ask the organiser for another one"
            raise InputError(message)
