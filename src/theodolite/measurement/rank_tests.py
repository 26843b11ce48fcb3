"""Rank tests for two groups or several: Wilcoxon, Brunner-Munzel, Kruskal-Wallis, Dunn and Friedman."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, stdtr

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.undefined_reasons import ALL_EQUAL, NO_CHANGE, NO_OVERLAP, TOO_FEW_ANSWERS, TOO_FEW_COMPLETE
from theodolite.measurement.comparison import Adjustment, adjust_p_values
from theodolite.measurement.interval import check_confidence, normal_quantile, student_quantile
from theodolite.measurement.labels import score_column
from theodolite.measurement.scores import average_ranks

Floats = NDArray[np.float64]

Answers = Sequence[float | None]

SUPERIORITY: Final = "probability that the second is higher, ties counting half"
"""Unit of the effect size of rank tests of two groups."""


EXACT_UP_TO: Final = 25
"""Answers in a group up to which the exact distribution is used, if there are no ties."""


def rank_sum_test(a: Answers, b: Answers) -> Significance | Undefined:
    """Test whether one of two groups tends to give higher answers (Mann-Whitney).

    The test assumes equal spread in both groups; if that is doubtful, read the
    interval of `superiority` instead.

    Args:
        a: Answers of the first group; None or NaN = missing.
        b: Answers of the second group; likewise.

    Returns:
        Two-sided p-value, exact for small groups without ties; the
        statistic is U of the second group, the effect Cliff's delta. `Undefined`
        when a group has fewer than two answers or all are the same.

    Example:
        >>> test = rank_sum_test([1, 2, 3, 4], [3.5, 5, 6, 7])
        >>> test.statistic, round(test.p_value, 4), test.effect
        (15.0, 0.0571, 0.875)

    Source:
        Mann, Whitney (1947), Annals of Mathematical Statistics 18:50-60; ties:
        Lehmann (1975), Nonparametrics, section 1.4; Cliff (1993), Psychological
        Bulletin 114:494-509.
    """
    first, second = present_answers(a), present_answers(b)
    together = np.concatenate((first, second))
    n, m = len(first), len(second)
    reason = why_not((first, second), together)
    if reason:
        return Undefined(reason=reason, n=len(together), method="Mann-Whitney")
    u = float(average_ranks(together)[n:].sum()) - m * (m + 1) / 2.0
    tied = len(np.unique(together)) < len(together)
    if not tied and max(n, m) <= EXACT_UP_TO:
        p, method = _two_sided(_rank_sums(n, m), u), "Mann-Whitney, exact"
    else:
        spread = math.sqrt(n * m / 12.0 * ((n + m + 1) - tie_sum(together) / ((n + m) * (n + m - 1))))
        z = max(abs(u - n * m / 2.0) - 0.5, 0.0) / spread
        p, method = 2.0 * float(ndtr(-z)), "Mann-Whitney, normal with ties"
    return Significance(
        p_value=min(p, 1.0),
        statistic=u,
        method=method,
        n=n + m,
        effect=2.0 * u / (n * m) - 1.0,
        effect_name="Cliff's delta",
    )


def signed_rank_test(a: Answers, b: Answers) -> Significance | Undefined:
    """Test whether the same people answer higher the second time (Wilcoxon).

    Args:
        a: First answers; None or NaN = missing.
        b: Second answers of the same people, in the same order; likewise.

    Returns:
        Two-sided p-value, exact for at most 25 changes without
        ties; the statistic is the sum of ranks of the rises. Answers that did
        not change are omitted. `Undefined` if none changed.

    Raises:
        InputError: If the lengths differ or an answer is infinite.

    Example:
        >>> test = signed_rank_test([10, 12, 15, 9], [11, 15, 17, 14])
        >>> test.statistic, test.p_value
        (10.0, 0.125)

    Source:
        Wilcoxon (1945), Biometrics Bulletin 1:80-83; rank-biserial correlation:
        Kerby (2014), Comprehensive Psychology 3:1.
    """
    if len(a) != len(b):
        message = f"`a` and `b` must be answers of the same people; got {len(a)} and {len(b)}"
        raise InputError(message)
    gaps = score_column(b, "b") - score_column(a, "a")
    gaps = gaps[~np.isnan(gaps) & (gaps != 0.0)]
    n = len(gaps)
    if n == 0:
        return Undefined(reason=NO_CHANGE, method="Wilcoxon")
    ranks = average_ranks(np.abs(gaps))
    rises, total = float(ranks[gaps > 0].sum()), n * (n + 1) / 2.0
    if len(np.unique(np.abs(gaps))) == n and n <= EXACT_UP_TO:
        p, method = _two_sided(_signed_sums(n), rises), "Wilcoxon, exact"
    else:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0 - tie_sum(np.abs(gaps)) / 48.0)
        p = 2.0 * float(ndtr(-max(abs(rises - total / 2.0) - 0.5, 0.0) / spread))
        method = "Wilcoxon, normal with ties"
    return Significance(
        p_value=min(p, 1.0),
        statistic=rises,
        method=method,
        n=n,
        effect=2.0 * rises / total - 1.0,
        effect_name="rank-biserial correlation",
    )


def superiority(a: Answers, b: Answers, *, confidence: float = 0.95) -> Estimate | Undefined:
    """Estimate the probability that a member of the second group answers higher (Brunner-Munzel).

    One half means no difference. The spread of the groups may differ.

    Args:
        a: Answers of the first group; None or NaN = missing.
        b: Answers of the second group; likewise.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Fraction, with ties counted half; n counts answers. The interval is computed on
        the logit, with Student's t; if the groups do not overlap, there is no
        error to compute it from, and the interval is Newcombe's. `Undefined` if
        a group has fewer than two answers.

    Example:
        >>> round(superiority([1, 2, 2, 3], [2, 3, 3, 4]).value, 3)
        0.812

    Source:
        Brunner, Munzel (2000), Biometrical Journal 42:17-25; without overlap: Newcombe (2006), Confidence
        intervals for an effect size measure based on the Mann-Whitney statistic, part 2, Statistics in
        Medicine 25:559-573, method 5.
    """
    check_confidence(confidence)
    first, second = present_answers(a, "a"), present_answers(b, "b")
    n, m = len(first), len(second)
    if min(n, m) < 2:
        return Undefined(reason=TOO_FEW_ANSWERS, n=n + m, unit=SUPERIORITY, method="Brunner-Munzel")
    value, error, degrees = _brunner_munzel(first, second)
    method = "Brunner-Munzel, logit"
    if error <= 0.0 or not 0.0 < value < 1.0:
        (low, high), method = _newcombe_ends(value, n, m, confidence), "Newcombe, method 5"
    else:
        reach = student_quantile(confidence, max(round(degrees), 1)) * error / (value * (1.0 - value))
        centre = math.log(value / (1.0 - value))
        low, high = (1.0 / (1.0 + math.exp(-min(max(end, -700.0), 700.0))) for end in (centre - reach, centre + reach))
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=n + m,
        unit=SUPERIORITY,
        method=method,
    )


def _newcombe_ends(value: float, n: int, m: int, confidence: float) -> tuple[float, float]:
    """Return the probabilities with a standard error equal to the observed one.

    The squared error is p (1 - p) (1 + (N - 1) ((1 - p) / (2 - p) + p / (1 + p))) / (n m), N = (n + m) / 2.
    """
    z = normal_quantile(confidence)

    def is_outside(p: float) -> bool:
        both = (1.0 - p) / (2.0 - p) + p / (1.0 + p)
        square = p * (1.0 - p) * (1.0 + ((n + m) / 2.0 - 1.0) * both) / (n * m)
        return abs(value - p) > z * math.sqrt(square)

    return _turn(is_outside, 0.0, value), _turn(is_outside, 1.0, value)


def _turn(is_outside: Callable[[float], bool], outer: float, inner: float) -> float:
    """Return the boundary of a condition that holds at the outer but not at the inner end."""
    for _ in range(60):
        middle = (outer + inner) / 2.0
        outer, inner = (middle, inner) if is_outside(middle) else (outer, middle)
    return inner


def brunner_munzel_test(a: Answers, b: Answers) -> Significance | Undefined:
    """Test whether one of two groups tends to give higher answers, also with unequal spread.

    Args:
        a: Answers of the first group; None or NaN = missing.
        b: Answers of the second group; likewise.

    Returns:
        Two-sided p-value by Student's t; the effect is `superiority`. `Undefined`
        when a group has fewer than two answers or the groups do not overlap.

    Example:
        >>> test = brunner_munzel_test([1, 2, 2, 3, 3], [2, 3, 3, 4, 5])
        >>> round(test.statistic, 3), round(test.effect, 2)
        (2.176, 0.8)

    Source:
        Brunner, Munzel (2000), Biometrical Journal 42:17-25.
    """
    first, second = present_answers(a), present_answers(b)
    if min(len(first), len(second)) < 2:
        return Undefined(reason=TOO_FEW_ANSWERS, n=len(first) + len(second), method="Brunner-Munzel")
    value, error, degrees = _brunner_munzel(first, second)
    if error <= 0.0:
        return Undefined(
            reason=NO_OVERLAP,
            n=len(first) + len(second),
            method="Brunner-Munzel",
        )
    t = (value - 0.5) / error
    return Significance(
        p_value=min(2.0 * float(stdtr(degrees, -abs(t))), 1.0),
        statistic=t,
        method="Brunner-Munzel",
        n=len(first) + len(second),
        degrees=degrees,
        effect=value,
        effect_name=SUPERIORITY,
    )


def present_answers(answers: Answers, name: str = "answers") -> Floats:
    """Return the answers.

    Raises:
        InputError: If one of them is infinite or no number.
    """
    numbers = score_column(answers, name)
    return numbers[~np.isnan(numbers)]


def tie_sum(values: Floats) -> float:
    """Return sum of t^3 - t over groups of t equal values."""
    _, times = np.unique(values, return_counts=True)
    return float((times.astype(np.float64) ** 3 - times).sum())


def why_not(columns: Sequence[Floats], together: Floats) -> str | None:
    """Return why groups cannot be compared; None if they can."""
    if len(columns) < 2 or min(len(column) for column in columns) < 2:
        return TOO_FEW_ANSWERS
    return ALL_EQUAL if np.ptp(together) == 0.0 else None


def _brunner_munzel(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return the probability that the second is higher, its standard error and degrees of freedom."""
    n, m = len(first), len(second)
    ranks = average_ranks(np.concatenate((first, second)))
    # Share of the other group that each answer exceeds.
    beaten_a = (ranks[:n] - average_ranks(first)) / m
    beaten_b = (ranks[n:] - average_ranks(second)) / n
    parts = float(np.var(beaten_a, ddof=1)) / n, float(np.var(beaten_b, ddof=1)) / m
    spread = sum(parts)
    degrees = spread**2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1)) if spread > 0.0 else 1.0
    return float(beaten_b.mean()), math.sqrt(spread), degrees


