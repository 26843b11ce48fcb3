"""Coverage over clusters on fine grids of rates: rates, bounds of no defect, paired differences and roots of trees.

`simulate_coverage.py` writes the tables. For rates nothing is drawn where few defects occur: all ways to spread up to
`COUNTED` defects over the clusters are listed with their probabilities. Samples with more defects are drawn once for a
design, from a mixture of rates and correlations, and weighted for each rate and correlation (importance sampling).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import betaincinv, betaln, gammaln

from theodolite.domain.tree_form import design_of
from theodolite.domain.tree import Leaf
from theodolite.measurement.proportion import defect_rate, zero_defect_bound
from theodolite.measurement.comparison import paired_difference
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.trees.measuring import Draws, measure_tree

COUNTED = 12
DRAWN = 4_500
RATES = np.concatenate([np.arange(0.004, 0.1, 0.002), np.arange(0.1, 0.31, 0.01)])
CORRELATIONS = (0.001, 0.1, 0.2, 0.3)
DESIGNS = ((20, 5), (50, 4), (10, 20), (20, 25))
SHOWN = (0.01, 0.018, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3)
MIXTURE = [(rate, correlation) for rate in (0.02, 0.06, 0.15, 0.3) for correlation in CORRELATIONS]


def partitions(total: int, largest: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to split defects over at most so many clusters, largest first."""
    if total == 0:
        yield ()
    elif most:
        for first in range(min(total, largest), 0, -1):
            for rest in partitions(total - first, first, most - 1):
                yield (first, *rest)


