"""Groups: tests for answers of several groups, or of the same people to several things."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, ndtr

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.significance import Significance
from theodolite.measurement.comparison.multiplicity import Adjustment, adjust_p_values
from theodolite.measurement.questionnaire.ranks import Answers, given, tie_sum, why_not
from theodolite.measurement.scores import average_ranks


def kruskal_wallis(groups: Mapping[str, Answers]) -> Significance | Undefined:
    """Test whether some of several groups tend to give higher answers.

    Args:
        groups: Answers by name of the group; None or NaN = missing.

    Returns:
        P-value by the chi-squared distribution; the effect is epsilon squared,
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
    columns = [given(answers) for answers in groups.values()]
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
        adjusted_p_value: The p-value for having compared all pairs; fraction.
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
        One comparison a pair; none where `kruskal_wallis` is undefined.

    Raises:
        InputError: If the adjustment is unknown.

    Example:
        >>> [(pair.first, pair.second, round(pair.test.statistic, 2)) for pair in dunn({"a": [1, 2], "b": [3, 4]})]
        [('a', 'b', -1.55)]

    Source:
        Dunn (1964), Technometrics 6:241-252.
    """
    columns = {name: given(answers) for name, answers in groups.items()}
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
    """Test whether the same people answer several things differently.

    Args:
        rows: One a person: the answers to each thing; None or NaN = missing.
            People with a gap are left out.

    Returns:
        P-value by the chi-squared distribution; the effect is Kendall's W, 0 for
        no agreement of people on the order and 1 for full agreement. `Undefined`
        when fewer than two people answered all, or nobody tells them apart.

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
    full = [given(row) for row in rows]
    ranks = np.array([average_ranks(row) for row in full if len(row) == max(lengths, default=0)])
    n = len(ranks)
    k = ranks.shape[1] if n else 0
    ties = sum(tie_sum(row) for row in ranks)
    if n < 2 or k < 2 or ties >= n * (k**3 - k):
        return Undefined(
            reason="Fewer than two people answered all, or nobody told them apart.", n=n, method="Friedman"
        )
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
