"""Live turns read back."""

from __future__ import annotations

from theodolite.domain.dialogue import TurnState
from theodolite.domain.failure import FailureKind
from theodolite.domain.live import LiveTurn
from theodolite.store.models.people import (
    LiveTurnRow,
)


def live_turn(row: LiveTurnRow) -> LiveTurn:
    """Return the turn of a row."""
    return LiveTurn(
        key=row.key,
        number=row.number,
        prompt=row.prompt,
        asked=row.asked,
        response=row.response,
        state=TurnState(row.state) if row.state else None,
        latency_s=row.latency_s,
        waited_s=row.waited_s,
        kind=FailureKind(row.kind) if row.kind else None,
        cause=row.cause,
        tries=row.tries,
        broke=row.broke,
        claims=tuple(row.claims.splitlines()),
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_microusd=row.cost_microusd,
    )
