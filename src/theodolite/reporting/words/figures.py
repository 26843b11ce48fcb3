"""Displayed figures: one decimal, thousands separated, never a bare percent."""

from __future__ import annotations

import re

FEW = 10
"""Number of units below which only the count is shown, without a percentage."""


def count(number: int) -> str:
    """Return a count with separated thousands, e.g. `2,250`."""
    return f"{number:,}"


def percent(fraction: float) -> str:
    """Return a fraction as percent with one decimal, e.g. `38.0%`.

    A share that is not zero is never printed as if it were.
    """
    if 0 < fraction < 0.0005:
        return "<0.1%"
    return f"{100 * fraction:z.1f}%"


def points(fraction: float) -> str:
    """Return a fraction as percent without the sign, e.g. `38.0`."""
    return percent(fraction).removesuffix("%")


def share(part: int, whole: int) -> str:
    """Return a count out of a total, with its percentage if there are enough units.

    Example:
        >>> share(95, 250), share(2, 6)
        ('95 of 250 (38.0%)', '2 of 6')
    """
    text = f"{count(part)} of {count(whole)}"
    return text if whole < FEW else f"{text} ({percent(part / whole)})"


def span(low: float, high: float) -> str:
    """Return two fractions as a range in percent, e.g. `32.2 to 44.2`."""
    return f"{points(low)} to {points(high)}"


def coefficient(value: float) -> str:
    """Return a coefficient of agreement with two decimals, e.g. `.89`; a rounded 0 has no sign."""
    return re.sub(r"^(-?)0(?=\.)", r"\1", f"{value:z.2f}")


def duration(seconds: float) -> str:
    """Return a duration as minutes and seconds, or hours, e.g. `0:38 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d} h"


def number_of(amount: int, one: str, many: str = "") -> str:
    """Return a count with its noun, e.g. `1 judge`, `2 judges`."""
    return f"{count(amount)} {one if amount == 1 else many or one + 's'}"
