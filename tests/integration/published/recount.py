"""An independent recount: every number from the exported table, by pandas, scipy and public formulas alone.

Nothing here uses the package's own statistics. A number is equal if it agrees to
half a unit of the last digit that a report prints: 0.1 points for shares, 0.01 for
coefficients and scores, 0.001 for p-values.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from html.parser import HTMLParser
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from scipy import optimize, special, stats
from sklearn import metrics
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

SHARE, COEFFICIENT, P_VALUE = 5e-4, 5e-3, 5e-4
"""Half a unit of the last printed digit."""

UNDERIVABLE = {
    "macro_f1, MOVER": "interval by a documented approximation of our own; the value is derived",
    "class_f1, Wilson": "interval on the units that a label shares; the value is derived",
    "tree node, bootstrap": "interval by random replicates; the value is derived",
    "judge validation, length_bias and F1 intervals": "see tests/golden and the unit tests of judge_validation",
    "judge validation, verdict-stratified": "interval over strata by a method of our own; the values are derived",
    "proxies, p-value": "share of 1,999 random arrangements; effect, counts and Holm's adjustment are derived",
    "order metrics, chance": "probability under shuffled orders; the values are derived",
}
"""Numbers of a report that the table cannot give, and the reason."""

NO_CALLS = "calls and tokens have no exported row, and failed or repeated calls cost too"
NO_NUMBER = "texts and addresses, no number of its own"
SAME = "the numbers of another part, drawn or in other words"
OTHER = "recounted by "
GROUPS = "no export says to which groups annotators belong; tests/golden/test_raters.py has published values"
EVENT = "sessions, guesses, withdrawals and opt-outs are about people and in no exported table"

RESULTS = {
    "schema_version": NO_NUMBER, "study": NO_NUMBER, "package": NO_NUMBER, "generated": NO_NUMBER, "hosts": NO_NUMBER,
    "network": NO_CALLS, "stubbed": NO_NUMBER, "series": NO_NUMBER, "criteria": NO_NUMBER,
    "run": OTHER + "test_failures_and_progress",
    "failures": OTHER + "test_failures_and_progress",
    "spending": NO_CALLS, "instruments": NO_NUMBER, "sessions": NO_NUMBER,
    "dispositions": OTHER + "test_completeness",
    "applications": SAME,
    "estimates": OTHER + "test_rates_and_their_intervals, test_agreement_of_two, test_numbers_of_each_label",
    "comparisons": OTHER + "test_comparisons_of_the_report",
    "gaps": OTHER + "test_gaps_between_groups",
    "typology": OTHER + "test_types_of_users_and_applications",
    "confusions": OTHER + "test_confusion_matrices",
    "constructs": OTHER + "test_answers_of_testers",
    "responses": OTHER + "test_answers_of_testers",
    "order_metrics": OTHER + "test_order_metrics",
    "strategies": OTHER + "test_successes_of_strategies",
    "trees": OTHER + "test_nodes_of_a_tree",
    "simulated_users": "by rules on texts; see tests/unit/measurement/study/test_realism.py",
    "realism": "by features of texts; see tests/unit/measurement/study/test_realism.py",
    "risks": OTHER + "test_risks",
    "proxies": OTHER + "test_proxies",
    "codings": OTHER + "test_codings_of_own_words",
    "tasks": EVENT, "event": EVENT,
    "annotator_models": OTHER + "test_models_of_raters",
    "judge_validations": OTHER + "test_validation_of_a_judge, test_counted_shares_of_a_judge",
    "label_samples": OTHER + "test_sample_of_labels",
    "judge_diagnostics": OTHER + "test_diagnostics_of_a_judge, test_votes_of_a_judge",
    "order_effects": OTHER + "test_effects_of_order",
    "annotator_groups": GROUPS,
    "gates": SAME, "taxonomies": NO_NUMBER,
    "plugin_measures": "by code of plugins",
    "contamination": "by a search of texts for canaries, not of labels",
}  # fmt: skip
"""Each part of results.json: the test that recounts it, or why none does."""

VIEWS = {
    "answer": SAME, "plots": SAME, "heatmap": SAME, "areas": SAME, "blocks": SAME, "utilities": SAME, "questions": SAME,
    "precision": "a forecast, which no exported table holds",
    "versions": OTHER + "test_comparisons_of_the_report",
    "gaps": OTHER + "test_gaps_between_groups",
    "typology": OTHER + "test_types_of_users_and_applications",
    "severities": OTHER + "test_severity_tables",
    "votes": OTHER + "test_votes",
    "spreads": OTHER + "test_label_distributions",
    "funnels": OTHER + "test_completeness",
    "strategies": OTHER + "test_successes_of_strategies",
    "trees": OTHER + "test_nodes_of_a_tree",
    "order_metrics": OTHER + "test_order_metrics",
    "agreements": OTHER + "test_agreement_of_several, test_exact_agreement",
    "matrices": OTHER + "test_confusion_matrices",
    "responses": OTHER + "test_answers_of_testers", "answer_charts": OTHER + "test_answers_of_testers",
    "constructs": OTHER + "test_answers_of_testers",
    "controls": SAME, "group_charts": SAME, "applications": SAME, "impacts": SAME,
    "repeats": "repeats and single readings; see tests/unit/reporting/page/test_distributions.py",
    "cost": NO_CALLS, "failures": SAME, "method": NO_CALLS,
    "themes": OTHER + "test_codings_of_own_words",
    "tasks": EVENT, "event": EVENT,
    "claims": "statuses in words; their dialogues are those of the rates",
    "risks": OTHER + "test_risks",
    "proxies": OTHER + "test_proxies",
    "users": "by rules on texts; see tests/unit/measurement/study/test_realism.py",
    "realisms": "by features of texts; see tests/unit/measurement/study/test_realism.py",
    "instruments": NO_NUMBER, "unlabelled": NO_NUMBER, "taxonomies": NO_NUMBER,
    "words": NO_NUMBER, "has_matrix": NO_NUMBER,
    "reads": "dialogues to read first, no number of its own", "chips": SAME, "n_cases": SAME,
    "validations": OTHER + "test_validation_of_a_judge, test_counted_shares_of_a_judge",
    "diagnostics": OTHER + "test_diagnostics_of_a_judge, test_votes_of_a_judge",
    "raters": OTHER + "test_models_of_raters",
    "orders": OTHER + "test_effects_of_order",
    "annotator_groups": GROUPS,
}  # fmt: skip
"""Each table and chart of the report: the test that recounts it, or why none does."""

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

    @cached_property
    def testers(self) -> pd.Series:
        """The attack strategy of each dialogue of red teaming, and the case of any other."""
        first = self.frame.drop_duplicates("dialogue").set_index("dialogue")
        return first.case.str.partition("/")[0].where(first.level == "red teaming", first.case)

    def clusters(self, found: pd.Series) -> tuple[tuple[int, int], ...]:
        """Return defects and dialogues of each tester: dialogues of one attack strategy resemble each other."""
        counted = found.groupby(self.testers.loc[found.index]).agg(["sum", "size"]).to_numpy()
        return tuple(sorted((int(count), int(n)) for count, n in counted))

    def interval(self, found: pd.Series, method: str) -> tuple[float, float]:
        """Return the interval of a share of dialogues by the method that the report names."""
        if method == "beta-binomial":
            return clustered_interval(self.clusters(found))[:2]
        return rate_interval(int(found.sum()), len(found))

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


_NODES, WEIGHTS = special.roots_jacobi(40, 3, -0.2)
PRIOR = (1 + _NODES) / 2
"""Nodes of a Gauss-Jacobi rule for the prior of the correlation within clusters, Beta(0.8, 4)."""

ANGLES = (np.arange(400) + 0.5) / 400 * math.pi / 2
"""Angles whose squared sine is a share; Jeffreys' prior of a share is flat in them."""


