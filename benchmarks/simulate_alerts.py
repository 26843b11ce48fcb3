"""How often alarms are false and how late true ones come, for a defect rate of .02 that rises to .06.

python benchmarks/simulate_alerts.py [REPETITIONS]

Histories of 5,000 sessions are drawn by seed: one without any change for false alarms, one with the rise at session
1,000 for the delay. The test that dashboards make on a rolling window stands beside ours. Then series of stars, for the
scan of order metrics and for the whole watch. Writes benchmarks/ALERTS.md. Not part of `make bench`: it takes minutes,
and its figures do not depend on the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import binom

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.unit.measurement.series_of_scores import IN_RUN, RUNS, STARS, WRONG_FROM, series  # noqa: E402
from theodolite.domain.monitoring import AlertKind, WatchRules  # noqa: E402
from theodolite.measurement.control_charts import rate_detector
from theodolite.measurement.monitoring import watch_history
from theodolite.measurement.control_charts import scan  # noqa: E402
from theodolite.measurement.control_charts import sequence_ends  # noqa: E402
from theodolite.measurement.sequences import rolling_inversions  # noqa: E402

N, RISE, LOW, HIGH = 5_000, 1_000, 0.02, 0.06


def rolling_test(row: np.ndarray) -> int | None:
    """Return where a binomial test on the last 200, made each 50 sessions, first falls below .05."""
    for end in range(200, len(row) + 1, 50):
        if binom.sf(row[end - 200 : end].sum() - 1, 200, LOW) < 0.05:
            return end - 1
    return None


def peeking(row: np.ndarray) -> int | None:
    """Return where a one-sided test on all sessions until then, made each 50, first falls below .05."""
    counts = np.cumsum(row)
    for end in range(50, len(row) + 1, 50):
        if (counts[end - 1] - LOW * end) / np.sqrt(end * LOW * (1 - LOW)) > 1.645:
            return end - 1
    return None


def cusum(row: np.ndarray) -> int | None:
    """Return where the cumulative log likelihood ratio of .04 against .02 first passes 6."""
    steps = np.where(row == 1, np.log(0.04 / LOW), np.log(0.96 / (1 - LOW)))
    running = np.concatenate(([0.0], np.cumsum(steps)))
    over = np.flatnonzero((running - np.minimum.accumulate(running))[1:] > 6)
    return int(over[0]) if len(over) else None


def detector(row: np.ndarray) -> int | None:
    """Return the first alarm of the e-SR detector with a run length of 100,000."""
    alarms = rate_detector(row, baseline=LOW, arl=1e5).alarms
    return alarms[0].index if alarms else None


def sequence(row: np.ndarray) -> int | None:
    """Return where the confidence sequence first lies above the limit."""
    low, _ = sequence_ends(np.cumsum(row), np.arange(1.0, len(row) + 1), 0.95, (0.5, 0.5))
    over = np.flatnonzero(low > LOW)
    return int(over[0]) if len(over) else None


METHODS: list[tuple[str, Callable[[np.ndarray], int | None], str]] = [
    ("rolling window of 200, binomial test each 50 (dashboards)", rolling_test, "none"),
    ("test of all sessions each 50 (peeking)", peeking, "none"),
    ("Bernoulli CUSUM, 6", cusum, "by simulation"),
    ("**e-SR detector, run length 100,000**", detector, "5 % at most"),
    ("**confidence sequence above the limit**", sequence, "5 % at most"),
]


def rates(repetitions: int) -> list[str]:
    """Return a row for each method: share of false alarms, median delay, share missed."""
    rng = np.random.default_rng(2026)
    good = [(rng.random(N) < LOW).astype(float) for _ in range(repetitions)]
    rates = np.where(np.arange(N) < RISE, LOW, HIGH)
    rising = [(rng.random(N) < rates).astype(float) for _ in range(repetitions)]
    rows = []
    for name, method, promise in METHODS:
        false = np.mean([method(row) is not None for row in good])
        ends = [method(row) for row in rising]
        true = [end - RISE for end in ends if end is not None and end >= RISE]
        missed = np.mean([end is None for end in ends])
        rows.append(f"| {name} | {false:.3f} | {promise} | {np.median(true):.0f} | {missed:.3f} |")
    return rows


def scans(repetitions: int) -> str:
    """Return how often the scan of inversions alarms falsely in 60 windows of stars."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(repetitions):
        stars = rng.choice([1, 2, 3, 4, 5], 8 * 80, p=(0.02, 0.03, 0.10, 0.35, 0.50)).astype(float)
        windows = rolling_inversions(stars, window=8)[::8].astype(float)
        alarms += bool(scan(windows, n_reference=20, arl=1000))
    return f"{alarms / repetitions:.3f}"


def watches(repetitions: int) -> list[str]:
    """Return a row for each wrong: how often the right alert came, and its median delay."""
    wanted = [
        ("slip", AlertKind.LEVEL_SLIPPED),
        ("hallucination", AlertKind.LEVEL_SLIPPED),
        ("alternation", AlertKind.PEN_FELL),
        ("judge", AlertKind.JUDGE_DRIFT),
    ]
    rules, begin = WatchRules(reference=300, recalibrate_days=None), WRONG_FROM * IN_RUN
    rows = []
    for wrong, kind in wanted:
        delays, early, told = [], 0, 0
        for seed in range(repetitions):
            alerts = [alert for alert in watch_history(series(wrong, seed=seed), rules).alerts if alert.position]
            early += any(alert.position < begin for alert in alerts)
            right = [alert for alert in alerts if alert.kind is kind and alert.position >= begin]
            if right:
                delays.append((right[0].position - begin) / IN_RUN)
                told += right[0].cause.value == ("judge" if wrong == "judge" else "application")
        found = len(delays)
        delay = f"{np.median(delays):.1f} runs" if delays else "-"
        rows.append(f"| {wrong} | {kind.value} | {found} of {repetitions} | {delay} | {told} of {found} | {early} |")
    return rows


def main() -> None:
    """Simulate, and write the page."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    n_watches = max(4, repetitions // 50)
    lines = [
        "# Alarms: how many are false, how late are true ones",
        "",
        f"Written by `benchmarks/simulate_alerts.py {repetitions}`: {repetitions} histories of {N:,} sessions each.",
        f"The rate is {LOW:g}; in every second history it rises to {HIGH:g} at session {RISE:,}.",
        "",
        "| method | false alarm in 5,000 sessions | promised | median delay, sessions | never seen |",
        "|---|---|---|---|---|",
        *rates(repetitions),
        "",
        "Alarms before the rise do not count as seen, so that a method that alarms early may seem quick.",
        "",
        f"The scan of inversions, run length 1,000 windows, alarms falsely in {scans(repetitions)} of histories of 60 windows"
        " after the good times; promised is .060 at most.",
        "",
        "## Stars",
        "",
        f"{n_watches} series each of {RUNS} runs with {STARS} stars and 40 anchors; something is wrong from run {WRONG_FROM} on.",
        "",
        "| wrong | right alert | seen | median delay | cause told rightly | series with an alert before |",
        "|---|---|---|---|---|---|",
        *watches(n_watches),
    ]
    (ROOT / "benchmarks" / "ALERTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
