"""An independent recount: every number from the exported table, by pandas, scipy and public formulas alone.

Nothing here uses the package's own statistics. A number is equal if it agrees to
half a unit of the last digit that a report prints: 0.1 points for shares, 0.01 for
coefficients and scores, 0.001 for p-values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats
from sklearn import metrics
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

SHARE, COEFFICIENT, P_VALUE = 5e-4, 5e-3, 5e-4
"""Half a unit of the last printed digit."""

UNDERIVABLE = {
    "defect_rate, beta-binomial": "interval of a posterior over clusters (decision 29); no other library has it",
    "zero_defect_bound, beta-binomial, one-sided": "bound of the same posterior",
    "macro_f1, MOVER": "interval by a documented approximation of our own; the value is derived",
    "class_f1, Wilson": "interval on the units that a label shares; the value is derived",
    "tree node, bootstrap": "interval by random replicates; the value is derived",
    "order metrics, chance": "probability under shuffled orders; the values are derived",
}
"""Numbers of a report that the table cannot give, and the reason."""

Entry = Mapping[str, Any]


class Recount:
    """Counts everything again from the rows of one export.

    Attributes:
        frame: The exported table.
        names: Annotator of the results to the name in the table, where people are numbers.
    """

    def __init__(self, frame: pd.DataFrame, names: Mapping[str, str]) -> None:
        self.frame = frame
        self.names = names

    def labels(self, subject: Entry, annotator: str, *, is_readable: bool = True) -> pd.Series:
        """Return the labels of one annotator on the dialogues of a subject, by dialogue."""
        frame = self.frame
        mine = frame[frame.judge == self.names.get(annotator, annotator)]
        for key, column in (("application", "application"), ("guideline", "guideline"), ("scenario", "scenario")):
            if subject.get(key):
                mine = mine[mine[column] == subject[key]]
        for key, column in (("level", "level"), ("tester_type", "tester_type")):
            if subject.get(key):
                mine = mine[mine[column] == subject[key]]
        for group in (*subject.get("among", ()), *([subject["group"]] if subject.get("group") else ())):
            column = "scenario" if group["name"] == "scenario" else f"group_{group['name']}"
            mine = mine[mine[column] == group["value"]]
        labelled = mine.drop_duplicates(["dialogue", "question"]).set_index("dialogue")
        return labelled.label[labelled.outcome == "answered"] if is_readable else labelled.label

    def shared(self, subject: Entry) -> pd.DataFrame:
        """Return the labels of all annotators of a subject, side by side, on the dialogues that all labelled."""
        columns = {name: self.labels(subject, name) for name in subject["annotators"]}
        return pd.DataFrame(columns).dropna()


def rate_interval(count: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share: Wilson's by scipy; where none or all count, at least the exact one-sided bound.

    The second part is the rule of decision 68: the interval then reaches the bound that is printed beside it.
    """
    interval = stats.binomtest(count, n).proportion_ci(confidence, method="wilson")
    bound = one_sided_bound(n, confidence)
    low = min(interval.low, 1 - bound) if count == n else interval.low
    return low, max(interval.high, bound) if count == 0 else interval.high


