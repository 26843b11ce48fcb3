"""Coverage of intervals and false alarms of tests, by simulation with known truth.

python benchmarks/simulate_intervals.py [REPETITIONS]

Each simulation draws data from a known truth by seed and counts how often an interval covers it, or how often a test
or a chart raises a false alarm. Exit code 1 where a share is out of its bounds. Writes benchmarks/INTERVALS.md. The
unit tests run the same simulations with few repetitions and compare share and width with golden values, so a change
of a method shows there and this page is written again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from theodolite.domain.estimate import Undefined  # noqa: E402
from theodolite.measurement.comparison import cluster_permutation, paired_difference
from theodolite.measurement.questionnaires import people_permutation
from theodolite.measurement.rank_tests import superiority
from theodolite.measurement.proportion import mean_fraction, pooled_defect_rate  # noqa: E402
from theodolite.measurement.control_charts import level_detector, rate_detector  # noqa: E402
from theodolite.measurement.control_charts import scan, sequence_ends  # noqa: E402

REPETITIONS = 2_000


class Draw(NamedTuple):
    """One repetition: whether the event that is counted occurred, and a width or p-value."""

    counted: bool
    size: float


@dataclass(frozen=True)
class Simulation:
    """One simulation.

    Attributes:
        name: Design and method.
        draws: Endless repetitions, by seed.
        low: The share that is counted must be at least this.
        high: And at most this.
        widest: The mean size must be at most this.
    """

    name: str
    draws: Callable[[int], Iterator[Draw]]
    low: float
    high: float
    widest: float = math.inf

    def run(self, repetitions: int, seed: int = 1) -> tuple[float, float]:
        """Return the share of repetitions that are counted, and the mean size."""
        source = self.draws(seed)
        drawn = [next(source) for _ in range(repetitions)]
        return float(np.mean([draw.counted for draw in drawn])), float(np.mean([draw.size for draw in drawn]))


def superiority_of_ratings(seed):
    """Two groups of ratings from 1 to 5; the true probability of superiority is 17/30."""
    rng = np.random.default_rng(seed)
    while True:
        a, b = rng.integers(1, 6, 30), np.minimum(rng.integers(1, 7, 40), 5)
        found = superiority(a.tolist(), b.tolist())
        yield Draw(found.low <= 17 / 30 <= found.high, found.high - found.low)


def people_without_difference(seed):
    """Eight people with two answers each in two groups that do not differ."""
    rng = np.random.default_rng(seed)
    people = [str(n) for n in np.repeat(np.arange(8), 2)]
    while True:
        tendency = np.repeat(rng.integers(0, 4, 8), 2)
        answers = (tendency + rng.integers(1, 4, 16)).astype(float).tolist()
        test = people_permutation(answers, ["a"] * 8 + ["b"] * 8, people)
        p_value = 1.0 if isinstance(test, Undefined) else test.p_value
        yield Draw(p_value <= 0.05, p_value)


def clusters_without_difference(seed):
    """Ten clusters of ten cases whose differences share a shift of mean 0."""
    rng = np.random.default_rng(seed)
    ids = [case // 10 for case in range(100)]
    while True:
        shift = np.repeat(rng.normal(size=10), 10)
        a = rng.normal(size=100)
        p_value = cluster_permutation(a.tolist(), (a + shift).tolist(), ids).p_value
        yield Draw(p_value <= 0.05, p_value)


def steady_rates(seed):
    """200 outcomes at the baseline of .1; the chart promises 2,000 outcomes between false alarms."""
    rng = np.random.default_rng(seed)
    while True:
        alarms = rate_detector(rng.random(200) < 0.1, baseline=0.1, arl=2_000).alarms
        yield Draw(bool(alarms), len(alarms))


def steady_levels(seed):
    """200 scores at the baseline of .2; the chart promises 2,000 scores between false alarms."""
    rng = np.random.default_rng(seed)
    while True:
        alarms = level_detector(rng.beta(1, 4, 200), baseline=0.2, arl=2_000).alarms
        yield Draw(bool(alarms), len(alarms))


def steady_scans(seed):
    """60 values without a change; the scan promises 100 windows between false alarms."""
    rng = np.random.default_rng(seed)
    while True:
        alarms = scan(rng.integers(0, 15, 60).astype(float), n_reference=20, arl=100)
        yield Draw(bool(alarms), len(alarms))


def looks_at_a_rate(seed):
    """A rate of .1 is looked at after each of 500 cases; the confidence sequence covers it at all looks."""
    rng, looks = np.random.default_rng(seed), np.arange(1, 501)
    while True:
        low, high = sequence_ends(np.cumsum(rng.random(500) < 0.1), looks, 0.95, (0.5, 0.5))
        yield Draw(not ((low > 0.1) | (high < 0.1)).any(), high[-1] - low[-1])


def clustered_fractions(seed):
    """Shares of five tries in 20 clusters of ten, with a true mean of .25."""
    rng, clusters = np.random.default_rng(seed), np.repeat(range(20), 10).tolist()
    while True:
        values = rng.binomial(5, np.repeat(rng.beta(2, 6, 20), 10)) / 5
        found = mean_fraction(values, clusters=clusters, unit="u", confidence=0.95, otherwise="nothing")
        yield Draw(found.low <= 0.25 <= found.high, found.high - found.low)


def labels_of_a_pool(rng, *, dialogues, people, labels, severity, level):
    """Draw labels of a pool of annotators: dialogue, annotator and defect of each label."""
    strict = severity * rng.normal(size=people)
    hard = level + 1.5 * rng.normal(size=dialogues)
    who = np.array([rng.choice(people, labels, replace=False) for _ in range(dialogues)])
    defects = rng.random((dialogues, labels)) < 1 / (1 + np.exp(-(hard[:, None] + strict[who])))
    return np.repeat(np.arange(dialogues), labels).tolist(), who.ravel().tolist(), defects.ravel().tolist()


def rate_of_pool(dialogues, people, labels, severity):
    """Return the simulation of one pool: the rate over other dialogues and other annotators."""

    def draws(seed):
        rng = np.random.default_rng(seed)
        logits = -2.0 + 1.5 * rng.normal(size=200_000) + severity * rng.normal(size=200_000)
        truth = (1 / (1 + np.exp(-logits))).mean()
        design = {"dialogues": dialogues, "people": people, "labels": labels, "severity": severity, "level": -2.0}
        while True:
            rate = pooled_defect_rate(*labels_of_a_pool(rng, **design))
            yield Draw(rate.low <= truth <= rate.high, rate.high - rate.low)

    return draws


def rare_changes(n_clusters, size, before, after):
    """Return the simulation of one pair of rates in clusters with a correlation of .1."""

    def draws(seed):
        rng = np.random.default_rng(seed)
        ids = np.repeat(np.arange(n_clusters), size).tolist()
        while True:
            hard = rng.beta(before * 9, (1 - before) * 9, n_clusters)[:, None]
            a = (rng.random((n_clusters, size)) < hard).ravel().astype(int).tolist()
            b = (rng.random((n_clusters, size)) < hard * after / before).ravel().astype(int).tolist()
            change = paired_difference(a, b, clusters=ids)
            yield Draw(change.low <= after - before <= change.high, change.high - change.low)

    return draws


SIMULATIONS = {
    "superiority": Simulation("probability of superiority, ratings", superiority_of_ratings, 0.92, 0.985),
    "people": Simulation("permutation of people, no difference", people_without_difference, 0.0, 0.065),
    "clusters": Simulation("permutation of clusters, no difference", clusters_without_difference, 0.0, 0.065),
    "rate chart": Simulation("rate chart, 200 outcomes of 2,000 promised", steady_rates, 0.0, 0.1),
    "level chart": Simulation("level chart, 200 scores of 2,000 promised", steady_levels, 0.0, 0.1),
    "scan": Simulation("scan, 40 windows of 100 promised", steady_scans, 0.0, 0.4),
    "sequence": Simulation("confidence sequence, 500 looks", looks_at_a_rate, 0.94, 1.0),
    "fractions": Simulation("mean of fractions, 20 clusters", clustered_fractions, 0.92, 1.0),
    "pool of 40": Simulation("pooled rate, 90 dialogues, 40 annotators", rate_of_pool(90, 40, 2, 1.0), 0.92, 1.0),
    "equal pool": Simulation("pooled rate, 90 dialogues, equal annotators", rate_of_pool(90, 40, 2, 0.0), 0.92, 1.0),
    "pool of 10": Simulation("pooled rate, 200 dialogues, 10 annotators", rate_of_pool(200, 10, 3, 1.0), 0.92, 1.0),
    "changes 10x20": Simulation(
        "paired change .05 to .02, 10 clusters", rare_changes(10, 20, 0.05, 0.02), 0.92, 1.0, 0.153
    ),
    "changes 20x5": Simulation(
        "paired change .05 to .02, 20 clusters", rare_changes(20, 5, 0.05, 0.02), 0.92, 1.0, 0.1287
    ),
    "no changes": Simulation(
        "paired change .02 to .02, 10 clusters", rare_changes(10, 20, 0.02, 0.02), 0.92, 1.0, 0.144
    ),
}
"""By the name that the unit tests use."""


def main() -> int:
    """Run all simulations, and write the page."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    lines = [
        "# Coverage of intervals and false alarms of tests",
        "",
        f"Written by `benchmarks/simulate_intervals.py {repetitions}`: {repetitions:,} repetitions of each design.",
        "The share counts intervals that cover the truth, or false alarms; the size is the mean width, p-value or number of alarms.",
        "",
        "| design | share | bounds | size |",
        "|---|---|---|---|",
    ]
    outside = 0
    for simulation in SIMULATIONS.values():
        share, size = simulation.run(repetitions)
        outside += not simulation.low <= share <= simulation.high or size > simulation.widest
        lines.append(f"| {simulation.name} | {share:.3f} | {simulation.low:g} to {simulation.high:g} | {size:.3f} |")
        print(lines[-1], flush=True)
    (ROOT / "benchmarks" / "INTERVALS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
