"""Strategies stored and read back, with their attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from theodolite.domain.dialogue import Dialogue
from theodolite.domain.strategy import Attempt, AttemptOutcome, Strategy
from theodolite.store.models import AttemptRow, StrategyRow
from theodolite.store.reading import grouped, rows_of


def keep_strategies(dialogues: Sequence[tuple[int, Dialogue]]) -> None:
    """Store the strategies of some dialogues, given with the numbers of their rows."""
    kept = [
        (StrategyRow(dialogue_id=row, position=position, name=strategy.name), strategy)
        for row, dialogue in dialogues
        for position, strategy in enumerate(dialogue.strategies)
    ]
    if not kept:  # most dialogues have none, and this is the hot path
        return
    StrategyRow.objects.bulk_create([row for row, _ in kept])
    AttemptRow.objects.bulk_create(
        AttemptRow(
            strategy_id=row.id,
            number=number,
            description=attempt.description,
            outcome=attempt.outcome.value,
            turn=attempt.turn,
            refines=attempt.refines,
            planted=attempt.planted,
        )
        for row, strategy in kept
        for number, attempt in enumerate(strategy.attempts, start=1)
    )


def strategies_of(dialogues: Mapping[int, str]) -> dict[int, tuple[Strategy, ...]]:
    """Return the strategies of some dialogues by the number of the dialogue's row.

    Args:
        dialogues: Number of the dialogue's row to its key.
    """
    rows = rows_of(StrategyRow, "dialogue_id", dialogues, "dialogue_id", "position")
    if not rows:
        return {}
    attempts = grouped(
        rows_of(AttemptRow, "strategy_id", (row.id for row in rows), "strategy_id", "number"),
        "strategy_id",
    )
    found: dict[int, list[Strategy]] = defaultdict(list)
    for row in rows:
        strategy = Strategy(
            name=row.name,
            dialogue=dialogues[row.dialogue_id],
            attempts=tuple(_attempt(attempt) for attempt in attempts.get(row.id, [])),
        )
        found[row.dialogue_id].append(strategy)
    return {dialogue: tuple(strategies) for dialogue, strategies in found.items()}


def _attempt(row: AttemptRow) -> Attempt:
    return Attempt(
        description=row.description,
        outcome=AttemptOutcome(row.outcome),
        turn=row.turn,
        refines=row.refines,
        planted=row.planted,
    )
