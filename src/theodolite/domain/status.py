"""Status of a run and its calls: pace, spending, and the calls of each unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from theodolite.domain.flow import Message, Reply
from theodolite.domain.run import FailureSource, Run, Spending, UnitKind, UnitState

PACE_S = 60.0
"""Length of the period used for a pace; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPace:
    """Recent activity of a run.

    Attributes:
        calls: Replies stored in the period; count.
        units: Dialogues and annotations stored in it; count.
        over_s: Length of the period; seconds. It is shorter than requested if the run started within it.
    """

    calls: int = 0
    units: int = 0
    over_s: float = PACE_S

    @property
    def calls_per_s(self) -> float:
        """Calls a second."""
        return self.calls / self.over_s if self.over_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A process that works on a run.

    Attributes:
        name: Its name in the ledger.
        host: Name of its machine.
        process: Number of the process there.
        started: Start of its work on the run; UTC.
        units: Units that it has leased; count.
        is_alive: Whether its heartbeat is current.
    """

    name: str
    host: str
    process: int
    started: datetime
    units: int
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsSoFar:
    """Calls of a run's own units of one kind so far.

    Attributes:
        over: Calls of units that are done or failed; count.
        n_over: Units that are done or failed; count.
        under_way: Calls of all other units; count.
    """

    over: int = 0
    n_over: int = 0
    under_way: int = 0

    def to_come(self, n_open: int) -> float | None:
        """Return the expected number of calls of open units; None while no unit is complete.

        Each unit that is not over counts for at least one call, so a run with work left never shows none left.
        """
        if not n_open:
            return 0.0
        return max(float(n_open), n_open * self.over / self.n_over - self.under_way) if self.n_over else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Progress of a run at one moment.

    Attributes:
        run: The run.
        sessions: Session units by state; counts.
        annotations: Annotation units by state; counts.
        failed: Failures by responsible party; counts.
        spent: Its cost so far.
        pace: Recent pace.
        calls: Calls requested by units, by kind.
        workers: Processes that work on it, in order of their start.
    """

    run: Run
    sessions: Mapping[str, int]
    annotations: Mapping[str, int]
    failed: Mapping[FailureSource, int] = field(default_factory=dict)
    spent: Spending = field(default_factory=Spending)
    pace: RunPace = field(default_factory=RunPace)
    calls: Mapping[UnitKind, CallsSoFar] = field(default_factory=dict)
    workers: tuple[WorkerStatus, ...] = ()

    @property
    def open_units(self) -> int:
        """Units with neither a result nor a failure; count."""
        return _n_open(self.sessions) + _n_open(self.annotations)

    @property
    def is_running(self) -> bool:
        """Whether a process works on it: a stopping one returns all units, and units of dead ones do not count."""
        return any(kind.get(UnitState.LEASED, 0) for kind in (self.sessions, self.annotations))

    @property
    def calls_at_risk(self) -> int:
        """Maximum number of calls that the next run would repeat if the process were killed now; count.

        A unit requests one reply at a time, and a reply counts once it is stored.
        """
        return sum(kind.get(UnitState.LEASED, 0) for kind in (self.sessions, self.annotations))

    @property
    def is_moving(self) -> bool:
        """Whether there were recent writes."""
        return bool(self.pace.calls or self.pace.units)

    @property
    def left_s(self) -> float | None:
        """Time left at the current pace; seconds, None without progress or if unknown.

        It is counted in calls: many dialogues run at once and end at nearly the same time.
        """
        if not self.open_units:
            return 0.0
        n_open = {UnitKind.SESSION: _n_open(self.sessions), UnitKind.ANNOTATION: _n_open(self.annotations)}
        to_come = [self.calls.get(kind, CallsSoFar()).to_come(n) for kind, n in n_open.items()]
        known = [calls for calls in to_come if calls is not None]
        if not (self.is_running and self.pace.calls and len(known) == len(to_come)):
            return None
        return sum(known) / self.pace.calls_per_s


def _n_open(states: Mapping[str, int]) -> int:
    return states.get(UnitState.WAITING, 0) + states.get(UnitState.LEASED, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request and its reply, as people may read them.

    Attributes:
        reply: The reply.
        prompt: The chat that was sent, empty if none was; None if it cannot
            be shown, because only its hash is stored and the texts have changed.
    """

    reply: Reply
    prompt: tuple[Message, ...] | None = ()


def spent_on(calls: Iterable[Call]) -> Spending:
    """Return the cost of calls, by the rules of a run's spending."""
    replies = [call.reply for call in calls]
    return Spending(
        calls=sum(reply.attempts > 0 for reply in replies),
        attempts=sum(reply.attempts for reply in replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        cost_microusd=sum(reply.cost_microusd or 0 for reply in replies),
        unpriced_calls=sum(_is_unpriced(reply) for reply in replies),
    )


def _is_unpriced(reply: Reply) -> bool:
    from_a_model = bool(reply.tokens_in or reply.tokens_out or reply.finish)
    return reply.cost_microusd is None and not reply.scripted and from_a_model
