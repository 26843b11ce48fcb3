"""Pace: how long an annotator has been at it without a break, and how long what waits will take them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from statistics import median

BREAK = timedelta(minutes=10)
"""A pause from which on somebody counts as rested."""

REST_AFTER_MIN = 45
"""Minutes at work after which an annotator is reminded to rest, where the study says nothing else."""


def minutes_at_work(moments: Collection[datetime], now: datetime) -> float:
    """Return how long somebody has worked without a break; minutes, 0 for whoever rests now.

    Args:
        moments: When they did something: took, saved, submitted.
        now: The present moment.

    Example:
        >>> from datetime import UTC
        >>> at = [datetime(2026, 11, 22, 9, minute, tzinfo=UTC) for minute in (0, 30, 36, 44)]
        >>> minutes_at_work(at, datetime(2026, 11, 22, 9, 50, tzinfo=UTC))
        20.0
    """
    begun = now
    for moment in sorted(moments, reverse=True):
        if begun - moment >= BREAK:
            break
        begun = moment
    return (now - begun).total_seconds() / 60


def minutes_left(spent: Collection[float], n_left: int) -> float | None:
    """Return how long what waits takes at somebody's own pace so far; minutes, None before their third dialogue.

    Args:
        spent: What their dialogues took, from taking to submitting; minutes. A night in between weighs
            no more than any long one, since the middle one counts.
        n_left: Dialogues that wait for them; count.
    """
    return median(spent) * n_left if len(spent) >= 3 else None
