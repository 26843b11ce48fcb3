"""How fast order metrics are on a million scores, beside the libraries that do the same.

python benchmarks/bench_order.py [PYTHON]

Permutation entropy, inversions, longest increasing subsequences, and rolling windows of 8. antropy and ordpy are measured
where a Python that has them is named; scipy's Kendall tau counts inversions too. Writes benchmarks/ORDER.md; seconds are
the processor's, the shortest of three runs, since other work may share the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from theodolite.measurement.sequences import (
    inversion_count,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling_entropy,
    rolling_inversions,
    rolling_subsequence,
)

N = 1_000_000
WINDOW = 8
PEERS = """
import json, math, sys, time, warnings
warnings.simplefilter("ignore")
import antropy, numpy as np, ordpy
scores = np.load(sys.argv[1])

def best(work):
    spent = []
    for _ in range(3):
        started = time.process_time()
        value = work()
        spent.append(time.process_time() - started)
    return min(spent), float(value)

antropy.perm_entropy(scores[:100], order=3)
print(json.dumps({
    "antropy": best(lambda: antropy.perm_entropy(scores, order=3) * math.log(2)),
    "ordpy": best(lambda: ordpy.permutation_entropy(scores, dx=3, base="e", normalized=False)),
}))
"""


def best_s(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest processor time of several runs."""
    spent = []
    for _ in range(times):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def peers(python: str | None, scores: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return seconds and value of each peer; none where no Python is named."""
    if python is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npy"
        np.save(path, scores)
        done = subprocess.run([python, "-c", PEERS, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure, and write the page."""
    rng = np.random.default_rng(0)
    real, stars = rng.random(N), rng.integers(1, 6, N).astype(float)
    jobs = [
        ("permutation entropy, order 3", 0.1, lambda x: permutation_entropy(x)),
        ("inversions", 2.0, lambda x: inversion_count(x)),
        ("longest increasing subsequence", 3.0, lambda x: longest_increasing_subsequence(x)),
        (f"rolling entropy, windows of {WINDOW}", 0.2, lambda x: rolling_entropy(x, window=WINDOW)),
        (f"rolling inversions, windows of {WINDOW}", 0.2, lambda x: rolling_inversions(x, window=WINDOW)),
        (f"rolling subsequence, windows of {WINDOW}", 0.2, lambda x: rolling_subsequence(x, window=WINDOW)),
    ]
    rows = [(name, wanted, best_s(lambda: job(real)), best_s(lambda: job(stars))) for name, wanted, job in jobs]
    theirs = peers(sys.argv[1] if len(sys.argv) > 1 else None, real)
    exact = permutation_entropy(real)
    lines = [
        "# Order metrics on a million scores",
        "",
        f"Written by `benchmarks/bench_order.py`: {N:,} scores, different ones and stars of 1 to 5.",
        f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end; seconds of the processor, the shortest of three runs.",
        "",
        "| metric | different scores, s | stars, s | wanted, s | met |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {a:.3f} | {b:.3f} | {wanted:g} | {'yes' if max(a, b) <= wanted else 'no'} |"
            for name, wanted, a, b in rows
        ),
        "",
        "| theirs, different scores | s | theirs over ours | difference of values |",
        "|---|---|---|---|",
    ]
    for name, (spent, value) in theirs.items():
        lines.append(
            f"| {name}, permutation entropy | {spent:.3f} | {spent / rows[0][2]:.1f} | {abs(value - exact):.0e} |"
        )
    if not theirs:
        lines.append("| antropy, ordpy | not measured: no Python was named | | |")
    tau_s = best_s(lambda: kendalltau(np.arange(N), real, method="asymptotic"))
    lines.append(f"| scipy, Kendall's tau (holds the inversions) | {tau_s:.3f} | {tau_s / rows[1][2]:.1f} | |")
    (ROOT / "benchmarks" / "ORDER.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
