"""How a sitting ended, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from theodolite.domain.failure import Failure
from theodolite.domain.run import Spending
from theodolite.domain.study import Budget
from theodolite.usecases.running import Standing

BY_USER = "stopped by you"
"""Reason of a stop that the user asked for."""

_MICRO = 1_000_000


def stopped_text(standing: Standing, *, spent: Spending, budget: Budget, at: datetime, command: str, path: str) -> str:
    """Return what to say when a run stopped before its plan was done."""
    kept = (
        f"{standing.dialogues:,} of {standing.planned:,} dialogues, "
        f"{standing.annotated:,} of {standing.due:,} annotations"
    )
    if standing.stopped == BY_USER:
        return f"Stopped. {kept} are kept. Go on with the same command."
    lines = [
        f"Stopped at {at.astimezone():%H:%M:%S}: {standing.stopped}",
        f"  Kept    {kept}; none will be paid twice",
        f"  Spent   {spent_text(spent, budget)}",
        f"  Go on   put it right, then  {command}",
        f"  So far  theodolite report {path} --unfinished",
    ]
    return "\n".join(lines)


def spent_text(spent: Spending, budget: Budget) -> str:
    """Return money and calls, and what the budget allows."""
    limit = f" of ${budget.usd:.2f}" if budget.usd is not None else ""
    unpriced = f", {spent.unpriced_calls:,} calls without a known price" if spent.unpriced_calls else ""
    return f"${spent.cost_microusd / _MICRO:.2f}{limit}, {spent.calls:,} calls{unpriced}"


def nothing_text(standing: Standing, failures: Sequence[Failure]) -> str:
    """Return what to say when no dialogue, or no annotation, succeeded; empty where one did."""
    if standing.dialogues and (standing.annotated or not standing.due):
        return ""
    what = "annotation" if standing.dialogues else "dialogue"
    lines = [f"No {what} succeeded, so there is nothing to measure: not a rate of 0, but no rate."]
    causes = Counter((failure.party.value, failure.endpoint, failure.kind.value) for failure in failures)
    for (party, endpoint, kind), n in causes.most_common():
        example = next(f for f in failures if (f.party.value, f.endpoint, f.kind.value) == (party, endpoint, kind))
        lines.append(f"  {n:,} x {party} `{endpoint}` {kind}, e.g. {example.label}: {example.message}")
    lines.append(
        "  Put it right, then run again with  --retry-failed" if failures else "  Go on with the same command."
    )
    return "\n".join(lines)
