"""Ordering: in which order the next sitting shows what its study shows in several orders.

Each thing that is varied is drawn by itself: the way that this dialogue was shown in least
so far, then the way that this annotator was shown least, then a draw by the seed. So each
dialogue is seen in both orders as soon as two people annotate it, and each annotator sees
equally many of both; and what is drawn of one thing says nothing of another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from theodolite.domain.identity import keyed_draw
from theodolite.domain.instrument import Instrument
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.shown_order import ShownOrder, n_orders

T = TypeVar("T")

WAYS: Final = (False, True)
"""As written, and reversed."""


def next_order(
    process: AnnotationProcess,
    instrument: Instrument,
    *,
    sitting: str,
    of_dialogue: Sequence[ShownOrder] = (),
    of_annotator: Sequence[ShownOrder] = (),
    backwards: bool | None = None,
) -> ShownOrder:
    """Return the order that a sitting shows for good.

    Args:
        process: What is varied, and the seed of draws.
        instrument: What is asked.
        sitting: What tells this sitting from all others of the study; draws hang on it.
        of_dialogue: Orders in which others were shown this dialogue in this category.
        of_annotator: Orders that this annotator was shown in this category.
        backwards: Whether this annotator meets the queue from its end; None where that is not varied.

    Source:
        Taves (1974), Minimization: a new method of assigning patients to
        treatment and control groups, Clinical Pharmacology and Therapeutics 15:443-453;
        Pocock, Simon (1975), Sequential treatment assignment with balancing for
        prognostic factors in the controlled clinical trial, Biometrics 31:103-115.
    """
    plan, rows = process.order, n_orders(instrument, process.order.questions)

    def least_shown(name: str, ways: Sequence[T], way_of: Callable[[ShownOrder], T | None]) -> T:
        counts = [[way_of(order) for order in orders] for orders in (of_dialogue, of_annotator)]
        draws = {way: keyed_draw(process.seed, f"order of {name}", f"{sitting} {way}") for way in ways}
        return min(ways, key=lambda way: (counts[0].count(way), counts[1].count(way), draws[way]))

    return ShownOrder(
        row=least_shown("questions", range(1, rows + 1), lambda one: one.row if one.rows == rows else None)
        if rows
        else 0,
        rows=rows,
        options=least_shown("options", WAYS, lambda one: one.options) if plan.options else None,
        turns=least_shown("turns", WAYS, lambda one: one.turns) if plan.turns else None,
        dialogues=backwards,
    )


def comes_backwards(process: AnnotationProcess, annotator: str, others: Sequence[bool]) -> bool:
    """Return whether an annotator who is new to a queue meets it from its end: the way that fewer others took.

    Args:
        process: The seed of the draw where both ways were taken equally often.
        annotator: Opaque key of the annotator.
        others: The way that each other annotator of the queue took.
    """
    n_back = sum(others)
    if 2 * n_back != len(others):
        return 2 * n_back < len(others)
    return keyed_draw(process.seed, "direction of the queue", annotator) < 0.5
