"""How fast agreement is on many ratings, beside the libraries that do the same.

python benchmarks/bench_alpha.py [PYTHON]

100,000 units x 5 annotators, one rating in five missing: Krippendorff's ordinal alpha, and its interval from 1000
bootstrap samples. `krippendorff` comes with the tests; irrCAC pins old versions of what we need, so it is measured where
a Python that has it and pandas is named. Writes benchmarks/AGREEMENT.md; seconds are the processor's, since other work may share the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from theodolite.measurement.kappa import gwet_ac
from theodolite.measurement.alpha import krippendorff_alpha

N_UNITS, N_ANNOTATORS, N_SAMPLES = 100_000, 5, 1_000
WANTED_S = 0.3
FEW = 3
"""Bootstrap samples that a library without a bootstrap is timed on; the rest is reckoned."""

IRRCAC = """
import json, sys, time
import numpy as np, pandas as pd
from irrCAC.raw import CAC
table = np.load(sys.argv[1])
started = time.process_time()
CAC(pd.DataFrame(table.T)).gwet()
print(json.dumps(time.process_time() - started))
"""


def ratings() -> np.ndarray:
    """Return ratings of annotators who are at most a point off, shape (annotators, units)."""
    rng = np.random.default_rng(0)
    table = rng.integers(1, 6, (1, N_UNITS)) + rng.integers(-1, 2, (N_ANNOTATORS, N_UNITS))
    table = np.clip(table, 1, 5).astype(np.float64)
    table[rng.random(table.shape) < 0.2] = np.nan
    return table


def best_s(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest processor time of several runs, which other work on the machine disturbs least."""
    spent = []
    for _ in range(times):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def naive_s(table: np.ndarray) -> float:
    """Return what a bootstrap by calling `krippendorff` again and again would take."""
    rng = np.random.default_rng(1)

    def again() -> None:
        for _ in range(FEW):
            drawn = table[:, rng.integers(0, N_UNITS, N_UNITS)]
            krippendorff.alpha(reliability_data=drawn, level_of_measurement="ordinal")

    return best_s(again, 1) / FEW * N_SAMPLES


def irrcac_s(python: str, table: np.ndarray) -> float | None:
    """Return what irrCAC takes for Gwet's AC1; None where it fails."""
    place = ROOT / "benchmarks" / "ratings.npy"
    np.save(place, table)
    try:
        done = subprocess.run([python, "-c", IRRCAC, str(place)], capture_output=True, text=True, check=False)
    finally:
        place.unlink()
    return json.loads(done.stdout) if done.returncode == 0 else None


def main(python: str | None) -> None:
    """Write the report."""
    table = ratings()
    alpha = best_s(lambda: krippendorff_alpha(table, scale="ordinal"))
    boot = best_s(lambda: krippendorff_alpha(table, scale="ordinal", replicates=N_SAMPLES))
    theirs = best_s(lambda: krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal"))
    naive = naive_s(table)
    ac1 = best_s(lambda: gwet_ac(table, categories=range(1, 6)))
    irrcac = irrcac_s(python, table) if python else None
    same = krippendorff_alpha(table, scale="ordinal").value - krippendorff.alpha(
        reliability_data=table, level_of_measurement="ordinal"
    )
    rows = [
        ("ordinal alpha with a jackknife interval", alpha, "krippendorff, value alone", theirs),
        (f"ordinal alpha with {N_SAMPLES} bootstrap samples", boot, f"krippendorff called {N_SAMPLES} times", naive),
        ("Gwet's AC1 with its interval", ac1, "irrCAC", irrcac),
    ]
    lines = [
        "# Agreement on many ratings",
        "",
        f"Written by `benchmarks/bench_alpha.py`: {N_UNITS:,} units x {N_ANNOTATORS} annotators, a fifth missing.",
        f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end; seconds of the processor, the shortest of three runs.",
        f"Alphas differ from krippendorff's by {abs(same):.0e}.",
        "",
        "| ours | s | theirs | s | theirs over ours |",
        "|---|---|---|---|---|",
    ]
    for what, ours, whose, others in rows:
        told = (f"{others:.3f}", f"{others / ours:.1f}") if others is not None else ("not measured", "-")
        lines.append(f"| {what} | {ours:.3f} | {whose} | {' | '.join(told)} |")
    met = "yes" if boot < WANTED_S else "no"
    lines += ["", f"Wanted: {N_SAMPLES} bootstrap samples within {WANTED_S} s. Met: {met}."]
    (ROOT / "benchmarks" / "AGREEMENT.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
