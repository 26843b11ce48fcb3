"""Strategies as results: the catalogue of what red teamers tried."""

from __future__ import annotations

from theodolite.domain.estimate import Estimate, StrategyTally, Undefined
from theodolite.domain.identity import Json


def strategy_entry(tally: StrategyTally) -> dict[str, Json]:
    """Return one entry of the list `strategies` of the results file."""
    return {
        "scenario": tally.scenario,
        "strategy": tally.strategy,
        "application": tally.application,
        "level": tally.level,
        "held_by": tally.held_by,
        "planned": tally.planned,
        "tries": tally.tries,
        "attempts": tally.attempts,
        "refinements": tally.refinements,
        "success": _success(tally.success),
        "confirmed": dict(tally.confirmed),
        "dialogues": list(tally.dialogues),
    }


def _success(result: Estimate | Undefined) -> dict[str, Json]:
    common: dict[str, Json] = {"n": result.n, "unit": result.unit, "method": result.method}
    if isinstance(result, Undefined):
        empty = dict.fromkeys(("value", "low", "high", "confidence", "count"))
        return {**empty, **common, "undefined_reason": result.reason}
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "confidence": result.confidence,
        "count": result.count,
        **common,
        "undefined_reason": None,
    }
