"""The one place where an error becomes a failure that stays in the denominators."""

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
from theodolite.domain.failure import Failure, FailureKind, Party
from theodolite.domain.flow import AskFunction, AskModel, Reply, Request, SayToApplication
from theodolite.domain.run import Spending, Unit

UnitError = GatewayError | ReplayError | TemplateError
"""Errors that end a unit of work and not the run."""

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
    """Return the failure that an error means for its unit.

    Args:
        unit: The unit of work that it ended.
        error: What came instead of a reply.
        request: What had been asked last; None where nothing had.
    """
    at_call = isinstance(error, GatewayError)
    return Failure(
        unit=unit.key,
        label=unit.label,
        application=unit.application,
        party=_party(request) if at_call else Party.MACHINERY,
        kind=kind_of(error),
        message=str(error),
        turn=request.turn if isinstance(request, SayToApplication) else None,
        annotator=unit.annotator,
        endpoint=error.endpoint if isinstance(error, GatewayError) else "",
        tries=error.tries if isinstance(error, GatewayError) else 1,
        spent=error.spent if isinstance(error, GatewayError) else Spending(),
    )


def paid_reply(error: GatewayError, text: str, *, finish: str = "") -> Reply:
    """Return a reply that stands for one that cannot be used, with what that one cost.

    Args:
        error: What came instead.
        text: What stands in place of its words.
        finish: Why it ended.
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
    """Return what went wrong; an error of a plugin's own class counts as the class that it refines."""
    known = (_KINDS[kin] for kin in type(error).__mro__ if kin in _KINDS)
    return next(known, FailureKind.SERVER_FAULT)


def _party(request: Request | None) -> Party:
    if isinstance(request, AskModel):
        return request.party
    if isinstance(request, AskFunction):
        return Party.JUDGE
    return Party.APPLICATION if isinstance(request, SayToApplication) else Party.MACHINERY