@lru_cache(maxsize=256)
def _log_likelihood(count: int, n: int) -> np.ndarray:
    """Return the log of the beta-binomial probability of one cluster but for the constant, shape (angles, prior)."""
    first = np.sin(ANGLES)[:, None] ** 2 * (1 / PRIOR - 1)
    second = np.cos(ANGLES)[:, None] ** 2 * (1 / PRIOR - 1)
    return special.betaln(count + first, n - count + second) - special.betaln(first, second)


@lru_cache(maxsize=256)
def none_bound(sizes: tuple[int, ...], tail: float) -> float:
    """Return the share at which clusters of these sizes all show nothing with this probability, over the prior."""

    def surplus(share: float) -> float:
        first, second = share * (1 / PRIOR - 1), (1 - share) * (1 / PRIOR - 1)
        logs = [special.betaln(first, size + second) - special.betaln(first, second) for size in sizes]
        return float(np.exp(np.sum(logs, axis=0)) @ WEIGHTS / WEIGHTS.sum() - tail)

    return float(optimize.brentq(surplus, 1e-9, 1 - 1e-9))


@lru_cache(maxsize=256)
def clustered_interval(clusters: tuple[tuple[int, int], ...], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return interval and design effect of a share over clusters (count, n), by decision 29 on a plain grid.

    Beta-binomial likelihood, the priors above. The end on the rare side has a prior with the exponent
    0.25 (1 - share / 0.4) more, and no end is nearer than the bound of none; unequal sizes widen the ends
    to those of the ratio estimator on the logit.
    """
    count, n = np.sum(clusters, axis=0)
    share, tail = count / n, (1 - confidence) / 2
    logs = sum(times * _log_likelihood(*pair) for pair, times in Counter(clusters).items())
    joint = np.exp(logs - np.max(logs)) * WEIGHTS
    squares = sum(size * size for _, size in clusters)
    effect = 1 + (squares / n - 1) * float((joint @ PRIOR).sum() / joint.sum())
    bound = none_bound(tuple(sorted(size for _, size in clusters)), tail)
    if count in {0, n}:
        return (0.0, bound, effect) if count == 0 else (1 - bound, 1.0, effect)

    def end(rare: float, fraction: float, side: np.ndarray) -> float:
        mass = np.cumsum(joint.sum(axis=1) * side ** (0.5 * max(1 - rare / 0.4, 0.0)))
        return float(np.sin(np.interp(fraction, mass / mass[-1], ANGLES + ANGLES[0])) ** 2)

    low = min(end(1 - share, tail, np.cos(ANGLES)), 1 - bound, share)
    high = max(end(share, 1 - tail, np.sin(ANGLES)), bound, share)
    if len({size for _, size in clusters}) > 1:
        worth, groups = n * n / squares, len(clusters)
        rest = sum((found - share * size) ** 2 for found, size in clusters)
        error = math.sqrt(rest * groups / (groups - 1)) / n / (share * (1 - share))
        reach = stats.t.ppf(1 - tail, max(worth - 1, 1)) * error
        part = min((groups / worth - 1) / 0.25, 1.0)
        low += part * min(special.expit(special.logit(share) - reach) - low, 0)
        high += part * max(special.expit(special.logit(share) + reach) - high, 0)
    return low, high, effect


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


def gwet(patterns: pd.DataFrame, scale: Sequence[str]) -> float:
    """Return Gwet's AC2 of two annotators with quadratic weights.

    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 5.
    """
    q = len(scale)
    place = patterns.apply(lambda column: column.map(list(scale).index)).to_numpy()
    weights = 1 - (np.subtract.outer(np.arange(q), np.arange(q)) / (q - 1)) ** 2
    observed = weights[place[:, 0], place[:, 1]].mean()
    share = np.bincount(place.ravel(), minlength=q) / place.size
    chance = weights.sum() / (q * (q - 1)) * (share * (1 - share)).sum()
    return float((observed - chance) / (1 - chance))


def ordinal_alpha(patterns: pd.DataFrame, scale: Sequence[str]) -> float:
    """Return Krippendorff's alpha by the package `krippendorff`, ordinal."""
    place = patterns.apply(lambda column: column.map(list(scale).index)).to_numpy()
    return float(krippendorff.alpha(place.T, value_domain=list(range(len(scale))), level_of_measurement="ordinal"))


def clustered_log_interval(
    shared: pd.DataFrame, testers: pd.Series, statistic: Callable[[pd.DataFrame], float]
) -> tuple[float, float, float]:
    """Return a coefficient and its interval on the logarithm of 1 - value, each tester left out once."""
    value, names = statistic(shared), sorted(set(testers))
    without = np.array([statistic(shared[testers != name]) for name in names])
    error = math.sqrt((len(names) - 1) / len(names) * ((without - without.mean()) ** 2).sum())
    factor = math.exp(stats.t.ppf(0.975, len(names) - 1) * error / (1 - value))
    return value, max(1 - (1 - value) * factor, -1.0), 1 - (1 - value) / factor


def dawid_skene(given: np.ndarray, q: int) -> np.ndarray:
    """Return how far each annotator's labels fit the true label beyond chance; `given` is units by annotators, -1 none.

    Dawid and Skene (1979), JRSS C 28:20-28; 0.05 labels are added to each cell of an annotator's errors.
    """
    told = np.eye(q)[given] * (given >= 0)[..., None]
    beliefs, height = told.sum(axis=1) / told.sum(axis=(1, 2))[:, None], -np.inf
    for _ in range(200):
        share = beliefs.mean(axis=0)
        errors = np.einsum("uk,url->rkl", beliefs, told) + 0.05
        errors /= errors.sum(axis=2, keepdims=True)
        logs = np.log(share) + np.einsum("url,rkl->uk", told, np.log(errors))
        reached = special.logsumexp(logs, axis=1)
        beliefs = np.exp(logs - reached[:, None])
        if reached.sum() - height < 1e-9 * told.sum():
            break
        height = reached.sum()
    right = np.einsum("k,rkk->r", share, errors)
    chance = np.einsum("k,rkl,l->r", share, errors, share)
    return (right - chance) / (1 - chance)


def mace(given: np.ndarray, q: int) -> np.ndarray:
    """Return the share of each annotator's labels that is no guess (Hovy et al. 2013, NAACL), 0.1 labels added."""
    told = np.eye(q)[given] * (given >= 0)[..., None]
    beliefs, height = told.sum(axis=1) / told.sum(axis=(1, 2))[:, None], -np.inf
    looks, habits = np.full(given.shape[1], 0.5), np.full((given.shape[1], q), 1 / q)
    for _ in range(200):
        copied = looks[:, None] / (looks[:, None] + (1 - looks[:, None]) * habits)
        seen = np.einsum("ul,url->rl", beliefs, told) * copied
        looks = (seen.sum(axis=1) + 0.1) / (told.sum(axis=(0, 2)) + 0.2)
        habits = told.sum(axis=0) - seen + 0.1
        habits /= habits.sum(axis=1, keepdims=True)
        errors = looks[:, None, None] * np.eye(q) + (1 - looks)[:, None, None] * habits[:, None, :]
        logs = np.einsum("url,rkl->uk", told, np.log(errors)) - math.log(q)
        reached = special.logsumexp(logs, axis=1)
        beliefs = np.exp(logs - reached[:, None])
        if abs(reached.sum() - height) < 1e-9 * told.sum():
            break
        height = reached.sum()
    return looks


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


def widest_gap(counts: Sequence[tuple[int, int]], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the highest share less the lowest, with ends for all pairs at once, each pair by square and add.

    Sidak (1967) for the level of a pair; Zou and Donner (2008) for its ends.
    """
    shares = [count / n for count, n in counts]
    level = confidence ** (1 / math.comb(len(counts), 2))
    ends = [rate_interval(count, n, level) for count, n in counts]
    lows, highs = [], []
    for one, other in itertools.permutations(range(len(counts)), 2):
        gap = shares[one] - shares[other]
        lows.append(gap - math.hypot(shares[one] - ends[one][0], ends[other][1] - shares[other]))
        highs.append(gap + math.hypot(ends[one][1] - shares[one], shares[other] - ends[other][0]))
    return max(shares) - min(shares), max(0.0, *lows), min(max(highs), 1.0)


class _Tables(HTMLParser):
    """Collects the tables of a page by their accessible names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        name = dict(attrs).get("aria-label") or ""
        if name.endswith(", table"):
            self._rows = self.found.setdefault(name.removesuffix(", table"), [])
        elif self._rows is not None and tag == "tr":
            self._rows.append([])
        elif self._rows is not None and tag in {"th", "td"} and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """End a table."""
        if tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        """Add text to the cell."""
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] += data


def tables_of(page: str) -> dict[str, pd.DataFrame]:
    """Return the tables of a report by name; the first column names the rows."""
    parser = _Tables()
    parser.feed(page)
    return {
        name: pd.DataFrame(rows[1:], columns=rows[0]).set_index(rows[0][0])
        for name, rows in parser.found.items()
        if rows and all(len(row) == len(rows[0]) for row in rows)
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