def wilson(count: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval by scipy."""
    interval = stats.binomtest(count, n).proportion_ci(method="wilson")
    return interval.low, interval.high


def one_sided_bound(n: int, confidence: float) -> float:
    """Return the exact upper bound where nothing was found in n: the root of (1 - p)^n = 1 - confidence."""
    return 1 - (1 - confidence) ** (1 / n)


def table_statistics(shared: pd.DataFrame, labels: Sequence[str]) -> dict[str, float]:
    """Return agreement of two annotators by scikit-learn; the first is the reference."""
    first, second = shared.iloc[:, 0], shared.iloc[:, 1]
    return {
        "cohen_kappa": metrics.cohen_kappa_score(first, second, labels=list(labels)),
        "macro_f1": metrics.f1_score(first, second, labels=list(labels), average="macro", zero_division=0.0),
    }


def fleiss(patterns: pd.DataFrame, weights: np.ndarray) -> float:
    """Return Fleiss' kappa by statsmodels; each pattern of labels stands for `weights` dialogues."""
    labels = sorted(set(patterns.to_numpy().ravel()))
    rows = [[list(row).count(label) for label in labels] for row in patterns.to_numpy()]
    return float(fleiss_kappa(np.repeat(rows, weights.astype(int), axis=0)))


def alpha(patterns: pd.DataFrame, weights: np.ndarray) -> float:
    """Return Krippendorff's alpha by the package `krippendorff`, nominal."""
    labels = sorted(set(patterns.to_numpy().ravel()))
    codes = np.array([[labels.index(value) for value in row] for row in patterns.to_numpy()])
    repeated = np.repeat(codes, weights.astype(int), axis=0).T
    return float(krippendorff.alpha(repeated, level_of_measurement="nominal"))


def kappa(patterns: pd.DataFrame, weights: np.ndarray) -> float:
    """Return Cohen's kappa by scikit-learn, weighted by how often a pattern occurs."""
    return float(metrics.cohen_kappa_score(patterns.iloc[:, 0], patterns.iloc[:, 1], sample_weight=weights))


def log_interval(
    shared: pd.DataFrame, statistic: Callable[[pd.DataFrame, np.ndarray], float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return a coefficient and its interval on the logarithm of 1 - value, with a jackknife error of our own.

    Leaving out one dialogue depends only on its pattern of labels, so each pattern is left out once.
    """
    counted = shared.value_counts(sort=False)
    patterns, weights = counted.index.to_frame(index=False), counted.to_numpy().astype(float)
    n, value = weights.sum(), statistic(patterns, weights)
    without = np.array([statistic(patterns, weights - np.eye(len(weights))[at]) for at in range(len(weights))])
    mean = (weights * without).sum() / n
    error = math.sqrt((n - 1) / n * (weights * (without - mean) ** 2).sum())
    quantile = stats.t.ppf((1 + confidence) / 2, n - 1)
    factor = math.exp(quantile * error / (1 - value))
    return value, 1 - (1 - value) * factor, 1 - (1 - value) / factor


def paired_difference(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Return what a comparison prints: flips, difference, Newcombe's paired interval, exact McNemar test.

    Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10.
    """
    both, only_first = int((first & second).sum()), int((first & ~second).sum())
    only_second, neither = int((~first & second).sum()), int((~first & ~second).sum())
    n = both + only_first + only_second + neither
    (low1, high1), (low2, high2) = (wilson(int(side.sum()), n) for side in (first, second))
    share1, share2 = first.mean(), second.mean()
    product = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    crossed = both * neither - only_first * only_second
    numerator = max(crossed - n / 2, 0) if crossed > 0 else crossed
    phi = numerator / math.sqrt(product) if product else 0.0
    down = (share2 - low2, high1 - share1)
    up = (high2 - share2, share1 - low1)
    reach = [math.sqrt(a * a - 2 * phi * a * b + b * b) for a, b in (down, up)]
    difference = share2 - share1
    p_value = stats.binomtest(only_first, only_first + only_second).pvalue if only_first + only_second else 1.0
    return {
        "n": n,
        "fixed": only_first,
        "regressed": only_second,
        "value": difference,
        "low": difference - reach[0],
        "high": difference + reach[1],
        "p_value": p_value,
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction, by statsmodels."""
    return list(multipletests(list(p_values), method="holm")[1])


def order_metrics(scores: Sequence[float], order: int = 3) -> dict[str, float]:
    """Return permutation entropy, inversions and the longest rising run of a series, by brute force.

    Ties in a window are ordered by position (Bandt and Pompe 2002, doi:10.1103/PhysRevLett.88.174102).
    """
    windows = [tuple(np.argsort(scores[at : at + order], kind="stable")) for at in range(len(scores) - order + 1)]
    shares = pd.Series(windows).value_counts(normalize=True).to_numpy()
    inversions = sum(earlier > later for earlier, later in itertools.combinations(scores, 2))
    rising = [1] * len(scores)
    for at, score in enumerate(scores):
        rising[at] = 1 + max((rising[before] for before in range(at) if scores[before] < score), default=0)
    return {"pen": float(-(shares * np.log(shares)).sum()), "cin": int(inversions), "lis": max(rising)}
