"""Rankings: how far a judge puts units into the order that people put them in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.monitoring.order import Chance, RankingAgreement
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.order.chance import Null, null_of, rising_of_rows
from theodolite.measurement.order.entropy import all_triples_entropy, permutation_entropy
from theodolite.measurement.order.inversions import inversion_count
from theodolite.measurement.order.sequence import Floats, Whole, as_scores, ranks
from theodolite.measurement.order.subsequence import longest_increasing_subsequence

_PAIRS = "difference of shares of pairs"
_LARGEST = 1.0 - 1e-9


def ranking_agreement(
    human: Sequence[float | None], judge: Sequence[float | None], *, confidence: float = 0.95, seed: int = 0
) -> RankingAgreement:
    """Return how far a judge's scores follow the order of people's scores.

    This is what PEN, CIN and LIS were made for: people's ranking is the order
    in which the judge's scores are read, so that 0 inversions are agreement.
    Equal scores are no disagreement: CIN counts the pairs that the two put in
    opposite order, and LIS is the longest chain that rises strictly for both.

    Args:
        human: People's scores; shape (units,), None or NaN where one is missing.
        judge: The judge's scores of the same units; likewise.
        confidence: Coverage of tau's interval; fraction in (0, 1).
        seed: Of random orders, where there are too many to enumerate.

    Returns:
        Entropy in nats; CIN and LIS are counts; tau-b in -1..1 with the interval
        of Fieller, Hartley and Pearson.

    Raises:
        InputError: If the two do not score the same units, or fewer than three.

    Example:
        >>> found = ranking_agreement([1, 2, 3, 4, 5], [3, 1, 2, 5, 4])
        >>> found.cin, found.lis, round(found.tau.value, 2)
        (3, 3, 0.4)

    Source:
        Ning et al. (2024), PiCO: Peer review in LLMs based on consistency
        optimization, arXiv:2402.01830. Kendall (1945), Biometrika 33:239-251,
        doi:10.1093/biomet/33.3.239 (tau-b). Fieller, Hartley, Pearson (1957),
        Biometrika 44:470-481, doi:10.1093/biomet/44.3-4.470 (interval).
        Golden values: tests/golden/order.json.
    """
    check_confidence(confidence)
    people, scores = _both(human, judge)
    opposed = _opposed(people, scores)
    aligned = scores[np.lexsort((scores, people))].tolist()
    chance_cin, chance_lis = _chance(people, scores, opposed, seed)
    return RankingAgreement(
        n=len(people),
        n_missing=len(human) - len(people),
        pen=permutation_entropy(aligned),
        pen_all_triples=all_triples_entropy(aligned),
        cin=opposed,
        lis=_common_chain(people, scores),
        tau=_tau(people, scores, opposed, confidence),
        chance_cin=chance_cin,
        chance_lis=chance_lis,
    )


def _both(human: Sequence[float | None], judge: Sequence[float | None]) -> tuple[Floats, Floats]:
    if len(human) != len(judge):
        message = f"`human` and `judge` must score the same units; got {len(human)} and {len(judge)} scores"
        raise InputError(message)
    pairs = [
        (first, second)
        for first, second in zip(human, judge, strict=True)
        if first is not None and second is not None and not math.isnan(first) and not math.isnan(second)
    ]
    if len(pairs) < 3:
        message = f"a ranking needs 3 units that people and judge both scored; got {len(pairs)} of {len(human)}"
        raise InputError(message)
    return as_scores([p for p, _ in pairs], "human"), as_scores([j for _, j in pairs], "judge")


def _opposed(people: Floats, scores: Floats) -> int:
    """Count the pairs in opposite order: units of equal human score are put in the judge's order first."""
    return inversion_count(scores[np.lexsort((scores, people))].tolist())


def _common_chain(people: Floats, scores: Floats) -> int:
    """Return the longest chain that rises for both: units of equal human score are put in falling order first."""
    return longest_increasing_subsequence(scores[np.lexsort((-scores, people))].tolist())


def _tau(people: Floats, scores: Floats, opposed: int, confidence: float) -> Estimate | Undefined:
    n = len(people)
    pairs = n * (n - 1) // 2
    tied_people, tied_scores = _tied(ranks(people)), _tied(ranks(scores))
    both = _tied(ranks(people) * (int(ranks(scores).max()) + 1) + ranks(scores))
    if pairs in {tied_people, tied_scores}:
        who = "people" if tied_people == pairs else "the judge"
        return Undefined(reason=f"All scores of {who} are equal, so there is no order to follow.", n=n, unit=_PAIRS)
    alike = pairs - tied_people - tied_scores + both - opposed
    value = (alike - opposed) / math.sqrt((pairs - tied_people) * (pairs - tied_scores))
    value = min(1.0, max(-1.0, value))
    low, high = _fisher_ends(value, n, confidence)
    return Estimate(
        value=value, low=low, high=high, confidence=confidence, n=n, unit=_PAIRS, method="tau-b, Fisher's z", chance=0.0
    )


def _fisher_ends(value: float, n: int, confidence: float) -> tuple[float | None, float | None]:
    """Return tanh(atanh(tau) -+ z * sqrt(.437 / (n - 4))); no ends below 5 units."""
    if n < 5:
        return None, None
    middle = math.atanh(min(_LARGEST, max(-_LARGEST, value)))
    step = float(ndtri((1.0 + confidence) / 2.0)) * math.sqrt(0.437 / (n - 4))
    return min(math.tanh(middle - step), value), max(math.tanh(middle + step), value)


def _tied(rank: Whole) -> int:
    """Return the pairs of equal ranks; count."""
    sizes = np.unique(rank, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _chance(people: Floats, scores: Floats, opposed: int, seed: int) -> tuple[Chance | Undefined, Chance | Undefined]:
    """Return what judges would reach whose scores have nothing to do with people's."""
    null = null_of(scores, seed=seed)
    if isinstance(null, Undefined):
        return null, null
    groups = _groups(people)
    return null.of(lambda rows: _opposed_rows(rows, groups), opposed), _chain_chance(null, people, scores)


def _groups(people: Floats) -> Whole:
    return np.sort(ranks(people))


def _opposed_rows(rows: Whole, groups: Whole) -> Floats:
    found = np.zeros(len(rows))
    for lag in range(1, rows.shape[1]):
        found += ((rows[:, :-lag] > rows[:, lag:]) & (groups[:-lag] < groups[lag:])).sum(axis=1)
    return found


def _chain_chance(null: Null, people: Floats, scores: Floats) -> Chance:
    groups = _groups(people)

    def chains(rows: Whole) -> Floats:
        keys = groups * (int(rows.max()) + 2) - rows
        ordered = np.take_along_axis(rows, np.argsort(keys, axis=1), axis=1)
        return rising_of_rows(ordered)

    return null.of(chains, _common_chain(people, scores))
