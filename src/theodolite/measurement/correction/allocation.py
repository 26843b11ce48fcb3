"""Allocation: which dialogues people should label next, and what that will tell."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from theodolite.domain.errors import InputError
from theodolite.measurement.correction.chances import JEFFREYS, beta_chances, lattice, middle
from theodolite.measurement.correction.strata import Labels, Strata, Verdicts, strata
from theodolite.measurement.interval import check_confidence, whole_count

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Which dialogues to label next.

    Attributes:
        take: How many more to label of each verdict; counts.
        dialogues: Their places among the dialogues, drawn at random within a verdict.
        width: Width of the corrected rate's interval that is expected then; fraction.
        width_at_random: The same, were they drawn at random from all.
        width_now: Width with the labels there are; 1 where there is no rate yet.
    """

    take: dict[str, int]
    dialogues: tuple[int, ...]
    width: float
    width_at_random: float
    width_now: float


def plan_labels(
    verdicts: Verdicts, labels: Labels, *, budget: int, seed: int = 0, confidence: float = 0.95
) -> LabelPlan:
    """Plan which dialogues people should label next so that the corrected rate tells most.

    A verdict gets labels in proportion to its share of the dialogues and to how
    much its rate of defects may still vary. That is mostly the large heap of
    sound ones, where a few missed defects weigh heavily: labelling alarms
    alone is the wrong design.

    Args:
        verdicts: The judge's verdict on every dialogue.
        labels: What people found so far; None = nobody looked.
        budget: Dialogues that people can label; count.
        seed: Where the draw within verdicts begins.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        Counts, dialogues and the widths to expect; clusters would widen them.

    Raises:
        InputError: If there is no dialogue, or fewer are left than `budget`.

    Example:
        >>> plan = plan_labels([True] * 100 + [False] * 900, [None] * 1000, budget=100)
        >>> plan.take["defect"] < plan.take["sound"], len(plan.dialogues)
        (True, 100)

    Source:
        Neyman (1934), Journal of the Royal Statistical Society 97:558-606.
    """
    check_confidence(confidence)
    budget = whole_count(budget, "budget")
    heaps = strata(verdicts, labels, None)
    free = np.array([part.judged - part.labelled for part in heaps.parts], dtype=np.int64)
    if budget > free.sum():
        message = f"`budget` must be at most the {int(free.sum())} dialogues without a label; got {budget}"
        raise InputError(message)
    take = _neyman(heaps, free, budget)
    at_random = budget * free / max(int(free.sum()), 1)
    seen = all(part.labelled for part in heaps.parts)
    return LabelPlan(
        take={part.verdict: int(count) for part, count in zip(heaps.parts, take, strict=True)},
        dialogues=_drawn(verdicts, labels, take, seed),
        width=_width(heaps, take.astype(np.float64), confidence),
        width_at_random=_width(heaps, at_random, confidence),
        width_now=_width(heaps, np.zeros(len(free)), confidence) if seen else 1.0,
    )


def _neyman(heaps: Strata, free: Whole, budget: int) -> Whole:
    """Return how many to take of each verdict, one after another where the variance falls most."""
    labelled = np.array([part.labelled for part in heaps.parts], dtype=np.float64)
    spread = heaps.shares * np.array([_expected_sd(part.defects, part.labelled) for part in heaps.parts])
    take = np.zeros(len(free), dtype=np.int64)
    for _ in range(budget):
        n = labelled + take + 2.0 * JEFFREYS
        gain = np.where(take < free, spread**2 / (n * (n + 1.0)), -1.0)
        # A verdict that nobody has looked at leaves the rate unknown.
        first = np.flatnonzero((labelled + take == 0) & (free > 0))
        take[first[0] if len(first) else int(np.argmax(gain))] += 1
    return take


def _expected_sd(defects: int, labelled: int) -> float:
    """Return the mean of the root of p (1 - p) over Jeffreys' posterior of p."""
    a, b = defects + JEFFREYS, labelled - defects + JEFFREYS
    return float(np.exp(betaln(a + 0.5, b + 0.5) - betaln(a, b)))


def _width(heaps: Strata, more: Floats, confidence: float) -> float:
    """Return the width of the interval if further labels look like what is expected now."""
    shares, _ = heaps.chances()
    k = len(heaps.parts)
    spread = lattice(2 * k - 1)[k - 1 :]
    defects = []
    for part, extra, points in zip(heaps.parts, more, spread, strict=True):
        rate = (part.defects + JEFFREYS) / (part.labelled + 2.0 * JEFFREYS)
        found = part.defects + extra * rate
        defects.append(beta_chances(found, part.labelled + extra - found, points))
    low, high = middle((shares * np.array(defects)).sum(axis=0), confidence)
    return high - low


def _drawn(verdicts: Sequence[Hashable], labels: Labels, take: Whole, seed: int) -> tuple[int, ...]:
    rng = np.random.default_rng(seed)
    drawn: list[int] = []
    for kind, count in zip(dict.fromkeys(verdicts), take.tolist(), strict=True):
        free = [
            place
            for place, (verdict, label) in enumerate(zip(verdicts, labels, strict=True))
            if verdict == kind and label is None
        ]
        drawn += sorted(int(place) for place in rng.choice(free, size=count, replace=False)) if count else []
    return tuple(drawn)
