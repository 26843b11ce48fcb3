"""Charts of agreement: a number with its interval on an axis, and the distribution of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.web.annotator.questions import worded

WIDTH, MARGIN = 220, 10
"""Size of a strip; pixels."""

LOWEST, HIGHEST = -0.5, 1.0
"""Ends of the axis on which agreement is drawn; alpha beyond the lower end is drawn at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBar:
    """A number with its interval, as words and as places on an axis.

    Attributes:
        words: Estimate, interval and count; or why there is none.
        at: Place of the estimate; pixels, None where it is undefined.
        low: Place of the interval's lower end; pixels.
        high: Place of its upper end; pixels.
    """

    words: str
    at: float | None = None
    low: float = 0.0
    high: float = 0.0

    @property
    def length(self) -> float:
        """Length of the interval; pixels."""
        return self.high - self.low


def interval_bar(found: Estimate | Undefined) -> IntervalBar:
    """Return a number as a strip; what is undefined says why in words."""
    if isinstance(found, Undefined):
        return IntervalBar(words=f"undefined: {found.reason}")
    at = place_of(found.value)
    if found.low is None or found.high is None:
        return IntervalBar(words=f"{short(found.value)}, without an interval, from {found.n}", at=at, low=at, high=at)
    words = f"{short(found.value)} ({short(found.low)} to {short(found.high)}), from {found.n}"
    return IntervalBar(words=words, at=at, low=place_of(found.low), high=place_of(found.high))


def short(value: float) -> str:
    """Return a number in two places, without the nought before the point.

    Example:
        >>> short(-0.504)
        '-.50'
    """
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def place_of(value: float) -> float:
    """Return where a number stands on the axis; pixels."""
    share = (min(max(value, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return round(MARGIN + WIDTH * share, 1)


TINTS = 10
"""Tints of a bar, from the first label of the scale to its last; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One label of a bar: which tint, where it begins and how long it is; pixels."""

    tint: int
    at: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """How labels are spread: parts of one bar in the order of the scale, and the same in words."""

    words: str
    parts: tuple[Part, ...]


def bar_of(counts: Sequence[tuple[str, int]]) -> Bar:
    """Return how labels are spread as a bar; labels that nobody gave stand in neither.

    Args:
        counts: Label to how often it was given, in the order of the scale; counts.
    """
    total, at, parts = sum(n for _, n in counts), 0.0, []
    for place, (_, n) in enumerate(counts):
        length = round(WIDTH * n / total, 1) if total else 0.0
        if n:
            parts.append(Part(tint=place * (TINTS - 1) // max(len(counts) - 1, 1), at=round(at, 1), length=length))
        at += length
    return Bar(
        words=", ".join(f"{worded(label)}: {n}" for label, n in counts if n) or "nothing yet", parts=tuple(parts)
    )
