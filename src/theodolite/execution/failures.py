"""Converts errors into failures; a failure stays in the denominators."""

from __future__ import annotations

from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ReplayError,
    ServerFault,
    TemplateError,
    TimedOut,
    Unreachable,
)
from theodolite.domain.failure import Failure, FailureKind, FailureSource
from theodolite.domain.flow import AskFunction, AskModel, Reply, Request, SayToApplication
from theodolite.domain.run import Spending, Unit

UnitError = GatewayError | ReplayError | TemplateError
"""Errors that end one unit of work and leave the run going."""

_KINDS: dict[type[Exception], FailureKind] = {
    Unreachable: FailureKind.UNREACHABLE,
    TimedOut: FailureKind.TIMED_OUT,
    RateLimited: FailureKind.RATE_LIMITED,
    Rejected: FailureKind.REJECTED,
    ServerFault: FailureKind.SERVER_FAULT,
    MalformedReply: FailureKind.MALFORMED_REPLY,
    EmptyReply: FailureKind.EMPTY_REPLY,
    ContentRefused: FailureKind.CONTENT_REFUSED,
    TemplateError: FailureKind.TEMPLATE,
    ReplayError: FailureKind.REPLAY,
}


def failure_of(unit: Unit, error: UnitError, request: Request | None) -> Failure:
    """Return the failure record of a unit that an error ended.

    Args:
        unit: The failed unit of work.
        error: The error.
        request: The last request of the flow; None before the first one.
    """
    at_call = isinstance(error, GatewayError)
    return Failure(
        unit=unit.key,
        label=unit.label,
        application=unit.application,
        party=_party(request) if at_call else FailureSource.MACHINERY,
        kind=kind_of(error),
        message=str(error),
        turn=request.turn if isinstance(request, SayToApplication) else None,
        annotator=unit.annotator,
        endpoint=error.endpoint if isinstance(error, GatewayError) else "",
        tries=error.tries if isinstance(error, GatewayError) else 1,
        spent=error.spent if isinstance(error, GatewayError) else Spending(),
    )


def paid_reply(error: GatewayError, text: str, *, finish: str = "") -> Reply:
    """Return a substitute for an unusable reply, with the cost of the original.

    Args:
        error: The error that the unusable reply caused.
        text: Text of the substitute.
        finish: Finish reason of the substitute.
    """
    spent = error.spent
    is_priced = spent.tokens_in + spent.tokens_out > 0 and not spent.unpriced_calls
    return Reply(
        text=text,
        finish=finish,
        attempts=error.tries,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_microusd=spent.cost_microusd if is_priced else None,
    )


def kind_of(error: UnitError) -> FailureKind:
    """Return the kind of an error; an error class of a plugin counts as its known base class."""
    known = (_KINDS[kin] for kin in type(error).__mro__ if kin in _KINDS)
    return next(known, FailureKind.SERVER_FAULT)


def _party(request: Request | None) -> FailureSource:
    if isinstance(request, AskModel):
        return request.party
    if isinstance(request, AskFunction):
        return FailureSource.JUDGE
    return FailureSource.APPLICATION if isinstance(request, SayToApplication) else FailureSource.MACHINERY
