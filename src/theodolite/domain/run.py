"""Runs: executions of a plan, and the units of work that they consist of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class RunState(StrEnum):
    """State of a run."""

    UNFINISHED = "unfinished"
    FINISHED = "finished"


class UnitKind(StrEnum):
    """Kind of result of a unit of work."""

    SESSION = "session"
    ANNOTATION = "annotation"


class UnitState(StrEnum):
    """State of a unit of work."""

    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    """The participant withdrew the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The smallest piece of work that is leased and resumed.

    Attributes:
        key: Hash of run, pair key, application and task; 64 hexadecimal digits.
        kind: Kind of its result.
        work_key: The hash without the run: equal work of an earlier run is adopted.
        position: Index in the plan, from 0.
        label: Displayed label of the dialogue.
        application: Name of the application.
        subject: For annotations, the key of the dialogue; else empty.
        annotator: For annotations, the name of the annotator; else empty.
        state: State of the unit or run.
        tries: Number of times that it was started; count.
    """

    key: str
    kind: UnitKind
    work_key: str
    position: int
    label: str
    application: str
    subject: str = ""
    annotator: str = ""
    state: UnitState = UnitState.WAITING
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's right to do a unit, for some time.

    Attributes:
        owner: Name of the worker.
        seconds: Its duration unless it is renewed.
    """

    owner: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan.

    Attributes:
        key: Opaque key, unique in the workspace.
        number: Number among the runs of its study, from 1.
        study: Name of the study.
        study_version: Content hash of the study.
        plan_version: Content hash of the plan.
        state: State of the unit or run.
        started: Its start; UTC.
        finished: Its end; UTC, None while it is in progress.
    """

    key: str
    number: int
    study: str
    study_version: str
    plan_version: str
    state: RunState
    started: datetime
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Cost of calls so far.

    Attributes:
        calls: Calls made, including failed ones; count.
        attempts: Attempts of all calls, including refused ones; count.
        tokens_in: Tokens read; count.
        tokens_out: Tokens written; count.
        cost_microusd: Cost in millionths of a US dollar; only calls with a known price.
        unpriced_calls: Model calls without a known price; count.
        estimated_tokens: Tokens of replies that report none, estimated from the length of the texts; count,
            in no other sum of this record.
        estimated_microusd: Cost of calls with a known price; millionths of a US dollar, in no other sum of this record.
    """

    calls: int = 0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_microusd: int = 0
    unpriced_calls: int = 0
    estimated_tokens: int = 0
    estimated_microusd: int = 0

    def __add__(self, other: Spending) -> Spending:
        """Return the sum."""
        return Spending(
            calls=self.calls + other.calls,
            attempts=self.attempts + other.attempts,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cost_microusd=self.cost_microusd + other.cost_microusd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            estimated_tokens=self.estimated_tokens + other.estimated_tokens,
            estimated_microusd=self.estimated_microusd + other.estimated_microusd,
        )

    def __sub__(self, other: Spending) -> Spending:
        """Return the difference from a part."""
        return Spending(
            calls=self.calls - other.calls,
            attempts=self.attempts - other.attempts,
            tokens_in=self.tokens_in - other.tokens_in,
            tokens_out=self.tokens_out - other.tokens_out,
            cost_microusd=self.cost_microusd - other.cost_microusd,
            unpriced_calls=self.unpriced_calls - other.unpriced_calls,
            estimated_tokens=self.estimated_tokens - other.estimated_tokens,
            estimated_microusd=self.estimated_microusd - other.estimated_microusd,
        )

    @property
    def tokens(self) -> int:
        """Tokens read and written; count."""
        return self.tokens_in + self.tokens_out


class SpendingPart(NamedTuple):
    """Cost of one stage's and model's calls for one application.

    Attributes:
        application: Name of the application.
        stage: Dialogues, or annotations of dialogues.
        annotator: For annotations, the name of the annotator; else empty.
        model: Name that the endpoint gave itself; empty if it gave none.
        spending: Their cost.
    """

    application: str
    stage: UnitKind
    annotator: str
    model: str
    spending: Spending


class FailureSource(StrEnum):
    """Responsible party of a failure; every failure names one of the five."""

    APPLICATION = "application"
    JUDGE = "judge"
    SIMULATED_USER = "simulated user"
    PERSON = "person"
    MACHINERY = "machinery"


class FailureKind(StrEnum):
    """The error."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed out"
    RATE_LIMITED = "rate limited"
    REJECTED = "rejected the request"
    SERVER_FAULT = "answered with an error"
    MALFORMED_REPLY = "answered in an unknown form"
    EMPTY_REPLY = "gave an empty reply"
    CONTENT_REFUSED = "withheld the reply by its own filter"
    TEMPLATE = "could not be filled in"
    REPLAY = "does not fit its journal"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A unit without a result; it stays in every denominator.

    Attributes:
        unit: Key of the unit of work.
        label: Displayed label, e.g. `d003`.
        application: Name of the application.
        party: The responsible party.
        kind: Kind of error.
        message: Description of the cause, without secrets.
        turn: Number of the failed turn; None if it was not a turn.
        annotator: The annotator that failed; empty in testing.
        endpoint: Name of the called model or application.
        tries: Attempts made; count.
        spent: Cost of its last call, which failed.
    """

    unit: str
    label: str
    application: str
    party: FailureSource
    kind: FailureKind
    message: str
    turn: int | None = None
    annotator: str = ""
    endpoint: str = ""
    tries: int = 1
    spent: Spending = field(default_factory=Spending)