def _two_sided(chances: Floats, found: float) -> float:
    """Return twice the smaller tail of a distribution over integers from 0."""
    position = round(found)
    return min(2.0 * min(float(chances[: position + 1].sum()), float(chances[position:].sum())), 1.0)


def _rank_sums(n: int, m: int) -> Floats:
    """Return the distribution of U for untied groups of n and m: counts of placements of m among n."""
    counts = np.zeros((m + 1, n * m + 1))
    counts[0, 0] = 1.0
    # Each of n + m positions belongs to one of the m or not; U counts those of the n before it.
    for position in range(n + m):
        for chosen in range(min(position + 1, m), 0, -1):
            before = position - (chosen - 1)
            if before <= n:
                counts[chosen, before:] += counts[chosen - 1, : n * m + 1 - before]
    chances: Floats = counts[m] / counts[m].sum()
    return chances


def _signed_sums(n: int) -> Floats:
    """Return the distribution of the sum of ranks of the rises among n untied changes."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1.0
    for rank in range(1, n + 1):
        counts[rank:] = counts[rank:] + counts[:-rank]
    return counts / 2.0**n


def kruskal_wallis(groups: Mapping[str, Answers]) -> Significance | Undefined:
    """Test whether some of several groups tend to give higher answers.

    Args:
        groups: Answers by name of the group; None or NaN = missing.

    Returns:
        P-value of the chi-squared distribution; the effect is epsilon squared,
        0 for no difference and 1 for groups that do not overlap. `Undefined`
        when there are fewer than two groups with two answers, or all are the same.

    Example:
        >>> test = kruskal_wallis({"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9]})
        >>> round(test.statistic, 2), round(test.p_value, 3)
        (7.2, 0.027)

    Source:
        Kruskal, Wallis (1952), Journal of the American Statistical Association
        47:583-621; effect: Kelley (1935), Proceedings of the National Academy of
        Sciences 21:554-559.
    """
    columns = [present_answers(answers) for answers in groups.values()]
    together = np.concatenate(columns) if columns else np.empty(0)
    reason = why_not(columns, together)
    n = len(together)
    if reason:
        return Undefined(reason=reason, n=n, method="Kruskal-Wallis")
    ranks = average_ranks(together)
    sums = [float(part.sum()) for part in np.split(ranks, np.cumsum([len(column) for column in columns])[:-1])]
    h = 12.0 / (n * (n + 1)) * sum(s * s / len(c) for s, c in zip(sums, columns, strict=True)) - 3.0 * (n + 1)
    h /= 1.0 - tie_sum(together) / (n**3 - n)
    degrees = len(columns) - 1
    return Significance(
        p_value=float(chdtrc(degrees, max(h, 0.0))),
        statistic=h,
        method="Kruskal-Wallis",
        n=n,
        degrees=degrees,
        effect=h / (n - 1),
        effect_name="epsilon squared",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """Two of several groups, compared after Kruskal and Wallis.

    Attributes:
        first: Name of a group.
        second: Name of another.
        test: Its z and unadjusted p-value; the effect is the difference of mean
            ranks, first minus second.
        adjusted_p_value: The p-value adjusted for all pairs; fraction.
    """

    first: str
    second: str
    test: Significance
    adjusted_p_value: float


def dunn(groups: Mapping[str, Answers], *, adjustment: Adjustment = "holm") -> tuple[GroupDifference, ...]:
    """Compare every two of several groups by their mean ranks.

    Args:
        groups: Answers by name of the group; None or NaN = missing.
        adjustment: How p-values are adjusted, as for `adjust_p_values`.

    Returns:
        One comparison per pair; empty if `kruskal_wallis` is undefined.

    Raises:
        InputError: If the adjustment is unknown.

    Example:
        >>> [(pair.first, pair.second, round(pair.test.statistic, 2)) for pair in dunn({"a": [1, 2], "b": [3, 4]})]
        [('a', 'b', -1.55)]

    Source:
        Dunn (1964), Technometrics 6:241-252.
    """
    columns = {name: present_answers(answers) for name, answers in groups.items()}
    together = np.concatenate(list(columns.values())) if columns else np.empty(0)
    if why_not(list(columns.values()), together):
        return ()
    n, ranks = len(together), average_ranks(together)
    parts = np.split(ranks, np.cumsum([len(column) for column in columns.values()])[:-1])
    means = {name: float(part.mean()) for name, part in zip(columns, parts, strict=True)}
    variance = n * (n + 1) / 12.0 - tie_sum(together) / (12.0 * (n - 1))
    tests = []
    for first, second in combinations(columns, 2):
        gap = means[first] - means[second]
        z = gap / math.sqrt(variance * (1.0 / len(columns[first]) + 1.0 / len(columns[second])))
        test = Significance(
            p_value=2.0 * float(ndtr(-abs(z))),
            statistic=z,
            method="Dunn",
            n=len(columns[first]) + len(columns[second]),
            effect=gap,
            effect_name="difference of mean ranks",
        )
        tests.append((first, second, test))
    adjusted = adjust_p_values([test.p_value for _, _, test in tests], method=adjustment)
    return tuple(
        GroupDifference(first=first, second=second, test=test, adjusted_p_value=p)
        for (first, second, test), p in zip(tests, adjusted, strict=True)
    )


def friedman(rows: Sequence[Answers]) -> Significance | Undefined:
    """Test whether the same people answer several questions differently.

    Args:
        rows: One per person: the answer to each question; None or NaN = missing.
            People with a missing answer are omitted.

    Returns:
        P-value of the chi-squared distribution; the effect is Kendall's W, 0 for
        no agreement of people on the order and 1 for full agreement. `Undefined`
        if fewer than two people answered all, or if all answers are equal.

    Raises:
        InputError: If rows differ in length.

    Example:
        >>> round(friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]).statistic, 3)
        4.5

    Source:
        Friedman (1937), Journal of the American Statistical Association
        32:675-701; Kendall, Babington Smith (1939), Annals of Mathematical
        Statistics 10:275-287.
    """
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        message = f"`rows` must hold the same things for everybody; got rows of {sorted(lengths)}"
        raise InputError(message)
    full = [present_answers(row) for row in rows]
    ranks = np.array([average_ranks(row) for row in full if len(row) == max(lengths, default=0)])
    n = len(ranks)
    k = ranks.shape[1] if n else 0
    ties = sum(tie_sum(row) for row in ranks)
    if n < 2 or k < 2 or ties >= n * (k**3 - k):
        return Undefined(reason=TOO_FEW_COMPLETE, n=n, method="Friedman")
    sums = ranks.sum(axis=0)
    plain = 12.0 / (n * k * (k + 1)) * float(sums @ sums) - 3.0 * n * (k + 1)
    q = plain / (1.0 - ties / (n * (k**3 - k)))
    return Significance(
        p_value=float(chdtrc(k - 1, max(q, 0.0))),
        statistic=q,
        method="Friedman",
        n=n,
        degrees=k - 1,
        effect=q / (n * (k - 1)),
        effect_name="Kendall's W",
    )
