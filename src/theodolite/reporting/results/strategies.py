"""Strategies as results: the catalogue of what red teamers tried."""

from __future__ import annotations

from theodolite.domain.estimate import StrategyTally
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import short_number_entry


def strategy_entry(tally: StrategyTally) -> dict[str, Json]:
    """Return one entry of the list `strategies` of the results file."""
    return {
        "scenario": tally.scenario,
        "strategy": tally.strategy,
        "application": tally.application,
        "level": tally.level,
        "tester_type": tally.held_by,
        "planned": tally.planned,
        "tries": tally.tries,
        "attempts": tally.attempts,
        "refinements": tally.refinements,
        "success": short_number_entry(tally.success, "count"),
        "confirmed": dict(tally.confirmed),
        "dialogues": list(tally.dialogues),
    }
