"""Units of nodes, read back as the ranges that they name."""

from __future__ import annotations

from theodolite.domain.trees.tree import ValueRange

_POINTS = "points from "


def range_of(unit: str) -> ValueRange | None:
    """Return the range that a unit names, e.g. `points from 0 to 10`; None for any other unit.

    Example:
        >>> range_of("points from 0 to 10").highest
        10.0
    """
    words = unit.removeprefix(_POINTS).split(" to ")
    if len(words) != 2 or not unit.startswith(_POINTS):
        return None
    return ValueRange(lowest=float(words[0]), highest=float(words[1]))
