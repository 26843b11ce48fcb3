"""An independent recount: every number from the exported table, by pandas, scipy and public formulas alone.

Nothing here uses the package's own statistics. A number is equal if it agrees to
half a unit of the last digit that a report prints: 0.1 points for shares, 0.01 for
coefficients and scores, 0.001 for p-values.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from html.parser import HTMLParser
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats
from sklearn import metrics
from statsmodels.stats.inter_rater import fleiss_kappa

SHARE, COEFFICIENT, P_VALUE = 5e-4, 5e-3, 5e-4
"""Half a unit of the last printed digit."""

NO_NUMBER = "texts and addresses, no number of its own"
SAME = "the numbers of another part, drawn or in other words"
OTHER = "recounted by "

RESULTS = {
    "schema_version": NO_NUMBER, "study": NO_NUMBER, "package": NO_NUMBER, "generated": NO_NUMBER, "hosts": NO_NUMBER,

    "network": "connections while the run went on, which nothing but the run sees",
    "stubbed": NO_NUMBER, "series": NO_NUMBER, "criteria": NO_NUMBER,
    "run": OTHER + "test_failures_and_progress",
    "failures": OTHER + "test_failures_and_progress",
    "spending": OTHER + "test_costs", "instruments": NO_NUMBER, "sessions": NO_NUMBER,
    "dispositions": OTHER + "test_completeness",
    "applications": SAME,
    "estimates": OTHER + "test_rates_and_their_intervals, test_agreement_of_two, test_numbers_of_each_label",
    "comparisons": OTHER + "test_comparisons_of_the_report",
    "gaps": OTHER + "test_gaps_between_groups",
    "typology": OTHER + "test_types_of_users_and_applications",
    "confusions": OTHER + "test_confusion_matrices",
    "constructs": OTHER + "test_answers_of_testers",
    "responses": OTHER + "test_answers_of_testers, test_contrasts_of_answers",
    "order_metrics": OTHER + "test_order_metrics, test_rankings_by_a_judge",
    "strategies": OTHER + "test_successes_of_strategies",
    "trees": OTHER + "test_nodes_of_a_tree",
    "simulated_users": "by rules on texts; see tests/unit/measurement/study/test_realism.py",
    "realism": "by features of texts; see tests/unit/measurement/study/test_realism.py",
    "risks": OTHER + "test_risks, test_contrasts_of_risks",
    "proxies": OTHER + "test_proxies",
    "codings": OTHER + "test_codings_of_own_words",
    "tasks": OTHER + "test_completed_tasks",
    "event": OTHER + "test_guesses_of_testers, test_exposure_languages_and_withdrawals",
    "annotator_models": OTHER + "test_models_of_raters",
    "judge_validations": OTHER
    + "test_validation_of_a_judge, test_counted_shares_of_a_judge, test_intervals_over_verdicts_of_a_judge, "
    + "test_effect_of_length_on_a_judge, test_scores_and_labels_over_testers",
    "label_samples": OTHER + "test_sample_of_labels",
    "judge_diagnostics": OTHER + "test_diagnostics_of_a_judge, test_votes_of_a_judge",
    "order_effects": OTHER + "test_effects_of_order",
    "annotator_groups": OTHER + "test_groups_of_annotators",
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
    "order_metrics": OTHER + "test_order_metrics, test_rankings_by_a_judge",
    "agreements": OTHER + "test_agreement_of_several, test_exact_agreement",
    "matrices": OTHER + "test_confusion_matrices",
    "responses": OTHER + "test_answers_of_testers", "answer_charts": OTHER + "test_answers_of_testers",
    "constructs": OTHER + "test_answers_of_testers",
    "controls": SAME, "group_charts": SAME, "applications": SAME, "impacts": SAME,
    "repeats": "repeats and single readings; see tests/unit/reporting/page/test_distributions.py",
    "cost": OTHER + "test_costs", "failures": SAME, "method": OTHER + "test_costs",
    "themes": OTHER + "test_codings_of_own_words",
    "tasks": OTHER + "test_completed_tasks",
    "event": OTHER + "test_guesses_of_testers, test_exposure_languages_and_withdrawals",
    "claims": "statuses in words; their dialogues are those of the rates",
    "risks": OTHER + "test_risks, test_contrasts_of_risks",
    "proxies": OTHER + "test_proxies",
    "users": "by rules on texts; see tests/unit/measurement/study/test_realism.py",
    "realisms": "by features of texts; see tests/unit/measurement/study/test_realism.py",
    "instruments": NO_NUMBER, "unlabelled": NO_NUMBER, "taxonomies": NO_NUMBER,
    "words": NO_NUMBER, "has_matrix": NO_NUMBER,
    "reads": "dialogues to read first, no number of its own", "chips": SAME, "n_cases": SAME,
    "validations": OTHER
    + "test_validation_of_a_judge, test_counted_shares_of_a_judge, test_intervals_over_verdicts_of_a_judge, "
    + "test_effect_of_length_on_a_judge, test_scores_and_labels_over_testers",
    "diagnostics": OTHER + "test_diagnostics_of_a_judge, test_votes_of_a_judge",
    "raters": OTHER + "test_models_of_raters",
    "orders": OTHER + "test_effects_of_order",
    "annotator_groups": OTHER + "test_groups_of_annotators",
}  # fmt: skip
"""Each table and chart of the report: the test that recounts it, or why none does."""

TOPICS = "who avoids a topic is private: no export names the topics of a person, only the report counts them"
"""Why the list `topics` of the part `event` is not recounted."""

MEASURES = {
    "defect_rate": "test_rates_and_their_intervals",
    "zero_defect_bound": "test_bounds_where_nothing_was_found",
    "exact_agreement": "test_exact_agreement, test_counted_shares_of_a_judge",
    "relaxed_agreement": "test_validation_of_a_judge, test_intervals_over_verdicts_of_a_judge",
    "cohen_kappa": "test_intervals_of_kappa, test_validation_of_a_judge",
    "fleiss_kappa": "test_agreement_of_several, test_scores_and_labels_over_testers",
    "krippendorff_alpha": "test_agreement_of_several, test_validation_of_a_judge",
    "macro_f1": "test_agreement_of_two, test_scores_and_labels_over_testers",
    "class_precision": "test_numbers_of_each_label, test_counted_shares_of_a_judge",
    "class_recall": "test_numbers_of_each_label, test_counted_shares_of_a_judge",
    "class_f1": "test_numbers_of_each_label, test_scores_and_labels_over_testers",
    "score_agreement": "test_scores_and_labels_over_testers",
    "judge_mean": "test_scores_and_labels_over_testers",
    "corrected_mean": "test_scores_and_labels_over_testers",
    "corrected_rate": "test_intervals_over_verdicts_of_a_judge",
}
"""Each measure of `estimates` in the studies of these tests: the tests that recount value and interval."""

Entry = Mapping[str, Any]


WHERE = ("application", "guideline", "scenario", "level", "tester_type")
"""Columns of the table that a subject names."""


class Recount:
    """Counts everything again from the rows of one export.

    Attributes:
        frame: The exported table.
        names: Annotator of the results to the name in the table, where people are numbers.
    """

    def __init__(self, frame: pd.DataFrame, names: Mapping[str, str]) -> None:
        self.frame = frame
        self.names = names

    @cached_property
    def parts(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        """The rows of each annotator, application and guideline."""
        texts = ["prompt", "response", "expected", "tools", "reason", "quote", "context", "votes", "failure_message"]
        narrow = self.frame.drop(columns=texts, errors="ignore")
        grouped = narrow.groupby(["judge", "application", "guideline"], sort=False)
        return {name: rows.drop_duplicates(["dialogue", "question"]) for name, rows in grouped}

    def labels(self, subject: Entry, annotator: str, *, is_readable: bool = True) -> pd.Series:
        """Return the labels of one annotator on the dialogues of a subject, by dialogue."""
        name, application, guideline = self.names.get(annotator, annotator), *map(subject.get, WHERE[:2])
        whole = self.frame[self.frame.judge == name] if not guideline else self.frame[:0]
        mine = self.parts.get((name, application, guideline), whole)
        for column in WHERE:
            if subject.get(column):
                mine = mine[mine[column] == subject[column]]
        for group in (*subject.get("among", ()), *([subject["group"]] if subject.get("group") else ())):
            column = "scenario" if group["name"] == "scenario" else f"group_{group['name']}"
            mine = mine[mine[column] == group["value"]]
        labelled = (mine if guideline else mine.drop_duplicates(["dialogue", "question"])).set_index("dialogue")
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


def _joint(clusters: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the posterior of share and correlation over clusters, shape (angles, prior)."""
    logs = sum(times * _log_likelihood(*pair) for pair, times in Counter(clusters).items())
    density: np.ndarray = np.exp(logs - np.max(logs)) * WEIGHTS
    return density


