"""Answers to questionnaires: description, permutation tests over people, and agreement on sets of codes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.undefined_reasons import ALL_EQUAL, NO_SHARED_UNIT, SAME_ANSWER, TOO_FEW_PEOPLE
from theodolite.measurement.interval import CORRECTED, Concord, beyond_chance, check_confidence, student_quantile
from theodolite.measurement.labels import (
    ClusterIds,
    ClusterSums,
    Label,
    cluster_sizes,
    label_text,
    scale_points,
    selected_clusters,
)
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.scores import average_ranks

Floats = NDArray[np.float64]

MOST_WAYS: Final = 20_000
"""Maximum number of arrangements to enumerate; otherwise a random sample is drawn."""


SAME: Final = 1e-9
"""Difference of two statistics below which they are equal."""


def people_permutation(
    answers: Sequence[float | None],
    sides: Sequence[str],
    people: Sequence[str],
    *,
    draws: int = 9_999,
    seed: int = 1,
) -> Significance | Undefined:
    """Test whether people answer higher about one of two subjects; each person counts once.

    Answers are converted to ranks, so only the order of the scale counts. If
    at least two people answered about both subjects, each of them is compared with
    themselves and their two sides are exchanged; otherwise whole people are exchanged
    between the sides, with all arrangements at once if there are only two kinds of people.
    The only assumption is that people are independent.

    Args:
        answers: Points of an ordered scale; None = none given, left out.
        sides: Subjects of each answer; two different ones.
        people: The person behind each answer.
        draws: Number of random arrangements if there are too many to enumerate; count.
        seed: Seed of the random generator.

    Returns:
        Two-sided p-value, exact for few people; n counts answers,
        clusters count people. The statistic is the mean difference of ranks, second
        side (in alphabetical order) minus first; the effect ranges from -1 to 1:
        the share of people, or pairs of people, for whom the second is higher minus the share
        for whom it is lower. `Undefined` with too few people or equal answers.

    Raises:
        InputError: If lengths differ, or there are not two sides.

    Example:
        >>> test = people_permutation([1, 5, 2, 4, 1, 4], ["a", "b"] * 3, ["p", "p", "q", "q", "r", "r"])
        >>> test.p_value, test.effect, test.method
        (0.25, 1.0, 'permutation within people, exact')

    Source:
        Fisher (1935), The Design of Experiments, section 21; drawn arrangements
        count the observed one: Phipson, Smyth (2010), "Permutation P-values should
        never be zero", Statistical Applications in Genetics and Molecular Biology
        9, article 39.
    """
    names = sorted(set(sides))
    if not len(answers) == len(sides) == len(people) or len(names) > 2:
        message = f"`answers`, `sides` and `people` need one length and two sides; got {len(answers)} and {names}"
        raise InputError(message)
    selected = [position for position, answer in enumerate(answers) if answer is not None]
    values = np.array([float(answers[position] or 0.0) for position in selected])
    if len(set(values.tolist())) < 2:
        return Undefined(reason=ALL_EQUAL if len(values) else TOO_FEW_PEOPLE, n=len(values), method="permutation")
    by_person: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rank, position in zip(average_ranks(values), selected, strict=True):
        by_person[people[position]][sides[position]].append(float(rank))
    return _within(by_person, names, draws, seed) or _between(by_person, names, draws, seed)


def _within(
    by_person: dict[str, dict[str, list[float]]], names: Sequence[str], draws: int, seed: int
) -> Significance | None:
    """Return the test of people with answers about both sides; None with fewer than two."""
    both = [ranks for ranks in by_person.values() if len(ranks) == 2]
    if len(both) < 2:
        return None
    gaps = np.array([np.mean(ranks[names[1]]) - np.mean(ranks[names[0]]) for ranks in both])
    is_whole = 2 ** len(gaps) <= MOST_WAYS
    signs: Floats = (
        np.array(list(product((1.0, -1.0), repeat=len(gaps))))
        if is_whole
        else np.random.default_rng(seed).choice((1.0, -1.0), size=(draws, len(gaps)))
    )
    observed = float(gaps.mean())
    rises, falls = int((gaps > SAME).sum()), int((gaps < -SAME).sum())
    return Significance(
        p_value=_share((signs * gaps).mean(axis=1), observed, is_whole=is_whole),
        statistic=observed,
        method=f"permutation within people, {'exact' if is_whole else f'{draws:,} draws'}",
        n=sum(len(ranks[name]) for ranks in both for name in names),
        effect=(rises - falls) / len(gaps),
        effect_name="people with the second higher minus people with it lower, as a share",
        n_clusters=len(gaps),
    )


def _between(
    by_person: dict[str, dict[str, list[float]]], names: Sequence[str], draws: int, seed: int
) -> Significance | Undefined:
    """Return the test of whole people: people with answers about both count on the side of most of their answers."""
    side = {person: _main_side(ranks, names) for person, ranks in by_person.items()}
    means = np.array([np.mean(ranks[side[person]]) for person, ranks in by_person.items()])
    second = np.array([side[person] == names[-1] for person in by_person])
    n, m = int((~second).sum()), int(second.sum())
    total = sum(len(ranks[side[person]]) for person, ranks in by_person.items())
    if min(n, m) < 2 or len(names) < 2:
        return Undefined(reason=TOO_FEW_PEOPLE, n=total, n_clusters=len(means), method="permutation")
    if np.ptp(means) < SAME:
        return Undefined(reason=ALL_EQUAL, n=total, n_clusters=len(means), method="permutation")
    result = float(means[second].mean() - means[~second].mean())
    if len(levels := np.unique(means)) == 2:
        p_value, is_whole = _of_two_kinds(means == levels[1], second), True
    else:
        is_whole = math.comb(n + m, m) <= MOST_WAYS
        chosen = np.array(list(_arrangements(n + m, m, draws, seed, is_whole=is_whole)))
        sums = means[chosen].sum(axis=1)
        p_value = _share(sums / m - (means.sum() - sums) / n, result, is_whole=is_whole)
    higher = np.sign(np.where(np.abs(gap := means[second][:, None] - means[~second][None, :]) < SAME, 0.0, gap))
    return Significance(
        p_value=p_value,
        statistic=result,
        method=f"permutation of people, {'exact' if is_whole else f'{draws:,} draws'}",
        n=total,
        effect=float(higher.mean()),
        effect_name="Cliff's delta of people",
        n_clusters=n + m,
    )


def _of_two_kinds(is_high: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the p-value for only two kinds of people: all arrangements at once, by the hypergeometric distribution."""
    n, m, high = int((~second).sum()), int(second.sum()), int(is_high.sum())
    there = np.arange(max(0, high - n), min(high, m) + 1)
    gaps = np.abs(there / m - (high - there) / n)
    seen = int((is_high & second).sum())
    log_count = gammaln(m + 1) - gammaln(there + 1) - gammaln(m - there + 1)
    log_count += gammaln(n + 1) - gammaln(high - there + 1) - gammaln(n - high + there + 1)
    shares = np.exp(log_count - logsumexp(log_count))
    return min(1.0, float(shares[gaps >= abs(seen / m - (high - seen) / n) - SAME].sum()))


