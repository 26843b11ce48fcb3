"""The one tree of errors.

TheodoliteError
├── InputError                what the user wrote cannot be used; exit code 2
│   ├── StudyError            a study's files hold faults
│   ├── PlanError             the study is well written but cannot be drawn
│   └── TemplateError         a template cannot be filled or grows too large
├── GatewayError              one call to a model or an application brought no reply
│   ├── Unreachable           nobody answers at the address
│   ├── TimedOut              somebody answers, but not in time
│   ├── RateLimited           "too many requests", still so after every try
│   ├── Rejected              the request was refused: key, model name, form
│   ├── ServerFault           the other side failed (HTTP 5xx, an exception)
│   ├── MalformedReply        an answer came that does not have the agreed form
│   ├── EmptyReply            an answer came without any text
│   └── ContentRefused        the endpoint's own filter withheld the reply
├── StoreError                the database
│   ├── NotFound              no such row
│   ├── Conflict              somebody else wrote the same thing first
│   ├── WrongSchema           the database is newer than this program
│   └── StorageUnavailable    disk full, file locked, server away
├── ReplayError               a journal does not belong to the flow it is fed to
└── RunStopped                the run ended before its plan did; exit code 3
"""

from __future__ import annotations

from collections.abc import Iterable

from theodolite.domain.fault import Diagnostic
from theodolite.domain.run import Spending


class TheodoliteError(Exception):
    """Anything that this package raises on purpose."""


class InputError(TheodoliteError):
    """What the user gave cannot be used; `faults` says everything at once."""

    def __init__(self, message: str, *, faults: Iterable[Diagnostic] = ()) -> None:
        """Keep the message and the faults that it sums up."""
        super().__init__(message)
        self.faults = tuple(faults)


class StudyError(InputError):
    """A study's files hold faults."""


class PlanError(InputError):
    """A study is well written but no plan can be drawn from it."""


class TemplateError(InputError):
    """A template cannot be filled, or what it renders to is too large."""


class GatewayError(TheodoliteError):
    """One call to a model or an application brought no reply.

    Attributes:
        endpoint: Name of the model or application in the study.
        tries: Attempts made before giving up; count, 0 where nothing was called.
        status: HTTP status of the last answer, where there was one.
        spent: What the call has cost although it brought no reply.
    """

    def __init__(
        self, message: str, *, endpoint: str = "", tries: int = 1, status: int = 0, spent: Spending | None = None
    ) -> None:
        """Keep what came and from where."""
        super().__init__(message)
        self.endpoint = endpoint
        self.tries = tries
        self.status = status
        self.spent = spent or Spending()


class Unreachable(GatewayError):
    """Nobody answers at the address."""


class TimedOut(GatewayError):
    """Somebody is there, but the answer did not come in time."""


class RateLimited(GatewayError):
    """The endpoint asked for patience until the attempts ran out."""


class Rejected(GatewayError):
    """The endpoint refused the request itself: key, model name or form."""


class ServerFault(GatewayError):
    """The other side failed."""


class MalformedReply(GatewayError):
    """An answer came that does not have the agreed form."""


class EmptyReply(GatewayError):
    """An answer came without any text."""


class ContentRefused(GatewayError):
    """The endpoint's own content filter withheld the reply."""


class StoreError(TheodoliteError):
    """The database could not do what was asked."""


class NotFound(StoreError):
    """There is no such row."""


class Conflict(StoreError):
    """Somebody else has written the same thing first."""


class WrongSchema(StoreError):
    """The database was written by a newer version of this program."""


class StorageUnavailable(StoreError):
    """Disk full, file locked, or database server away."""


class ReplayError(TheodoliteError):
    """A journal holds replies to other requests than the flow makes now."""


class RunStopped(TheodoliteError):
    """The run ended before its plan did; the same command goes on."""
