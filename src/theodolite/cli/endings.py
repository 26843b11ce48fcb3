"""How a sitting ended, in words."""

from __future__ import annotations

from datetime import datetime

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


def nothing_text(standing: Standing) -> str:
    """Return what to say when no dialogue, or no annotation, succeeded; empty where one did."""
    if not standing.dialogues:
        return "No dialogue succeeded, so there is nothing to measure; the failures above say whose fault it was."
    if standing.due and not standing.annotated:
        return "No annotation succeeded, so there is nothing to measure; the failures above say whose fault it was."
    return ""