def _main_side(ranks: dict[str, list[float]], names: Sequence[str]) -> str:
    """Return the side of most of a person's answers; the first one in a tie."""
    return max(names, key=lambda name: len(ranks.get(name, ())))


def _arrangements(n: int, m: int, draws: int, seed: int, *, is_whole: bool) -> Iterator[Sequence[int]]:
    """Yield each choice of m of n people as the second side."""
    if is_whole:
        yield from combinations(range(n), m)
        return
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield rng.permutation(n)[:m].tolist()


def _share(statistics: Floats, found: float, *, is_whole: bool) -> float:
    """Return the share of arrangements at least as extreme; random ones include the observed one."""
    as_far = int((np.abs(statistics) >= abs(found) - SAME).sum())
    return as_far / len(statistics) if is_whole else (as_far + 1) / (len(statistics) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDescription:
    """The answers to one question on an ordered scale.

    Attributes:
        counts: Frequency of each point of the scale, in its order.
        n: Answers; count.
        missing: People without an answer; count.
        median: The point at or below which half of the answers are; None if there is none.
        lower_quartile: The point at or below which a quarter are; None if there is none.
        upper_quartile: The point at or below which three quarters are; None if there is none.
        top_two: Share of answers on the highest points; two by default.
    """

    counts: dict[str, int]
    n: int
    missing: int
    median: str | None
    lower_quartile: str | None
    upper_quartile: str | None
    top_two: Estimate | Undefined


def describe_answers(
    answers: Sequence[Label],
    *,
    categories: Sequence[Label],
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
    top: int = 2,
) -> AnswerDescription:
    """Describe the answers to one question on an ordered scale.

    Quartiles are points of the scale, never between two of them: there is no
    answer between "agree" and "strongly agree".

    Args:
        answers: One per person; None or NaN = missing.
        categories: The full scale in order, used or not.
        clusters: The cluster of each answer, e.g. the person, if one gives
            several; None = answers are independent.
        confidence: Coverage of the interval; fraction in (0, 1).
        top: Number of highest points whose share is reported; count. Short scales need fewer than two.

    Returns:
        Counts, quartiles and the share of the highest points.

    Raises:
        InputError: If an answer is not on the scale.

    Example:
        >>> found = describe_answers([1, 4, 4, 5, None], categories=range(1, 6))
        >>> found.median, found.lower_quartile, found.upper_quartile, found.missing, found.top_two.value
        ('4', '1', '4', 1, 0.75)

    Source:
        Quartiles by the inverse of the distribution, definition 1 of Hyndman,
        Fan (1996), The American Statistician 50:361-365.
    """
    check_confidence(confidence)
    points = scale_points(categories)
    texts = [label_text(answer) for answer in answers]
    strange = sorted({text for text in texts if text is not None} - set(points))
    if strange:
        message = f"`categories` must hold every answer: {list(points)}; got {strange}. Give the full scale"
        raise InputError(message)
    answered = [text for text in texts if text is not None]
    counts = {point: answered.count(point) for point in points}
    is_top = [text in points[-top:] for text in answered]
    ids = selected_clusters(clusters, [text is not None for text in texts])
    return AnswerDescription(
        counts=counts,
        n=len(answered),
        missing=len(texts) - len(answered),
        median=_point(counts, len(answered), 0.5),
        lower_quartile=_point(counts, len(answered), 0.25),
        upper_quartile=_point(counts, len(answered), 0.75),
        top_two=defect_rate(sum(is_top), len(is_top), confidence=confidence, clusters=cluster_sizes(is_top, ids)),
    )


def _point(counts: dict[str, int], n: int, share: float) -> str | None:
    """Return the first point with at least this cumulative share of the answers."""
    seen = 0
    for point, count in counts.items():
        seen += count
        if n and seen >= share * n:
            return point
    return None


Codes = frozenset[str]


def masi_distance(first: Collection[str], second: Collection[str]) -> float:
    """Return the distance of two sets: 0 for the same set, 1 for disjoint sets.

    1 - J M: J is the share of common members among all, M is 1 for equal sets, 2/3
    if one contains the other, 1/3 if they overlap, 0 if they are disjoint.
    Two empty sets are the same.

    Args:
        first: Names of codes.
        second: Names of codes.

    Example:
        >>> round(masi_distance({"a"}, {"a", "b"}), 4)
        0.6667

    Source:
        Passonneau (2006), Measuring Agreement on Set-valued Items (MASI) for
        Semantic and Pragmatic Annotation, Proceedings of LREC 2006.
    """
    one, other = frozenset(first), frozenset(second)
    if one == other:
        return 0.0
    common = len(one & other)
    alike = Fraction(common, len(one | other))
    nested = Fraction(2, 3) if one < other or other < one else Fraction(1, 3)
    return float(1 - alike * nested) if common else 1.0


def set_alpha(
    given: Sequence[Sequence[Collection[str]]], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the agreement beyond chance of people who assign sets of codes to texts.

    Krippendorff's alpha with the distance MASI, so that sets that share a code
    agree in part.

    Args:
        given: One entry per text: the set of each of its coders; texts with
            fewer than two are omitted.
        clusters: The cluster of each text, e.g. its author; None = texts are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the texts with at least two sets; the
        interval is a jackknife over texts or clusters on the logarithm of
        1 - alpha, with Student's t. `Undefined` when no text has two sets or one
        set only occurs.

    Example:
        >>> alpha = set_alpha([[{"a"}, {"a"}], [{"a"}, {"a", "b"}], [{"b"}, {"b"}]])
        >>> round(alpha.value, 4), alpha.n
        (0.6429, 3)

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; distance: `masi_distance`;
        jackknife: Efron, Stein (1981), Annals of Statistics 9:586-596,
        doi:10.1214/aos/1176345462.
    """
    check_confidence(confidence)
    is_shared = [len(sets) >= 2 for sets in given]
    units = [[frozenset(codes) for codes in sets] for sets, selected in zip(given, is_shared, strict=True) if selected]
    kinds = sorted({codes for sets in units for codes in sets}, key=sorted)
    if not units:
        return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
    if len(kinds) < 2:
        return Undefined(reason=SAME_ANSWER, n=len(units), unit=CORRECTED)
    ids = selected_clusters(clusters, is_shared)
    distance = np.array([[masi_distance(a, b) for b in kinds] for a in kinds])
    sums = ClusterSums.of_units(_sums(units, kinds, distance), ids)

    def alphas(totals: Floats) -> Floats:
        return _alphas(totals, distance)

    concord = _concord(units, sums.total[1:], ids)
    value, error = float(alphas(sums.total)), sums.jackknife_error(alphas)
    over = "jackknife over units" if ids is None else "jackknife over clusters"
    quantile = student_quantile(confidence, max(sums.n - 1, 1))
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=f"{over}, distance MASI")


def _sums(units: Sequence[Sequence[Codes]], kinds: Sequence[Codes], distance: Floats) -> Floats:
    """Return each text's contribution: the distances within it over its pairs' weight, and counts of its sets."""
    position = {codes: at for at, codes in enumerate(kinds)}
    sums = np.zeros((len(units), 1 + len(kinds)))
    for row, sets in zip(sums, units, strict=True):
        at = [position[codes] for codes in sets]
        row[0] = distance[np.ix_(at, at)].sum() / (len(at) - 1)
        np.add.at(row[1:], at, 1.0)
    return sums


def _alphas(totals: Floats, distance: Floats) -> Floats:
    """Return 1 - (n - 1) sum of distances within texts / sum n_c n_k d_ck; NaN if the expected disagreement is 0."""
    observed, used = totals[..., 0], totals[..., 1:]
    expected = np.einsum("...c,ck,...k->...", used, distance, used)
    ratio = np.divide(
        (used.sum(axis=-1) - 1.0) * observed, expected, out=np.full(np.shape(expected), np.nan), where=expected > 0
    )
    alphas: Floats = 1.0 - ratio
    return alphas


def _concord(units: Sequence[Sequence[Codes]], used: Floats, ids: ClusterIds | None) -> Concord:
    alike = [len(set(sets)) == 1 for sets in units]
    total = float(used.sum())
    return Concord(
        agreeing=sum(alike),
        n=len(units),
        chance=float(used @ (used - 1.0)) / (total * (total - 1.0)),
        clusters=cluster_sizes(alike, ids),
    )
