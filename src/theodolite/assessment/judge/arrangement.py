"""Arrangements: how one judge's repeated readings of a dialogue are made to differ.

Equal requests to a model without chance bring equal replies, which are no
independent votes. From the second reading on the request therefore differs in
what should not matter: the order in which labels and examples stand. Which
arrangement a vote was given under is kept with it, so that a judge that prefers
the first label shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from theodolite.domain.shown_order import labels_reversed

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The order in which one reading shows what has no order of its own.

    Attributes:
        replicate: Number of the reading, from 1; the first is as the guideline is written.
    """

    replicate: int = 1

    @property
    def is_reversed(self) -> bool:
        """Whether the labels stand in reverse order."""
        return labels_reversed(self.replicate)

    def points(self, values: Sequence[T]) -> tuple[T, ...]:
        """Return the points of a scale in the order of this reading."""
        return tuple(reversed(values)) if self.is_reversed else tuple(values)

    def turned(self, items: Sequence[T]) -> tuple[T, ...]:
        """Return examples in the order of this reading: each one stands first in its turn."""
        start = (self.replicate - 1) % len(items) if items else 0
        return (*items[start:], *items[:start])

    def words(self, n_examples: int) -> str:
        """Return how this reading differs from the first, in words; empty for the first.

        Args:
            n_examples: Examples of the guideline; count.
        """
        if self.replicate == 1:
            return ""
        start = (self.replicate - 1) % n_examples if n_examples else 0
        parts = ["labels reversed"] if self.is_reversed else []
        parts += [f"examples from {start + 1}"] if start else []
        return ", ".join(parts) or "another sheet number"