@lru_cache(maxsize=256)
def clustered_interval(clusters: tuple[tuple[int, int], ...], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return interval and design effect of a share over clusters (count, n), by decision 29 on a plain grid.

    Beta-binomial likelihood, the priors above. The end on the rare side has a prior with the exponent
    0.25 (1 - share / 0.4) more, and no end is nearer than the bound of none; unequal sizes widen the ends
    to those of the ratio estimator on the logit.
    """
    count, n = np.sum(clusters, axis=0)
    share, tail, joint = count / n, (1 - confidence) / 2, _joint(clusters)
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


def f1_interval(first: pd.Series, second: pd.Series, testers: pd.Series | None = None) -> tuple[float, float, float]:
    """Return F1 of two series of flags and its interval: that of the share of shared units, as 2 s / (1 + s)."""
    either = first | second
    both = (first & second)[either]
    groups = pd.Series(range(len(both)), both.index) if testers is None else testers.loc[both.index]
    counted = both.groupby(groups).agg(["sum", "size"]).to_numpy()
    clusters = tuple(sorted((int(count), int(n)) for count, n in counted))
    alone = all(n == 1 for _, n in clusters)
    ends = rate_interval(int(both.sum()), len(both)) if alone else clustered_interval(clusters)[:2]
    value, low, high = (2 * share / (1 + share) for share in (both.mean(), *ends))
    return value, low, high


def macro_f1(
    shared: pd.DataFrame, labels: Sequence[str], testers: pd.Series | None = None
) -> tuple[float, float, float]:
    """Return macro-F1 and its interval: reaches of all labels, joined by correlations of the linear form of F1.

    Zou and Donner (2008), Statistics in Medicine 27:1693-1702; a label whose score does not vary counts as
    perfectly correlated.
    """
    used = [shared.eq(label) for label in labels if shared.eq(label).any(axis=None)]
    ends = np.array([f1_interval(flags.iloc[:, 0], flags.iloc[:, 1], testers) for flags in used])
    forms = pd.DataFrame(
        {
            at: 2 * flags.all(axis=1) - score * flags.sum(axis=1)
            for at, (flags, score) in enumerate(zip(used, ends[:, 0], strict=True))
        }
    )
    together = forms if testers is None else forms.groupby(testers).sum()
    alike = together.corr().fillna(1.0).to_numpy()
    value, reaches = ends[:, 0].mean(), (ends[:, 0] - ends[:, 1], ends[:, 2] - ends[:, 0])
    down, up = (math.sqrt(max(reach @ alike @ reach, 0)) / len(used) for reach in reaches)
    return value, max(value - down, 0.0), min(value + up, 1.0)


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


def near(p_value: float, draws: int, own_draws: int) -> float:
    """Return how far two Monte-Carlo estimates of one probability may differ: four standard errors and a draw of each.

    The printed one rests on `draws` random arrangements, this one on `own_draws` others.
    """
    rare = max(p_value, 1 / draws)
    return 4 * math.sqrt(rare * (1 - min(p_value, 1 - 1 / draws)) * (1 / draws + 1 / own_draws)) + 1 / draws


def matched_p(sets: np.ndarray, testers: Sequence[str], draws: int) -> float:
    """Return the probability of shares so far apart if a tester's applications are exchanged at random.

    Cochran (1950); flags of sets by applications, whose columns are exchanged within each tester.
    """
    sums = pd.DataFrame(sets).groupby(list(testers)).sum().to_numpy()
    orders = np.array(list(itertools.permutations(range(sums.shape[1]))))
    drawn = np.random.default_rng(20).integers(len(orders), size=(draws, len(sums)))
    totals = sums[np.arange(len(sums))[:, None, None], orders][np.arange(len(sums)), drawn].sum(axis=1)
    apart, observed = ((part - sums.sum() / sums.shape[1]) ** 2 for part in (totals, sums.sum(axis=0)))
    return float((apart.sum(axis=-1) >= observed.sum() - 1e-9).mean())


def chains(rows: np.ndarray, *, strict: bool) -> np.ndarray:
    """Return the longest rising (or not falling) subsequence of each row of ranks 0, 1, 2, ..."""
    best, everyone = np.zeros((len(rows), rows.max() + 2), dtype=int), np.arange(len(rows))
    for rank in rows.T:  # best[:, v] is the longest one that ends below v
        reached = best[everyone, rank if strict else rank + 1] + 1
        later = np.arange(best.shape[1]) > rank[:, None]
        best = np.where(later, np.maximum(best, reached[:, None]), best)
    return best[:, -1]


def entropies(rows: np.ndarray, order: int = 3) -> np.ndarray:
    """Return the permutation entropy of each row, ties ordered by position."""
    windows = np.lib.stride_tricks.sliding_window_view(rows, order, axis=1)
    codes = np.argsort(windows, axis=2, kind="stable") @ (order ** np.arange(order))
    shares = np.stack([(codes == code).mean(axis=1) for code in np.unique(codes)])
    return special.entr(shares).sum(axis=0)


def weak_entropy(scores: Sequence[float], order: int = 3) -> float:
    """Return the entropy of patterns in which equal scores are patterns of their own."""
    windows = [tuple(stats.rankdata(scores[at : at + order], "dense")) for at in range(len(scores) - order + 1)]
    return float(special.entr(pd.Series(windows).value_counts(normalize=True)).sum())


def trend(scores: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of the inversions of scores in random order (Kendall 1975, section 4)."""
    n, ties = len(scores), pd.Series(scores).value_counts()
    variance = n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()
    return (math.comb(n, 2) - (ties * (ties - 1) / 2).sum()) / 2, math.sqrt(variance / 18) / 2


def shuffled(scores: Sequence[float], draws: int) -> np.ndarray:
    """Return the ranks of scores in random orders, shape (draws, scores)."""
    ranks = stats.rankdata(scores, "dense").astype(int) - 1
    return np.random.default_rng(20).permuted(np.tile(ranks, (draws, 1)), axis=1)


def check_chance(chance: Entry, values: np.ndarray, observed: float) -> None:
    """Recount place, mean and spread of a value among those of random orders, within four standard errors.

    A count that only one of the two samples shows adds its chance to stay unseen in the other one.
    """
    draws = int(re.search(r"([\d,]+) random", chance["method"])[1].replace(",", ""))
    scale, spread = 1 / draws + 1 / len(values), values.std()
    unseen = near(0.0, draws, len(values)) if values.dtype.kind == "i" else 1e-9
    moment = ((values - values.mean()) ** 4).mean()
    assert abs(chance["mean"] - values.mean()) <= 4 * spread * math.sqrt(scale) + unseen
    assert abs(chance["sd"] ** 2 - spread**2) <= 4 * math.sqrt(max(moment - spread**4, 0) * scale) + unseen
    for name, share in (("p_low", values <= observed + 1e-9), ("p_high", values >= observed - 1e-9)):
        assert abs(chance[name] - share.mean()) <= near(share.mean(), draws, len(values)), name
    assert chance["p_value"] == pytest.approx(min(2 * min(chance["p_low"], chance["p_high"]), 1))


def posterior(clusters: Sequence[tuple[int, int]], fractions: np.ndarray) -> np.ndarray:
    """Return the shares at these fractions of the posterior: Jeffreys' one for units alone, else that of clusters."""
    known = tuple(sorted((int(count), int(n)) for count, n in clusters if n))
    count, n = np.sum(known, axis=0)
    if n == len(known):
        return stats.beta.ppf(fractions, count + 0.5, n - count + 0.5)
    mass = np.cumsum(_joint(known).sum(axis=1))
    return np.sin(np.interp(fractions, mass / mass[-1], ANGLES + ANGLES[0])) ** 2


class Strata:
    """Judged dialogues by verdict, of which people labelled a part, with draws from the posterior of all shares.

    Attributes:
        weights: Share of each verdict.
        rates: Share of labelled dialogues that count, by verdict.
        shares: Drawn shares of the verdicts, shape (verdicts, draws).
        hits: Drawn shares that count within each verdict, likewise.
    """

    DRAWS = 40_000
    """Draws; an end of an interval is good to about 0.005."""

    def __init__(self, verdicts: pd.Series, counts: pd.Series, testers: pd.Series) -> None:
        names, own = list(dict.fromkeys(verdicts)), testers.loc[verdicts.index]
        known = counts.reindex(verdicts.index)
        judged, labelled, found = (
            pd.crosstab(own[rows.to_numpy()], verdicts[rows]).reindex(
                index=sorted(set(own)), columns=names, fill_value=0
            )
            for rows in (verdicts.notna(), known.notna(), known.fillna(0).astype(bool))
        )
        self.weights = (judged.sum() / len(verdicts)).to_numpy()
        self.rates = (found.sum() / labelled.sum()).to_numpy()
        uniform = np.random.default_rng(20).random((2 * len(names), self.DRAWS))
        left, parts = np.ones(self.DRAWS), []
        for at, name in enumerate(names[:-1]):
            rest = judged[names[at:]].sum(axis=1)
            taken = posterior(list(zip(judged[name], rest, strict=True)), uniform[at])
            parts.append(left * taken)
            left = left * (1 - taken)
        self.shares = np.array([*parts, left])
        self.hits = np.array(
            [
                posterior(list(zip(found[name], labelled[name], strict=True)), uniform[len(names) + at])
                for at, name in enumerate(names)
            ]
        )
        n = len(own.unique())
        linear = judged @ (self.rates - self.weights @ self.rates) / len(verdicts)
        linear += (found - labelled * self.rates) @ (self.weights / labelled.sum().to_numpy())
        reach = math.sqrt((linear**2).sum() * n / (n - 1)) * stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)
        drawn = special.logit((self.shares * self.hits).sum(axis=0))
        stretch = max(reach / special.expit(drawn).std(), 1)
        self.rate = special.expit(np.median(drawn) + stretch * (drawn - np.median(drawn)))


def middle(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of the middle 95% of equally likely values."""
    low, high = np.quantile(values, [0.025, 0.975])
    return low, high


def correlation(rows: pd.DataFrame, testers: pd.Series, method: str) -> tuple[float, float, float]:
    """Return a correlation by scipy and its interval: Fisher's z, each tester left out once."""
    measure = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    value, names = measure(*rows.to_numpy().T)[0], sorted(set(testers))
    without = np.arctanh([measure(*rows[(testers != name).to_numpy()].to_numpy().T)[0] for name in names])
    error = math.sqrt((len(names) - 1) / len(names) * ((without - without.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, len(names) - 1) * error
    return value, math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def mean_of_clusters(values: pd.Series, testers: pd.Series) -> tuple[float, float, float]:
    """Return a mean and its interval by Student's t, with an error that is robust to testers."""
    sums = (values - values.mean()).groupby(testers).sum()
    error = math.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(values)
    reach = stats.t.ppf(0.975, len(sums) - 1) * error
    return values.mean(), values.mean() - reach, values.mean() + reach


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
    """Return p-values after Holm's correction: each times the number of those as large or larger, never falling."""
    ordered = pd.Series(p_values).sort_values(kind="stable")
    return list((ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1).sort_index())


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
