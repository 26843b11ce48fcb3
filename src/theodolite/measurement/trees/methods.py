"""Summary methods: functions of a node's children, with their requirements.

The registry is a value: built-in methods, and added ones.
The arithmetic of the built-in ones is in `summaries`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from theodolite.domain.errors import InputError


class Holds(StrEnum):
    """Value of a node."""

    NUMBERS = "numbers"
    LABELS = "labels"
    TEXTS = "texts"
    MEMBERS = "members"
    """Its children as they are."""


class RangeAfter(StrEnum):
    """The values that a summary can take."""

    SAME = "same"
    UNIT = "unit"
    PRODUCT = "product"


Combine: TypeAlias = Callable[[Sequence[float], Sequence[float]], float | None]
"""Computes one number from values and their weights (equal lengths, all values present, all weights above 0).

None if there is none.
"""

Describe: TypeAlias = Callable[[Mapping[str, int]], Mapping[str, int]]
"""Selects the labels to show from labels with their number of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryMethod:
    """One summary of children.

    Attributes:
        name: Its name in designs. A function that changes needs a new name,
            because trees with equal names are compared.
        takes: Type of values that children must hold; `MEMBERS` accepts any type.
        gives: Type of value of the node.
        needs_order: Whether higher must be worse in every child.
        needs_one_range: Whether all children must have one range and one orientation.
        needs_zero: Whether scales must start at 0.
        range_after: The values that it can take.
        is_monotone: Whether it never decreases if a child increases; only then can
            bounds of the children be propagated upwards.
        combine: The function, if it is not built in.
        describe: The function for labels, if it is not built in.
    """

    name: str
    takes: Holds = Holds.NUMBERS
    gives: Holds = Holds.NUMBERS
    needs_order: bool = False
    needs_one_range: bool = True
    needs_zero: bool = False
    range_after: RangeAfter = RangeAfter.SAME
    is_monotone: bool = True
    combine: Combine | None = None
    describe: Describe | None = None


Methods: TypeAlias = Mapping[str, SummaryMethod]
"""Name to method."""

AGGREGATION: Final = "aggregation"
MAX: Final = "max"
MEAN: Final = "mean"
MEDIAN: Final = "median"
SCALE_NORMALISED_MEDIAN: Final = "scale-normalised median"
PRODUCT: Final = "product"
SET: Final = "set"
TEXTS: Final = "texts"

BUILT_IN: Methods = MappingProxyType(
    {
        method.name: method
        for method in (
            SummaryMethod(name=AGGREGATION, takes=Holds.MEMBERS, gives=Holds.MEMBERS, needs_one_range=False),
            SummaryMethod(name=MAX, needs_order=True),
            SummaryMethod(name=MEAN),
            SummaryMethod(name=MEDIAN),
            SummaryMethod(name=SCALE_NORMALISED_MEDIAN, needs_zero=True, range_after=RangeAfter.UNIT),
            SummaryMethod(
                name=PRODUCT, needs_order=True, needs_one_range=False, needs_zero=True, range_after=RangeAfter.PRODUCT
            ),
            SummaryMethod(name=SET, takes=Holds.LABELS, gives=Holds.LABELS, needs_one_range=False),
            SummaryMethod(name=TEXTS, takes=Holds.TEXTS, gives=Holds.TEXTS, needs_one_range=False),
        )
    }
)
"""The methods of ARIA's Table 2, a product for likelihood and magnitude, and two for labels and texts."""


def methods_with(added: Iterable[SummaryMethod]) -> Methods:
    """Return the built-in methods and further ones.

    Raises:
        InputError: If one has no function, or the name of another.
    """
    known = dict(BUILT_IN)
    for method in added:
        if method.name in known:
            message = f"there is a summary method `{method.name}` already; give yours another name"
            raise InputError(message)
        function = method.combine if method.takes is Holds.NUMBERS else method.describe
        if function is None:
            message = f"summary method `{method.name}` on {method.takes.value} needs its function"
            raise InputError(message)
        known[method.name] = method
    return MappingProxyType(known)
