"""Attempts: what red teamers write down about a live dialogue, kept as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction

from theodolite.domain.errors import NotFound
from theodolite.domain.strategy import Attempt, AttemptOutcome, Strategy
from theodolite.store.models.people import LiveAttemptRow, LiveDialogueRow
from theodolite.store.reading import rows_of


def keep_strategies_of(dialogue: str, strategies: Sequence[Strategy]) -> None:
    """Store what a red teamer tried in a live dialogue, in place of what was written down before.

    Raises:
        NotFound: If there is no such dialogue.
    """
    with transaction.atomic():
        row = LiveDialogueRow.objects.select_for_update().filter(key=dialogue).first()
        if row is None:
            message = f"no live dialogue has the key {dialogue}"
            raise NotFound(message)
        LiveAttemptRow.objects.filter(dialogue=row).delete()
        LiveAttemptRow.objects.bulk_create(
            attempt for place, strategy in enumerate(strategies) for attempt in _rows(row.id, place, strategy)
        )


def attempts_of(dialogues: Mapping[int, str]) -> dict[int, tuple[Strategy, ...]]:
    """Return the strategies of some live dialogues by the number of their row.

    Args:
        dialogues: Number of the row to the key of the dialogue.
    """
    found: dict[tuple[int, int], list[LiveAttemptRow]] = defaultdict(list)
    for row in rows_of(LiveAttemptRow, "dialogue_id", dialogues, "dialogue_id", "place", "number"):
        found[row.dialogue_id, row.place].append(row)
    strategies: dict[int, list[Strategy]] = defaultdict(list)
    for (dialogue, _), attempts in found.items():
        strategy = Strategy(
            name=attempts[0].name,
            dialogue=dialogues[dialogue],
            attempts=tuple(_attempt(row) for row in attempts if row.number),
        )
        strategies[dialogue].append(strategy)
    return {dialogue: tuple(listed) for dialogue, listed in strategies.items()}


def _rows(dialogue: int, place: int, strategy: Strategy) -> list[LiveAttemptRow]:
    if not strategy.attempts:
        return [LiveAttemptRow(dialogue_id=dialogue, place=place, name=strategy.name, number=0)]
    return [
        LiveAttemptRow(
            dialogue_id=dialogue,
            place=place,
            name=strategy.name,
            number=number,
            description=attempt.description,
            outcome=attempt.outcome.value,
            turn=attempt.turn,
            refines=attempt.refines,
        )
        for number, attempt in enumerate(strategy.attempts, start=1)
    ]


def _attempt(row: LiveAttemptRow) -> Attempt:
    return Attempt(description=row.description, outcome=AttemptOutcome(row.outcome), turn=row.turn, refines=row.refines)
