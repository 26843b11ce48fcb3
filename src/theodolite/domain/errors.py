"""The hierarchy of errors.

TheodoliteError
├── InputError                the user's input cannot be used; exit code 2
│   ├── StudyError            a study's files have errors
│   ├── PlanError             the study is valid but no plan can be drawn from it
│   └── TemplateError         a template cannot be filled or grows too large
├── GatewayError              one call to a model or an application returned no reply
│   ├── Unreachable           no response from the address
│   ├── TimedOut              the response was too slow
│   ├── RateLimited           "too many requests" after all attempts
│   ├── Rejected              the request was refused: key, model name, format
│   ├── ServerFault           the other side failed (HTTP 5xx, an exception)
│   ├── MalformedReply        a response in an unexpected format
│   ├── EmptyReply            a response without text
│   └── ContentRefused        the endpoint's own filter withheld the reply
├── StoreError                the database
│   ├── NotFound              no such row
│   ├── Conflict              another process wrote the same record first
│   ├── WrongSchema           the database is newer than this program
│   └── StorageUnavailable    disk full, file locked, server unavailable
├── ReplayError               a journal does not match the flow that replays it
└── RunStopped                the run ended before its plan was complete; exit code 3
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.run import Spending


class Severity(StrEnum):
    """Severity of an error."""

    ERROR = "error"
    """Prevents a run."""
    NOTE = "note"
    """For information; the run continues."""
    OPEN = "open"
    """Must be done before people take part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """An error in a study, with its position.

    Attributes:
        path: Keys and indices from the study's root to the position; the
            configuration layer turns it into file, line and column.
        message: The value and the expected one, as one sentence for people.
        fix: Remedy, unless the message states it.
        severity: Whether it prevents a run.
        at_key: Whether the position is the key itself rather than its value.
        words: The affected words of the value; empty for the whole value.
    """

    path: tuple[str | int, ...]
    message: str
    fix: str = ""
    severity: Severity = Severity.ERROR
    at_key: bool = False
    words: str = ""


def closest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return the most similar known word, or an empty string if none is similar.

    Args:
        word: The given word.
        known: The allowed words.
        likeness: Minimum similarity; from 0 (nothing in common) to 1 (equal).
    """
    return next(iter(difflib.get_close_matches(word, tuple(known), n=1, cutoff=likeness)), "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `. Did you mean `x`?` for the most similar known word, to end a message; empty if none is similar."""
    near = closest(word, known)
    return f". Did you mean `{near}`?" if near else ""


class TheodoliteError(Exception):
    """Base class of all errors that this package raises."""


class InputError(TheodoliteError):
    """The user's input is invalid; `faults` lists all errors."""

    def __init__(self, message: str, *, faults: Iterable[Diagnostic] = ()) -> None:
        """Store the message and the errors that it summarises."""
        super().__init__(message)
        self.faults = tuple(faults)


class StudyError(InputError):
    """A study's files have errors."""


class PlanError(InputError):
    """A study is valid but no plan can be drawn from it."""


class TemplateError(InputError):
    """A template cannot be filled, or its result is too large."""


class GatewayError(TheodoliteError):
    """One call to a model or an application failed.

    Attributes:
        endpoint: Name of the model or application in the study.
        tries: Attempts made; count, 0 if nothing was called.
        status: HTTP status of the last response, if there was one.
        spent: Cost of the failed call.
    """

    def __init__(
        self, message: str, *, endpoint: str = "", tries: int = 1, status: int = 0, spent: Spending | None = None
    ) -> None:
        """Store the value and its source."""
        super().__init__(message)
        self.endpoint = endpoint
        self.tries = tries
        self.status = status
        self.spent = spent or Spending()


class Unreachable(GatewayError):
    """The address does not respond."""


class TimedOut(GatewayError):
    """The response did not arrive in time."""


class RateLimited(GatewayError):
    """The endpoint limited the rate until the attempts were used up."""


class Rejected(GatewayError):
    """The endpoint refused the request itself: key, model name or format."""


class ServerFault(GatewayError):
    """The other side failed."""


class MalformedReply(GatewayError):
    """The answer has an unexpected format."""


class EmptyReply(GatewayError):
    """The answer has no text."""


class ContentRefused(GatewayError):
    """The endpoint's own content filter withheld the reply."""


class StoreError(TheodoliteError):
    """The database operation failed."""


class NotFound(StoreError):
    """The row does not exist."""


class Conflict(StoreError):
    """Another process has written the same record first."""


class WrongSchema(StoreError):
    """The database was written by a newer version of this program."""


class StorageUnavailable(StoreError):
    """Disk full, file locked, or database server unavailable."""


class ReplayError(TheodoliteError):
    """A journal contains replies to requests that differ from those of the flow."""


class RunStopped(TheodoliteError):
    """The run stopped before its plan was complete; the same command continues it."""


def require_counts(record: str, /, **counts: int | None) -> None:
    """Reject counts below 1; None means "no limit" and is accepted.

    Args:
        record: Name of the record in messages.
        counts: Values by field.

    Raises:
        InputError: If a count is below 1; names all of them.
    """
    _refuse(record, "of at least 1", {name: count for name, count in counts.items() if count is not None and count < 1})


def require_positive(record: str, /, **amounts: float | None) -> None:
    """Reject amounts that are not above 0; None means "no limit" and is accepted.

    Args:
        record: Name of the record in messages.
        amounts: Values by field.

    Raises:
        InputError: If an amount is not above 0; names all of them.
    """
    # The comparison has this form so that NaN is rejected too.
    below = {name: amount for name, amount in amounts.items() if amount is not None and not amount > 0}
    _refuse(record, "above 0", below)


def _refuse(record: str, bound: str, values: dict[str, int] | dict[str, float]) -> None:
    if values:
        names = " and ".join(f"`{name}`" for name in values)
        came = ", ".join(f"{name}={value!r}" for name, value in values.items())
        message = f"{record} needs {names} {bound}; {came}"
        raise InputError(message)
