"""Parts of a plan that run on their own: their results leave one workspace as lines and enter another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import version_of
from theodolite.domain.plan import Plan, Sessions, held_by_runs
from theodolite.domain.run import Failure, Run, Unit, UnitKind, UnitState
from theodolite.domain.shards import (
    FORMAT,
    AnnotationResult,
    MergeOutcome,
    NetworkEvent,
    SessionResult,
    Shard,
    ShardHeader,
    UnitResult,
)
from theodolite.domain.study import Budget, Study
from theodolite.ports.store import Store
from theodolite.usecases.running import annotation_units, as_planned, enter_units, session_units

AT_ONCE = 200
"""Sessions that are read or stored together; count."""


class MergingStore(Store, Protocol):
    """A database that receives results of other workspaces."""

    def merge(self, results: Sequence[UnitResult]) -> list[MergeOutcome]:
        """Store results of units in one transaction, and return the outcome of each."""
        ...


def header_of(study: Study, plan: Plan, shard: str = "", network: tuple[NetworkEvent, ...] = ()) -> ShardHeader:
    """Return the first line of a shard of a study."""
    return ShardHeader(
        theodolite_shard=FORMAT,
        study=study.name,
        study_version=version_of(study),
        plan_version=version_of(plan),
        shard=shard,
        network=network,
    )


def share_of(budget: Budget, shard: Shard) -> Budget:
    """Return the share of a budget for one shard, so that all shards together stay within the budget."""
    return Budget(
        usd=None if budget.usd is None else budget.usd / shard.count,
        tokens=None if budget.tokens is None else max(1, budget.tokens // shard.count),
        calls=None if budget.calls is None else max(1, budget.calls // shard.count),
    )


def session_results(
    store: Store, study: Study, run: Run, sessions: Sessions, at: Sequence[int]
) -> Iterator[SessionResult]:
    """Yield the results of finished sessions, in order of the plan.

    Args:
        store: The database of the run.
        study: Names the annotators.
        run: The run.
        sessions: All sessions of the plan.
        at: Positions of the sessions.
    """
    origins = store.origins(run)
    rest = iter(at)
    while chunk := list(islice(rest, AT_ONCE)):
        yield from _results_at(store, study, run, sessions, chunk, origins)


def _results_at(
    store: Store, study: Study, run: Run, sessions: Sessions, at: Sequence[int], origins: dict[str, str]
) -> Iterator[SessionResult]:
    units = list(session_units(study, run, sessions, at))
    about = list(annotation_units(study, run, sessions, units, origins))
    dialogues = dict(as_planned(store.dialogues(run, at), sessions, at))
    annotations = {annotation.unit: annotation for annotation in store.annotations(run, at)}
    failures = {failure.unit: failure for failure in store.failures(run, at)}
    journals = store.journals([unit.key for unit in [*units, *about]])
    labels: dict[str, list[AnnotationResult]] = {}
    for unit in about:
        annotation, failure = annotations.get(origins.get(unit.key, unit.key)), failures.get(unit.key)
        if annotation or failure:
            entries = tuple(journals[unit.key])
            result = AnnotationResult(annotator=unit.annotator, entries=entries, annotation=annotation, failure=failure)
            labels.setdefault(unit.subject, []).append(result)
    for unit in units:
        dialogue, failure = dialogues.get(unit.position), failures.get(unit.key)
        if dialogue or failure:
            yield SessionResult(
                work_key=unit.work_key,
                position=unit.position,
                entries=tuple(journals[unit.key]),
                dialogue=dialogue,
                failure=failure,
                annotations=tuple(labels.get(unit.key, ())),
            )


@dataclass(slots=True)
class MergeCounts:
    """Results that a merge read, by outcome; counts.

    Attributes:
        dialogues: Results of sessions.
        annotations: Results of annotation units.
    """

    dialogues: Counter[MergeOutcome]
    annotations: Counter[MergeOutcome]


class Merge:
    """Receives the results of shards in the run of a workspace."""

    def __init__(self, store: MergingStore, study: Study, plan: Plan, sessions: Sessions) -> None:
        """Open the run of the plan, with all its units.

        Raises:
            InputError: If a process works on the run now.
        """
        self.run = store.open_run(study, plan)
        self.counts = MergeCounts(Counter(), Counter())
        self._store, self._study, self._sessions = store, study, sessions
        leased = (
            store.count_units(self.run, kind).get(UnitState.LEASED, 0) - store.count_orphans(self.run, kind)
            for kind in UnitKind
        )
        if any(leased):
            message = f"a process works on the run of `{study.name}` in this workspace; merge when it has ended"
            raise InputError(message)

    def receive(self, results: Iterable[SessionResult], at: Sequence[int]) -> None:
        """Store the results of sessions; existing ones are unchanged.

        Args:
            results: The results, in any order.
            at: Positions of the sessions that this workspace accepts; others are skipped.
        """
        taken = at if isinstance(at, range) else frozenset(at)
        selected = (result for result in results if result.position in taken)
        while chunk := list(islice(selected, AT_ONCE)):
            self._merge(chunk)

    def _merge(self, results: Sequence[SessionResult]) -> None:
        study, sessions = self._study, self._sessions
        by_position = {result.position: result for result in results}
        at = sorted(position for position in by_position if position < len(held_by_runs(sessions)))
        enter_units(self._store, study, self.run, sessions, at=at, adopt=True)
        units = list(session_units(study, self.run, sessions, at))
        origins = self._store.origins(self.run)
        about: dict[str, list[Unit]] = {}
        for unit in annotation_units(study, self.run, sessions, units, origins):
            about.setdefault(unit.subject, []).append(unit)
        found = [
            result
            for unit in units
            for result in _unit_results(by_position[unit.position], unit, about.get(unit.key, ()), origins)
        ]
        for result, outcome in zip(found, self._store.merge(found), strict=True):
            is_session = result.unit.kind is UnitKind.SESSION
            (self.counts.dialogues if is_session else self.counts.annotations)[outcome] += 1


def _unit_results(
    result: SessionResult, unit: Unit, about: Iterable[Unit], origins: dict[str, str]
) -> Iterator[UnitResult]:
    """Yield the results of one line under the keys of this workspace.

    Raises:
        InputError: If the line is of another session than the plan has at its position.
    """
    if result.work_key != unit.work_key:
        message = (
            f"the shard's session at position {result.position + 1} of the plan is not `{unit.label}` as this plan has"
            " it; run that shard again"
        )
        raise InputError(message)
    yield _unit_result(unit, result.entries, result.dialogue or result.failure, dialogue="")
    units = {one.annotator: one for one in about}
    for label in result.annotations:
        if label.annotator in units:
            dialogue = origins.get(unit.key, unit.key)
            yield _unit_result(
                units[label.annotator], label.entries, label.annotation or label.failure, dialogue=dialogue
            )


def _unit_result(
    unit: Unit, entries: tuple[JournalEntry, ...], result: Dialogue | Annotation | Failure | None, *, dialogue: str
) -> UnitResult:
    match result:
        case Dialogue():
            strategies = tuple(replace(strategy, dialogue=unit.key) for strategy in result.strategies)
            return UnitResult(unit=unit, entries=entries, result=replace(result, key=unit.key, strategies=strategies))
        case Annotation():
            return UnitResult(unit=unit, entries=entries, result=replace(result, unit=unit.key, dialogue=dialogue))
        case Failure():
            return UnitResult(unit=unit, entries=entries, result=replace(result, unit=unit.key))
        case None:
            message = f"the shard's line of `{unit.label}` has neither a result nor a failure; run that shard again"
            raise InputError(message)
