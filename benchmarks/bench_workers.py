"""Cost of shared limits: CPU time and wall time of 1, 2 and 4 processes on one run, with and without them.

python benchmarks/bench_workers.py [--dialogues 800] [--rounds 5] [--database postgresql://...] [--page benchmarks/WORKERS.md]

Without limits means that each process counts for itself alone. Both variants run in turns, so that a busy
machine troubles both; each study has its own customers, so that no run takes over another one's results.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "race"))

import ours  # noqa: E402
from measured import Server  # noqa: E402

PARALLEL = 64
LATENCY_MS = 20

ALONE = (
    "import theodolite.bootstrap.study_context as c; f = c.open_clients; "
    "c.open_clients = lambda *a, **k: f(*a, **{**k, 'limits': None}); "
)
"""Lets a process count for itself alone."""


@dataclass(frozen=True)
class Cost:
    """What a run by some processes cost: CPU time of all, wall time of the run; seconds."""

    cpu_s: float
    wall_s: float


def run(server: Server, folder: Path, n: int, n_workers: int, database: str, *, is_shared: bool, first: int) -> Cost:
    """Let some processes do one study and return what it cost."""
    ours.write_study(folder, server.base, n, PARALLEL, first=first)
    server.reset(latency_ms=LATENCY_MS)
    words = ours.command(folder, PARALLEL)
    if not is_shared:
        words[2] = words[2].replace("from theodolite.cli", ALONE + "from theodolite.cli", 1)
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database} if database else {})
    begun = time.perf_counter()
    with folder.with_suffix(".log").open("w") as log:
        children = [
            subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=environ) for _ in range(n_workers)
        ]
        cpu_s = 0.0
        for child in children:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            cpu_s += used.ru_utime + used.ru_stime
    if any(child.returncode for child in children):
        sys.exit(f"a process failed: {folder.with_suffix('.log').read_text()[-2000:]}")
    return Cost(cpu_s, time.perf_counter() - begun)


def line(n_workers: int, alone: list[Cost], shared: list[Cost]) -> str:
    """Return a row of the table."""
    cells = [str(n_workers)]
    for pick in (lambda cost: cost.cpu_s, lambda cost: cost.wall_s):
        for best in (min, median):
            without, with_limits = best(map(pick, alone)), best(map(pick, shared))
            cells.append(f"{without:.2f} s, {with_limits:.2f} s, {100 * (with_limits / without - 1):+.1f} %")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Measure and print or write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dialogues", type=int, default=800)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options.add_argument("--database", default="", help="PostgreSQL database; the workspace's file by default")
    options.add_argument("--page", type=Path)
    chosen = options.parse_args()
    rows, first = [], int(time.time()) % 1_000_000 * 1_000  # fresh customers in a database that is there already
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        for n_workers in chosen.workers:
            costs: dict[bool, list[Cost]] = {False: [], True: []}
            for number in range(2 * chosen.rounds):
                is_shared = bool(number % 2)
                study = Path(folder, f"{n_workers}-{number}")
                costs[is_shared].append(
                    run(server, study, chosen.dialogues, n_workers, chosen.database, is_shared=is_shared, first=first)
                )
                first += chosen.dialogues
            rows.append(line(n_workers, costs[False], costs[True]))
            print(rows[-1], flush=True)
    heads = ("workers", "CPU, least", "CPU, median", "wall, least", "wall, median")
    table = "\n".join(["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *rows])
    kind = "PostgreSQL" if chosen.database else "SQLite"
    about = f"{chosen.dialogues} dialogues of 7 calls, {LATENCY_MS} ms latency, {PARALLEL} concurrent calls, {kind}"
    text = f"{datetime.now(UTC):%Y-%m-%d}, {about}, {chosen.rounds} rounds in turns; without, with, difference.\n\n{table}\n"
    if chosen.page:
        with chosen.page.open("a", encoding="utf-8") as page:
            page.write(f"\n{text}")
    else:
        print(text)


if __name__ == "__main__":
    main()
