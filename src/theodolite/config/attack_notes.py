"""Notes on attacks: what keeps a simulated red teamer from finding anything, and makes a nought mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.scenarios import ScenarioSpec
from theodolite.domain.fault import Severity
from theodolite.domain.strategy import StrategyInfo


def note_attacks(entry: Entry[ScenarioSpec], context: LoadContext, strategies: Sequence[StrategyInfo]) -> None:
    """Note what keeps the strategies of a scenario from being tried in full, or from being seen to succeed."""
    path = ("attacks",) if entry.spec.attacks else ()
    for message in _reasons(entry, strategies):
        context.diagnostics.add(entry.fault(*path, message=message, severity=Severity.NOTE, at_key=True))


def _reasons(entry: Entry[ScenarioSpec], strategies: Sequence[StrategyInfo]) -> Iterator[str]:
    turns = entry.spec.turns
    # A model makes do with the turns that it is given; fixed steps that come too late are never said.
    cut = [
        f"`{strategy.name}` ({strategy.tries} steps)"
        for strategy in strategies
        if strategy.tries > turns and not strategy.needs_model
    ]
    if cut:
        allowed = "1 turn" if turns == 1 else f"{turns} turns"
        yield f"scenario `{entry.name}` ends after {allowed}, too early for all of {', '.join(cut)}: raise `turns`"
    if strategies and not entry.spec.signs.released:
        yield (
            f"nothing tells whether an attack in scenario `{entry.name}` succeeds: add words that only a release"
            " holds, e.g. `signs: {released: [heron seven]}`"
        )
