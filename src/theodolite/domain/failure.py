"""Failures: units of work that brought no result, and whose fault that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.run import Spending


class FailureSource(StrEnum):
    """Whose fault a failure is; every failure names one of the five."""

    APPLICATION = "application"
    JUDGE = "judge"
    SIMULATED_USER = "simulated user"
    PERSON = "person"
    MACHINERY = "machinery"


class FailureKind(StrEnum):
    """What went wrong."""

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
    """A unit that brought no result; it stays in every denominator.

    Attributes:
        unit: Key of the unit of work.
        label: What people call the dialogue, e.g. `d003`.
        application: Name of the application.
        party: Whose fault it is.
        kind: What went wrong.
        message: The cause in words, without secrets.
        turn: Number of the turn that failed; None where it was no turn.
        annotator: The annotator that failed; empty in testing.
        endpoint: Name of the model or application that was called.
        tries: Attempts made; count.
        spent: What its last call has cost although it brought no reply.
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