class Design:
    """All samples of few defects and some of many, each with the interval that it gives."""

    def __init__(self, n_clusters: int, size: int) -> None:
        self.n_clusters, self.size = n_clusters, size
        shapes = [shape for total in range(COUNTED + 1) for shape in partitions(total, size, n_clusters)]
        self.n_listed = len(shapes)
        rng = np.random.default_rng([11, n_clusters, size])
        for rate, correlation in MIXTURE:
            hard = beta(rng, rate, correlation, (DRAWN // len(MIXTURE), n_clusters))
            for counts in rng.binomial(size, hard):
                if counts.sum() > COUNTED:
                    shapes.append(tuple(sorted((int(count) for count in counts if count), reverse=True)))
        known: dict[tuple[int, ...], tuple[float, float]] = {}
        for shape in shapes:
            if shape not in known:
                known[shape] = self.interval(shape)
        self.ends = np.array([known[shape] for shape in shapes])
        self.times = np.array([np.bincount([*shape, *[0] * (n_clusters - len(shape))], minlength=size + 1)
                               for shape in shapes])  # fmt: skip
        drawn = np.array([self.logarithms(*part)[self.n_listed :] for part in MIXTURE])
        self.mixture = np.logaddexp.reduce(drawn, axis=0) - math.log(len(MIXTURE))

    def interval(self, shape: tuple[int, ...]) -> tuple[float, float]:
        clusters = [(count, self.size) for count in shape] + [(0, self.size)] * (self.n_clusters - len(shape))
        found = defect_rate(sum(shape), self.n_clusters * self.size, clusters=clusters)
        return found.low, found.high

    def logarithms(self, rate: float, correlation: float) -> np.ndarray:
        """Return the logarithm of each sample's beta-binomial probability, whichever cluster holds which count."""
        a, b = rate * (1 / correlation - 1), (1 - rate) * (1 / correlation - 1)
        counts = np.arange(self.size + 1)
        ways = gammaln(self.size + 1) - gammaln(counts + 1) - gammaln(self.size - counts + 1)
        cells = ways + betaln(counts + a, self.size - counts + b) - betaln(a, b)
        orders = gammaln(self.n_clusters + 1) - gammaln(self.times + 1).sum(axis=1)
        return self.times @ cells + orders

    def coverage(self, rate: float, correlation: float) -> tuple[float, float]:
        """Return coverage and mean width."""
        logarithms = self.logarithms(rate, correlation)
        listed = np.exp(logarithms[: self.n_listed])
        drawn = np.exp(logarithms[self.n_listed :] - self.mixture)
        drawn *= max(1.0 - listed.sum(), 0.0) / max(drawn.sum(), 1e-300)
        weights = np.concatenate((listed, drawn))
        held = (self.ends[:, 0] <= rate + 1e-12) & (rate <= self.ends[:, 1] + 1e-12)
        return float(weights @ held), float(weights @ (self.ends[:, 1] - self.ends[:, 0]))


def beta(rng: np.random.Generator, rate: float, correlation: float, shape: object) -> np.ndarray:
    """Return rates of clusters that resemble each other with this correlation."""
    return rng.beta(rate * (1 / correlation - 1), (1 - rate) * (1 / correlation - 1), shape)


def rates_on_a_grid(_: int) -> list[str]:
    """Return the lowest coverage over the grid of each design and correlation, and the coverage at some rates."""
    lowest = ["| clusters x dialogues, correlation | lowest coverage / width there | at rate | mean coverage |",
              "|---|---|---|---|"]  # fmt: skip
    shown = ["", "Coverage at single rates:", "",
             "| clusters x dialogues, correlation | " + " | ".join(f"{rate:g}" for rate in SHOWN) + " |",
             "|---" * (len(SHOWN) + 1) + "|"]  # fmt: skip
    for n_clusters, size in DESIGNS[:3]:
        design = Design(n_clusters, size)
        for correlation in CORRELATIONS:
            cells = [design.coverage(float(rate), correlation) for rate in RATES]
            at = int(np.argmin([coverage for coverage, _ in cells]))
            name = f"{n_clusters} x {size}, {0 if correlation < 0.01 else correlation:g}"
            mean = np.mean([coverage for coverage, _ in cells])
            lowest.append(f"| {name} | **{cells[at][0]:.3f} / {cells[at][1]:.3f}** | {RATES[at]:.3f} | {mean:.3f} |")
            shown.append(f"| {name} | " + " | ".join(f"{design.coverage(r, correlation)[0]:.3f}" for r in SHOWN) + " |")
            print(lowest[-1], flush=True)
    return lowest + shown


def bounds_of_none(_: int) -> list[str]:
    """Return how often no defect occurs at the printed bound, by correlation."""
    correlations = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
    lines = ["| clusters x dialogues | bound | exact bound if independent | "
             + " | ".join(f"correlation {value:g}" for value in correlations) + " |",
             "|---" * (len(correlations) + 3) + "|"]  # fmt: skip
    for n_clusters, size in (*DESIGNS, (6, 10)):
        n = n_clusters * size
        bound = zero_defect_bound(n, clusters=[size] * n_clusters).value
        chances = [none_of(bound, n_clusters, size, value) for value in correlations]
        cells = " | ".join(f"{chance:.3f}" for chance in chances)
        lines.append(f"| {n_clusters} x {size} | {bound:.4f} | {zero_defect_bound(n).value:.4f} | {cells} |")
    return lines


def none_of(rate: float, n_clusters: int, size: int, correlation: float) -> float:
    """Return the probability of no defect."""
    if correlation == 0.0:
        return float((1 - rate) ** (n_clusters * size))
    b = (1 - rate) * (1 / correlation - 1)
    whole = 1 / correlation - 1
    one = gammaln(b + size) - gammaln(b) - gammaln(whole + size) + gammaln(whole)
    return math.exp(n_clusters * float(one))


PAIRS = [
    ("alike", (1.0, 0.1)), ("one worse", (0.4, 0.1)), ("one worse", (0.4, 0.3)),
    ("mends alone", (0.75, 0.1)), ("mends alone", (0.3, 0.3)),
]  # fmt: skip
PAIR_RATES = (0.02, 0.05, 0.1, 0.2)


def paired(rng: np.random.Generator, design: tuple[int, int], kind: str, part: float, rate: float, alike: float):
    """Return what two applications did on the same cases, shape (clusters, cases) each."""
    shape = (design[0], design[1])
    if kind == "mends alone":
        first = rng.random(shape) < beta(rng, rate, alike, (shape[0], 1))
        return first, first & (rng.random(shape) < rng.beta(part * 8, (1 - part) * 8, (shape[0], 1)))
    place, size = rng.random((shape[0], 1)), 1 / alike - 1
    hard = [betaincinv(p * size, (1 - p) * size, place) for p in (rate, rate * part)]
    return rng.random(shape) < hard[0], rng.random(shape) < hard[1]


def pairs_on_a_grid(n_reps: int, tally: Callable[[], object]) -> list[str]:
    """Return the table of paired differences of rare defects."""
    methods = ("cluster-robust, Student's t", "ours")
    lines = ["| cases, rates, correlation | " + " | ".join(methods) + " |", "|---" * 3 + "|"]
    for n_clusters, size in DESIGNS[:3]:
        ids = np.repeat(np.arange(n_clusters), size).tolist()
        for kind, (part, alike) in PAIRS:
            for rate in PAIR_RATES:
                rng, counts = np.random.default_rng([12, n_clusters, int(1e4 * rate), int(100 * part)]), tally()
                for _ in range(n_reps):
                    a, b = (side.ravel().astype(float) for side in paired(
                        rng, (n_clusters, size), kind, part, rate, alike))  # fmt: skip
                    counts.note(methods[0], rate * part - rate, robust(b - a, ids))
                    counts.note(methods[1], rate * part - rate, paired_difference(a.tolist(), b.tolist(), clusters=ids))
                cells = [counts.cell(method, ours=method == "ours") for method in methods]
                title = f"{n_clusters} x {size}, {kind}, {rate:g} to {rate * part:g}, {alike:g}"
                lines.append(f"| {title} | " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    return lines


def robust(gaps: np.ndarray, ids: list[int]) -> tuple[float, float]:
    """Return the interval of the cluster-robust error; a point where nothing changes."""
    found = mean_estimate(gaps, clusters=ids, confidence=0.95)
    return (found.low, found.high) if found.low is not None else (found.value, found.value)


ROOTS = [(8, 6), (10, 20), (18, 5), (19, 5), (20, 5), (21, 5), (30, 5)]


def roots_of_trees(n_reps: int, tally: Callable[[], object]) -> list[str]:
    """Return the table of roots that are the mean of three questions."""
    shares = ((0.1, 0.2, 0.3), (0.02, 0.05, 0.02))
    lines = ["| clusters x dialogues | " + " | ".join(f"rates {one}" for one in shares) + " |", "|---" * 3 + "|"]
    nodes = {"root": {"summary": "mean", "of": ["x0", "x1", "x2"]}}
    for place in range(3):
        nodes[f"x{place}"] = {"summary": "mean", "of": f"a{place}"}
        nodes[f"a{place}"] = {"answers": f"a{place}", "scale": "0-1", "orientation": "higher_is_worse"}
    design = design_of({"tree": "three questions", "nodes": nodes})
    for n_clusters, size in ROOTS:
        cells = []
        for number, rates in enumerate(shares):
            rng, counts = np.random.default_rng([13, n_clusters, number]), tally()
            for _ in range(n_reps):
                leaves = [
                    Leaf(question=f"a{place}", session=f"{c}-{d}", value=f"{int(hit)}", cluster=f"{c}")
                    for place, rate in enumerate(rates)
                    for c, row in enumerate(rng.random((n_clusters, size)) < beta(rng, rate, 0.1, (n_clusters, 1)))
                    for d, hit in enumerate(row)
                ]
                root = measure_tree(design, leaves, nodes=["root"], draws=Draws(replicates=300, seed=5)).node("root")
                counts.note("ours", sum(rates) / 3, root.result)
            cells.append(counts.cell("ours", ours=True))
        lines.append(f"| {n_clusters} x {size} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines
