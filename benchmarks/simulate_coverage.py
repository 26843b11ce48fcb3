"""How often nominal 95 % intervals hold what is true, in designs that users have.

python benchmarks/simulate_coverage.py [REPETITIONS]

Data are drawn from a known truth again and again, by seed; an interval is right where it holds the truth. Methods that
we do not use stand beside those that we do, so that one sees why. Writes benchmarks/COVERAGE.md. Not part of `make
bench`: it takes minutes, and its figures do not depend on the machine.
"""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.coverage_of_clusters import (  # noqa: E402
    bounds_of_none,
    pairs_on_a_grid,
    rates_on_a_grid,
    roots_of_trees,
)
from theodolite.measurement.agreement import classification_report
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.correction import corrected_mean, corrected_rate, judge_accuracy, rogan_gladen_rate
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.comparison import paired_difference
from theodolite.measurement.interval import clustered_share  # noqa: E402
from theodolite.measurement.scores import mean_estimate  # noqa: E402

WANTED = 0.93
N_JUDGED = 5_000
RATES = [
    ("10 personas x 50, rate .02, correlation .1", 10, 50, ("beta", 0.02, 0.1)),
    ("10 x 50, rate .02, correlation .3", 10, 50, ("beta", 0.02, 0.3)),
    ("20 x 25, rate .02, correlation .1", 20, 25, ("beta", 0.02, 0.1)),
    ("20 x 25, rate .1, correlation .1", 20, 25, ("beta", 0.1, 0.1)),
    ("50 x 10, rate .02, correlation .3", 50, 10, ("beta", 0.02, 0.3)),
    ("10 x 50, one persona in ten at .30, the rest at .002", 10, 50, ("two", 0.30, 0.002)),
    ("20 x 25, likewise", 20, 25, ("two", 0.30, 0.002)),
    ("20 x 25, personas spread as a logit-normal, sd 1.2", 20, 25, ("logit", -3.5, 1.2)),
    ("20 x 25, all personas alike at .03", 20, 25, ("flat", 0.03, 0.0)),
]
JUDGES = [(0.02, 0.85, 0.95, 100), (0.02, 0.85, 0.95, 300), (0.05, 0.85, 0.95, 100), (0.05, 0.95, 0.99, 200),
          (0.20, 0.85, 0.95, 100), (0.50, 0.80, 0.80, 100)]  # fmt: skip


class Tally:
    """How often each method was asked, answered and right, and how wide it was."""

    def __init__(self) -> None:
        self.asked: defaultdict[str, int] = defaultdict(int)
        self.right: defaultdict[str, int] = defaultdict(int)
        self.widths: defaultdict[str, list[float]] = defaultdict(list)

    def note(self, method: str, truth: float, result: object) -> None:
        """Note one interval."""
        self.asked[method] += 1
        ends = result if isinstance(result, tuple) else (getattr(result, "low", None), getattr(result, "high", None))
        if ends[0] is not None and ends[1] is not None:
            self.right[method] += ends[0] - 1e-12 <= truth <= ends[1] + 1e-12
            self.widths[method].append(ends[1] - ends[0])

    def cell(self, method: str, *, ours: bool) -> str:
        """Return coverage and mean width of a method; bold where it is ours."""
        n = len(self.widths[method])
        if not n:
            return "undefined"
        share = self.right[method] / n
        undefined = 1.0 - n / self.asked[method]
        text = f"{share:.3f} / {np.mean(self.widths[method]):.3f}"
        text = f"**{text}**" if ours else text
        return text + (f", undefined in {undefined:.0%}" if undefined > 0.004 else "")


def personas(rng: np.random.Generator, n: int, kind: tuple[str, float, float]) -> np.ndarray:
    """Return the rate of each persona."""
    name, first, second = kind
    if name == "beta":
        size = 1 / second - 1
        return rng.beta(first * size, (1 - first) * size, n)
    if name == "two":
        return np.where(rng.random(n) < 0.1, first, second)
    return 1 / (1 + np.exp(-rng.normal(first, second, n))) if name == "logit" else np.full(n, first)


def truth_of(kind: tuple[str, float, float]) -> float:
    """Return the rate over all personas that there are."""
    name, first, second = kind
    if name == "two":
        return 0.1 * first + 0.9 * second
    if name == "logit":
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        return float((weights / weights.sum()) @ (1 / (1 + np.exp(-(first + second * nodes)))))
    return first


def percentile(rng: np.random.Generator, found: np.ndarray, size: int) -> tuple[float, float]:
    """Return the percentile bootstrap over personas."""
    drawn = found[rng.integers(0, len(found), (500, len(found)))].mean(axis=1) / size
    return tuple(np.quantile(drawn, [0.025, 0.975]))


def clustered_rates(n_reps: int) -> list[str]:
    """Return the table of rates over clusters."""
    methods = ("Wilson", "cluster bootstrap", "beta-binomial (default)")
    lines = ["| personas x dialogues | " + " | ".join(methods) + " |", "|---" * 4 + "|"]
    for number, (title, n, size, kind) in enumerate(RATES):
        rng, tally, truth = np.random.default_rng([1, number]), Tally(), truth_of(kind)
        for _ in range(n_reps):
            found = rng.binomial(size, personas(rng, n, kind))
            total = int(found.sum())
            tally.note(methods[0], truth, defect_rate(total, n * size))
            tally.note(methods[1], truth, percentile(rng, found, size))
            tally.note(methods[2], truth, defect_rate(total, n * size, clusters=[(int(d), size) for d in found]))
        cells = [tally.cell(method, ours=method == methods[2]) for method in methods]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def judged(rng: np.random.Generator, defect: np.ndarray, sensitivity: float, specificity: float) -> np.ndarray:
    """Return a judge's verdicts."""
    return np.where(defect, rng.random(defect.size) < sensitivity, rng.random(defect.size) > specificity)


