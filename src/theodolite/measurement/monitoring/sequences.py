"""Confidence sequences: intervals that one may look at as often as one likes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.interval import check_confidence, whole_count
from theodolite.measurement.order.sequence import Floats
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED

METHOD: Final = "confidence sequence, beta mixture"
"""Name of the interval that is valid at every look."""

_STEPS = 60


def confidence_sequence(
    defects: int, labelled: int, *, confidence: float = 0.95, prior: tuple[float, float] = (0.5, 0.5)
) -> Estimate | Undefined:
    """Estimate a share of defects with an interval that is valid at every look.

    An interval that is looked at after every session misses the truth some time
    in 40 to 49 % of histories if it is Wilson's. This one misses it in 1 -
    `confidence` of them at most, however often one looks and whenever one
    stops: it holds the shares against which a mixture of all others has not
    won the odds 1 / (1 - confidence). The price is width.

    Args:
        defects: Sessions with a defect until now; count.
        labelled: Sessions with a label until now; count.
        confidence: Share of histories in which the truth is never missed; fraction in (0, 1).
        prior: Parameters of the mixing beta distribution.

    Returns:
        Unit: fraction of dialogues. `Undefined` when `labelled` is 0.

    Raises:
        InputError: If `defects` is outside 0..labelled.

    Example:
        >>> found = confidence_sequence(5, 100)
        >>> round(found.low, 5), round(found.high, 5)
        (0.00715, 0.15579)

    Source:
        Robbins (1970), Statistical methods related to the law of the iterated
        logarithm, Annals of Mathematical Statistics 41:1397-1409; Howard,
        Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric,
        nonasymptotic confidence sequences, Annals of Statistics 49:1055-1080.
        Golden values: tests/golden/monitoring.json.
    """
    defects, labelled = whole_count(defects, "defects"), whole_count(labelled, "labelled")
    check_confidence(confidence)
    if defects > labelled:
        message = f"`defects` must be within 0..`labelled`; got defects={defects}, labelled={labelled}"
        raise InputError(message)
    if labelled == 0:
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=METHOD)
    low, high = sequence_ends(np.array([defects]), np.array([labelled]), confidence, prior)
    return Estimate(
        value=defects / labelled,
        low=float(low[0]),
        high=float(high[0]),
        confidence=confidence,
        n=labelled,
        unit=DIALOGUES,
        method=METHOD,
        count=defects,
    )


def sequence_ends(
    defects: Sequence[int] | Floats, labelled: Sequence[int] | Floats, confidence: float, prior: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return both ends at each look; shapes (looks,), fractions.

    The log odds of the mixture against a share p are 0 or more at both ends of
    0..1 and fall to their minimum at the observed share, so each end is found
    by halving.
    """
    k, n = np.asarray(defects, dtype=np.float64), np.asarray(labelled, dtype=np.float64)
    a, b = prior
    mixed, wanted = betaln(a + k, b + n - k) - betaln(a, b), math.log(1.0 / (1.0 - confidence))

    def is_inside(share: Floats) -> Floats:
        return np.asarray(mixed - xlogy(k, share) - xlog1py(n - k, -share) < wanted)

    middle = k / n
    ends = []
    for outer in (np.zeros_like(middle), np.ones_like(middle)):
        inside, outside = middle.copy(), outer
        for _ in range(_STEPS):
            half = (inside + outside) / 2.0
            kept = is_inside(half)
            inside, outside = np.where(kept, half, inside), np.where(kept, outside, half)
        ends.append(np.where(is_inside(outer), outer, outside))
    return ends[0], ends[1]
