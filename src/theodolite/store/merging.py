"""Results of other workspaces, stored under the units of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.run import Failure, UnitState
from theodolite.domain.shards import MergeOutcome, UnitResult
from theodolite.store.dialogues import journals_of
from theodolite.store.executor import KeepAnnotation, KeepDialogue, KeepFailure, KeepReply, Write
from theodolite.store.models import UnitRow


def merge_results(
    results: Sequence[UnitResult],
    *,
    apply: Callable[[Sequence[Write]], None],
    reopen: Callable[[Sequence[str]], None],
) -> list[MergeOutcome]:
    """Store results within the open transaction, and return the outcome of each.

    A unit with stored replies that are a prefix of the new ones receives the rest and the result, so that
    an interrupted merge, and a failed unit that was retried elsewhere, are completed.

    Args:
        results: Results; sessions before their annotations.
        apply: Stores a batch of writes.
        reopen: Resets failed units to waiting.
    """
    keys = [result.unit.key for result in results]
    rows = {row.key: row for row in UnitRow.objects.select_for_update().filter(key__in=keys)}
    stored = journals_of(keys)
    different: set[str] = set()
    outcomes: list[MergeOutcome] = []
    writes: list[Write] = []
    failed: list[str] = []
    for result in results:
        row, before = rows[result.unit.key], stored[result.unit.key]
        outcome = _outcome(result, UnitState(row.state), n_before=len(before))
        if result.unit.subject in different or list(result.entries[: len(before)]) != before:
            outcome = MergeOutcome.DIFFERENT
            different.add(result.unit.key)
        outcomes.append(outcome)
        if outcome is MergeOutcome.MERGED:
            failed += [result.unit.key] if row.state == UnitState.FAILED else []
            writes += [KeepReply(unit=result.unit.key, entry=entry) for entry in result.entries[len(before) :]]
            writes.append(_write(result, row.tries))
    reopen(failed)
    apply(writes)
    return outcomes


def _outcome(result: UnitResult, state: UnitState, *, n_before: int) -> MergeOutcome:
    match state:
        case UnitState.WAITING | UnitState.LEASED:
            return MergeOutcome.MERGED
        case UnitState.FAILED:
            return MergeOutcome.PRESENT if isinstance(result.result, Failure) else MergeOutcome.MERGED
        case UnitState.DONE:
            is_same = len(result.entries) == n_before and not isinstance(result.result, Failure)
            return MergeOutcome.PRESENT if is_same else MergeOutcome.DIFFERENT
        case UnitState.WITHDRAWN:
            return MergeOutcome.DIFFERENT
        case _:
            assert_never(state)


def _write(result: UnitResult, tries: int) -> Write:
    match result.result:
        case Dialogue():
            return KeepDialogue(unit=result.unit, dialogue=result.result, journalled=True)
        case Annotation():
            return KeepAnnotation(unit=result.unit, annotation=result.result)
        case Failure():
            return KeepFailure(unit=replace(result.unit, tries=tries), failure=result.result)
        case _:
            assert_never(result.result)