def corrected_rates(n_reps: int) -> list[str]:
    """Return the table of rates corrected by people's labels."""
    methods = ("the judge alone, Wilson", "PPI++", "Rogan-Gladen", "verdict-stratified (default)")
    lines = ["| rate, sensitivity, specificity, labels | " + " | ".join(methods) + " |", "|---" * 5 + "|"]
    for number, (rate, sensitivity, specificity, n) in enumerate(JUDGES):
        rng, tally = np.random.default_rng([2, number]), Tally()
        for _ in range(n_reps):
            defect = rng.random(N_JUDGED) < rate
            verdicts = judged(rng, defect, sensitivity, specificity)
            labels: list[bool | None] = [None] * N_JUDGED
            for place in rng.choice(N_JUDGED, n, replace=False).tolist():
                labels[place] = bool(defect[place])
            tally.note(methods[0], rate, defect_rate(int(verdicts.sum()), N_JUDGED))
            scores = [None if label is None else float(label) for label in labels]
            tally.note(methods[1], rate, corrected_mean(verdicts.astype(float).tolist(), scores))
            tally.note(methods[2], rate, from_elsewhere(rng, verdicts, (rate, sensitivity, specificity), n))
            tally.note(methods[3], rate, corrected_rate(verdicts.tolist(), labels))
        cells = [tally.cell(method, ours=method == methods[3]) for method in methods]
        lines.append(f"| {rate}, {sensitivity}, {specificity}, {n} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def from_elsewhere(rng: np.random.Generator, verdicts: np.ndarray, truth: tuple[float, float, float], n: int) -> object:
    """Return Rogan and Gladen's correction with as many labels of other dialogues."""
    defects = int(rng.binomial(n, truth[0]))
    caught, passed = int(rng.binomial(defects, truth[1])), int(rng.binomial(n - defects, truth[2]))
    return rogan_gladen_rate(
        int(verdicts.sum()), len(verdicts), sensitivity=(caught, defects), specificity=(passed, n - defects)
    )


def corrected_clusters(n_reps: int) -> list[str]:
    """Return the table of corrected rates over clusters."""
    methods = ("as if independent", "clusters given")
    lines = ["| personas x dialogues, rate, correlation, labels | " + " | ".join(methods) + " |", "|---" * 3 + "|"]
    for number, (n, size, rate, alike, n_labels) in enumerate(
        [(20, 100, 0.05, 0.1, 200), (20, 100, 0.2, 0.1, 200), (50, 40, 0.05, 0.1, 200)]
    ):
        rng, tally = np.random.default_rng([3, number]), Tally()
        for _ in range(n_reps):
            shares = np.repeat(personas(rng, n, ("beta", rate, alike)), size)
            defect = rng.random(n * size) < shares
            verdicts = judged(rng, defect, 0.85, 0.95).tolist()
            labels: list[bool | None] = [None] * (n * size)
            for place in rng.choice(n * size, n_labels, replace=False).tolist():
                labels[place] = bool(defect[place])
            ids = [place // size for place in range(n * size)]
            tally.note(methods[0], rate, corrected_rate(verdicts, labels))
            tally.note(methods[1], rate, corrected_rate(verdicts, labels, clusters=ids))
        cells = [tally.cell(method, ours=method == methods[1]) for method in methods]
        lines.append(f"| {n} x {size}, {rate}, {alike}, {n_labels} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def accuracies(n_reps: int) -> list[str]:
    """Return the table of sensitivities where half of the labels are alarms."""
    methods = ("labelled dialogues alone, Wilson", "by heaps (default)")
    lines = ["| rate, sensitivity, specificity, labels | " + " | ".join(methods) + " |", "|---" * 3 + "|"]
    for number, (rate, sensitivity, specificity, n) in enumerate([(0.05, 0.8, 0.95, 200), (0.2, 0.8, 0.9, 200)]):
        rng, tally = np.random.default_rng([4, number]), Tally()
        for _ in range(n_reps):
            defect = rng.random(N_JUDGED) < rate
            verdicts = judged(rng, defect, sensitivity, specificity)
            drawn = [rng.choice(np.flatnonzero(verdicts == said), n // 2, replace=False) for said in (True, False)]
            labels: list[bool | None] = [None] * N_JUDGED
            for place in np.concatenate(drawn).tolist():
                labels[place] = bool(defect[place])
            seen = np.concatenate(drawn)
            caught, all_seen = int((defect & verdicts)[seen].sum()), int(defect[seen].sum())
            tally.note(methods[0], sensitivity, defect_rate(caught, all_seen) if all_seen else None)
            tally.note(methods[1], sensitivity, judge_accuracy(verdicts.tolist(), labels).sensitivity)
        cells = [tally.cell(method, ours=method == methods[1]) for method in methods]
        lines.append(f"| {rate}, {sensitivity}, {specificity}, {n} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def agreements(n_reps: int) -> list[str]:
    """Return the table of kappa where errors come by persona."""
    methods = ("as if independent", "clusters given")
    lines = ["| personas x dialogues, kappa | " + " | ".join(methods) + " |", "|---" * 3 + "|"]
    for number, (n, size) in enumerate([(10, 20), (20, 15), (40, 10)]):
        rng, tally = np.random.default_rng([5, number]), Tally()
        for _ in range(n_reps):
            # Half of the dialogues are defects; the judge errs on .1 of them, by persona.
            errors = np.repeat(personas(rng, n, ("beta", 0.1, 0.2)), size)
            people = rng.random(n * size) < 0.5
            judge = people ^ (rng.random(n * size) < errors)
            ids = [place // size for place in range(n * size)]
            arguments = (people.astype(int).tolist(), judge.astype(int).tolist())
            tally.note(methods[0], 0.8, cohen_kappa(*arguments, categories=[0, 1]))
            tally.note(methods[1], 0.8, cohen_kappa(*arguments, categories=[0, 1], clusters=ids))
        cells = [tally.cell(method, ours=method == methods[1]) for method in methods]
        lines.append(f"| {n} x {size}, .8 | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


MACRO_F1 = [
    ("100 dialogues, right on .8", (100, 1, 0.0), ((0.4, 0.3, 0.3), 0.80)),
    ("150 dialogues, two rare labels, right on .9", (150, 1, 0.0), ((0.85, 0.10, 0.05), 0.90)),
    ("80 dialogues, right on .98", (80, 1, 0.0), ((0.4, 0.3, 0.3), 0.98)),
    ("20 personas x 5, right on .8, correlation .3", (20, 5, 0.3), ((0.5, 0.3, 0.2), 0.80)),
    ("50 personas x 4, two rare labels, right on .9, correlation .3", (50, 4, 0.3), ((0.85, 0.10, 0.05), 0.90)),
    ("10 personas x 20, right on .8, correlation .1", (10, 20, 0.1), ((0.5, 0.3, 0.2), 0.80)),
]


def macro_f1_of(cells: np.ndarray) -> float:
    """Return the mean F1 of the labels of a confusion matrix."""
    sizes = cells.sum(axis=0) + cells.sum(axis=1)
    return float(np.mean(2 * np.diag(cells)[sizes > 0] / sizes[sizes > 0]))


def by_delta(cells: np.ndarray) -> tuple[float, float]:
    """Return the normal interval of macro-F1 by the delta method (Takahashi et al. 2022), clipped to 0..1."""
    n, slope, middle = cells.sum(), np.zeros(cells.shape), macro_f1_of(cells)
    for place in np.ndindex(cells.shape):
        up, down = cells.copy(), cells.copy()
        up[place] += 1e-3
        down[place] -= 1e-3
        slope[place] = (macro_f1_of(up) - macro_f1_of(down)) / 2e-3 * n
    shares = cells / n
    error = np.sqrt(max(float((shares * slope**2).sum() - (shares * slope).sum() ** 2), 0.0) / n)
    return max(middle - 1.96 * error, 0.0), min(middle + 1.96 * error, 1.0)


def macro_f1_scores(n_reps: int) -> list[str]:
    """Return the table of macro-F1, over independent dialogues and over personas."""
    methods = ("normal, delta method", "as if independent", "clusters given")
    lines = ["| design | " + " | ".join(methods) + " |", "|---" * 4 + "|"]
    for number, (title, (n, size, correlation), (labels, right)) in enumerate(MACRO_F1):
        rng, tally, wrong = np.random.default_rng([9, number]), Tally(), (1 - right) / 2
        shares = np.array(labels)[:, None] * np.where(np.eye(3) > 0, right, wrong)
        truth, ids = macro_f1_of(shares), [place // size for place in range(n * size)]
        for _ in range(n_reps):
            kept = shares.ravel() * (1 - correlation) / correlation if correlation else None
            own = [shares.ravel() if kept is None else rng.dirichlet(kept) for _ in range(n if correlation else 1)]
            drawn = np.concatenate([rng.choice(9, size=n * size // len(own), p=one) for one in own])
            people, judge = (drawn // 3).tolist(), (drawn % 3).tolist()
            cells = np.bincount(drawn, minlength=9).reshape(3, 3).astype(float)
            tally.note(methods[0], truth, by_delta(cells))
            plain = classification_report(people, judge, categories=[0, 1, 2])
            tally.note(methods[1], truth, plain.macro_f1)
            if correlation:
                over = classification_report(people, judge, categories=[0, 1, 2], clusters=ids)
                tally.note(methods[2], truth, over.macro_f1)
        ours = methods[2] if correlation else methods[1]
        cells_of = [tally.cell(method, ours=method == ours) if tally.asked[method] else "" for method in methods]
        lines.append(f"| {title} | " + " | ".join(cells_of) + " |")
        print(lines[-1], flush=True)
    return lines


def pairs(rng: np.random.Generator, design: tuple[int, int, float, str]) -> tuple[np.ndarray, np.ndarray, float]:
    """Return what two applications did on the same cases, persona after persona, and the true difference."""
    n, size, rate, kind = design
    hard = np.repeat(personas(rng, n, ("beta", rate, 0.2)), size) if size > 1 else np.full(n, rate)
    first = rng.random(n * size) < hard
    if kind == "mends":
        kept = np.repeat(rng.beta(6, 2, n), size) if size > 1 else np.full(n, 0.6)
        return first, first & (rng.random(n * size) < kept), -rate * (0.25 if size > 1 else 0.4)
    if kind == "mends and breaks":
        kept, broken = np.repeat(rng.beta(2, 2, n), size), np.repeat(rng.beta(0.09, 2.91, n), size)
        second = np.where(first, rng.random(n * size) < kept, rng.random(n * size) < broken)
        return first, second, -rate * 0.5 + (1 - rate) * 0.03
    return first, rng.random(n * size) < hard, 0.0


DIFFERENCES = [
    ("100, independent, .05 to .03", (100, 1, 0.05, "mends")),
    ("20 personas x 10, .20 to .15", (20, 10, 0.20, "mends")),
    ("20 personas x 10, .05 to .0375", (20, 10, 0.05, "mends")),
    ("50 personas x 5, .05 to .0375", (50, 5, 0.05, "mends")),
    ("20 personas x 10, .20, mends half and breaks .03", (20, 10, 0.20, "mends and breaks")),
    ("20 personas x 10, .10, no difference", (20, 10, 0.10, "alike")),
]


def differences(n_reps: int) -> list[str]:
    """Return the table of paired differences."""
    methods = ("normal, independent", "cluster-robust, Student's t", "ours")
    lines = ["| cases | " + " | ".join(methods) + " |", "|---" * 4 + "|"]
    for number, (title, design) in enumerate(DIFFERENCES):
        rng, tally = np.random.default_rng([6, number]), Tally()
        for _ in range(n_reps):
            a, b, truth = pairs(rng, design)
            gaps = b.astype(float) - a
            reach = 1.96 * gaps.std(ddof=1) / math.sqrt(gaps.size)
            tally.note(methods[0], truth, (gaps.mean() - reach, gaps.mean() + reach))
            ids = None if design[1] == 1 else [place // design[1] for place in range(gaps.size)]
            tally.note(methods[1], truth, mean_estimate(gaps, clusters=ids, confidence=0.95, unit=""))
            tally.note(methods[2], truth, paired_difference(a.tolist(), b.tolist(), clusters=ids))
        cells = [tally.cell(method, ours=method == methods[2]) for method in methods]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def unequal(n_reps: int) -> list[str]:
    """Return the table of pooled rates where large clusters have another rate than small ones."""
    methods = ("Wilson", "beta-binomial alone", "ours")
    lines = ["| personas | " + " | ".join(methods) + " |", "|---" * 4 + "|"]
    for number, (n, small, large) in enumerate([(20, 0.02, 0.10), (20, 0.10, 0.02), (40, 0.30, 0.60)]):
        rng, tally = np.random.default_rng([7, number]), Tally()
        for _ in range(n_reps):
            sizes = np.where(rng.random(n) < 0.25, 60, 5)
            rates = rng.beta(*(np.array([m := np.where(sizes > 5, large, small), 1 - m]) * 9))
            counts = rng.binomial(sizes, rates)
            truth = (0.25 * 60 * large + 0.75 * 5 * small) / (0.25 * 60 + 0.75 * 5)
            clusters = list(zip(counts.tolist(), sizes.tolist(), strict=True))
            total = int(counts.sum()), int(sizes.sum())
            tally.note(methods[0], truth, defect_rate(*total))
            posterior = clustered_share(clusters)
            tally.note(methods[1], truth, (posterior.quantile(0.025), posterior.quantile(0.975)))
            tally.note(methods[2], truth, defect_rate(*total, clusters=clusters))
        cells = [tally.cell(method, ours=method == methods[2]) for method in methods]
        lines.append(
            f"| {n}, three in four of 5 dialogues at {small}, the others of 60 at {large} | " + " | ".join(cells) + " |"
        )
        print(lines[-1], flush=True)
    return lines


HELD_OUT_RATES = [
    ("15 personas of 8 and 80 dialogues in turn, .15 and .05", (15, (8, 80), (0.15, 0.05), 9)),
    ("30 of 2 to 200, rate .03 whatever the size", (30, (2, 200), (0.03, 0.03), 20)),
    ("25 of 10 and 40, .5 and .35", (25, (10, 40), (0.5, 0.35), 5)),
]
HELD_OUT_PAIRS = [
    ("paired, 30 personas x 8, .15, mends half and breaks .03", (30, 8, 0.15, "mends and breaks")),
    ("paired, 12 personas x 25, .30 to .225", (12, 25, 0.30, "mends")),
    ("paired, 40 personas x 6, .08, no difference", (40, 6, 0.08, "alike")),
]


def held_out(n_reps: int) -> list[str]:
    """Return the table of designs that were written down after the methods were settled, and looked at once."""
    return ["| design | ours |", "|---|---|", *held_out_rates(n_reps), *held_out_pairs(n_reps)]


def held_out_rates(n_reps: int) -> list[str]:
    """Return the rows of pooled rates."""
    lines = []
    for number, (title, (n, ends, rates, size)) in enumerate(HELD_OUT_RATES):
        rng, tally = np.random.default_rng([8, number]), Tally()
        drawn = np.geomspace(*ends, n).round().astype(int) if ends == (2, 200) else np.resize(ends, n)
        hard = np.where(drawn > np.mean(ends) / 2, rates[1], rates[0])
        truth = float((drawn * hard).sum() / drawn.sum())
        for _ in range(n_reps):
            counts = rng.binomial(drawn, rng.beta(hard * size, (1 - hard) * size))
            clusters = list(zip(counts.tolist(), drawn.tolist(), strict=True))
            tally.note("ours", truth, defect_rate(int(counts.sum()), int(drawn.sum()), clusters=clusters))
        lines.append(f"| {title} | {tally.cell('ours', ours=True)} |")
        print(lines[-1], flush=True)
    return lines


def held_out_pairs(n_reps: int) -> list[str]:
    """Return the rows of paired differences."""
    lines = []
    for number, (title, design) in enumerate(HELD_OUT_PAIRS):
        rng, tally = np.random.default_rng([9, number]), Tally()
        for _ in range(n_reps):
            a, b, truth = pairs(rng, design)
            ids = [place // design[1] for place in range(a.size)]
            tally.note("ours", truth, paired_difference(a.tolist(), b.tolist(), clusters=ids))
        lines.append(f"| {title} | {tally.cell('ours', ours=True)} |")
        print(lines[-1], flush=True)
    return lines


SECTIONS = [
    ("Rates over clusters", clustered_rates, 1.0),
    ("Rates over clusters, on a fine grid of rates", rates_on_a_grid, None),
    ("No defect at all: how often it happens at the bound", bounds_of_none, None),
    ("Rates over clusters of unequal size", unequal, 0.2),
    ("Rates corrected by people's labels on a random part of 5,000 judged dialogues", corrected_rates, 1.0),
    ("Corrected rates over clusters", corrected_clusters, 0.3),
    ("Sensitivity of a judge, half of the labels on its alarms", accuracies, 0.6),
    ("Cohen's kappa where a judge errs by persona", agreements, 0.6),
    ("Macro-F1 of three labels", macro_f1_scores, 0.6),
    ("Paired differences of two applications", differences, 0.2),
    ("Paired differences of rare defects over clusters", lambda n: pairs_on_a_grid(n, Tally), 0.4),
    ("Roots of trees: the mean of three questions", lambda n: roots_of_trees(n, Tally), 0.4),
    ("Designs that had no say in the methods", held_out, 0.4),
]
"""Title, what is drawn, and the share of the repetitions that it gets, since some take long; None = nothing is drawn
a row."""

NOTES = {
    "Rates over clusters, on a fine grid of rates": "70 rates from .004 to .3 a row; samples of up to 12 defects are"
    " counted exactly, others are weighted draws.",
    "No defect at all: how often it happens at the bound": "Probability of no defect if the true rate is the printed"
    " one-sided bound, which is .05 on the average over the prior of the correlation, Beta(.8, 4).",
}
"""What is said of the sections that draw nothing a row."""


def short_of(lines: list[str]) -> list[str]:
    """Return the rows in which a method of ours holds the truth too seldom."""
    rows = [(line.strip("| ").split(" | ")[0], re.search(r"\*\*([\d.]+) / ", line)) for line in lines if "**" in line]
    return [f"- {row}: {found[1]}" for row, found in rows if found and float(found[1]) < WANTED] or ["Nothing."]


def main(n_reps: int) -> None:
    """Write the report."""
    lines = [
        "# Coverage",
        "",
        "Written by `benchmarks/simulate_coverage.py`, seeded: the same figures on every machine.",
        f"Each cell: share of nominal 95 % intervals that hold the truth / their mean width. Wanted: {WANTED} or more.",
        "Ours are bold. The columns beside them are there to show what they do instead.",
        "",
        "Rates over clusters and paired differences: our methods were settled by looking at the designs of their tables.",
        "No figure there is an independent test; those of the last table were written down afterwards and drawn once.",
    ]
    for title, section, share in SECTIONS:
        n = round(n_reps * (share or 1.0))
        known = 1.96 * math.sqrt(0.95 * 0.05 / n)
        note = f"{n} repetitions a row; a share near .95 is known to {known:.3f} or so."
        lines += ["", f"## {title}", "", NOTES.get(title, note), "", *section(n)]
    lines += ["", "## Short of what is wanted", "", *short_of(lines)]
    (ROOT / "benchmarks" / "COVERAGE.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
