"""A judge with five readings a dialogue, killed in the middle: calls, cost, memory.

python benchmarks/bench_votes.py [DIALOGUES]        writes benchmarks/VOTES.md; 10,000 dialogues unless given
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "race"))
from measured import Server

HERE = Path(__file__).parent
VOTES = 5
STUDY = """study: votes
models:
  large: {{url: {url}, name: judge, price: {{input: 1, output: 4}}}}
applications:
  old: {{kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}
judges:
  useful: {{ask: How useful is the reply?, scale: 1-5, defect: "<= 2", model: large, votes: {{rule: fixed, most: 5}}}}
"""
RESPONSE = "The order ships in two days and returns are free for thirty days."


@dataclass(frozen=True)
class Sitting:
    """One process: how it ended, how long it took, its CPU and its peak memory."""

    code: int
    wall_s: float
    cpu_s: float
    peak_mib: float


def sit(folder: Path, *, kill_at: int = 0, server: Server | None = None) -> Sitting:
    """Run the study; with `kill_at`, kill the process when the server has seen so many calls."""
    begun = time.perf_counter()
    with (folder / "log.txt").open("ab") as log:
        words = [sys.executable, "-m", "theodolite", "run", str(folder)]
        child = subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, "NO_COLOR": "1"})
    if server and kill_at:
        threading.Thread(target=_kill, args=(child.pid, kill_at, server), daemon=True).start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # the child is gone; nobody may wait for it again
    wall_s = time.perf_counter() - begun
    return Sitting(child.returncode, wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _kill(process: int, at: int, server: Server) -> None:
    """Kill a process when the server has seen so many calls; nothing if it ended before."""
    while server.stats()["judge"] < at:
        time.sleep(0.1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def main() -> None:
    """Measure, and write what was measured."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with Server() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = "".join(f"r{place},Question {place}?,{RESPONSE}\n" for place in range(n))
        (folder / "rows.csv").write_text(f"id,prompt,response\n{rows}", encoding="utf-8")
        (folder / "study.yaml").write_text(STUDY.format(url=server.base), encoding="utf-8")
        server.reset(latency_ms=50)
        killed = sit(folder, kill_at=n * VOTES // 2, server=server)
        rest = sit(folder)
        if rest.code:
            sys.exit((folder / "log.txt").read_text(encoding="utf-8"))
        seen = server.stats()
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (HERE / "VOTES.md").write_text(page(n, killed, rest, seen, results), encoding="utf-8")


def page(n: int, killed: Sitting, rest: Sitting, seen: dict[str, float], results: dict[str, object]) -> str:
    """Return the page of results."""
    spending, (conduct,) = results["spending"], results["judge_diagnostics"]
    wanted = n * VOTES
    rows = [
        ("readings that were wanted", f"{wanted:,}"),
        ("readings that the run holds", f"{conduct['votes']['cast']:,}"),
        ("calls that the server saw", f"{int(seen['judge']):,}"),
        ("of these asked twice, in flight at the kill", f"{int(seen['duplicates']):,}"),
        ("cost in the account, at 1 and 4 dollars a million tokens", f"${spending['cost_microusd'] / 1e6:.2f}"),
        ("first sitting, killed", f"{killed.wall_s:.0f} s, {killed.cpu_s:.0f} s CPU, peak {killed.peak_mib:.0f} MiB"),
        (
            "second sitting with report, exit code {rest.code}".format(rest=rest),
            f"{rest.wall_s:.0f} s, {rest.cpu_s:.0f} s CPU, peak {rest.peak_mib:.0f} MiB",
        ),
    ]
    table = "\n".join(f"| {what} | {figure} |" for what, figure in rows)
    return (
        f"# Votes\n\nWritten by `python benchmarks/bench_votes.py {n}`; one run on one machine.\n\n"
        f"{date.today():%d %b %Y}. {n:,} recorded dialogues, {VOTES} readings each, 50 ms a reply; "
        f"the process is killed half-way and the same command goes on.\n\n| | |\n|---|---|\n{table}\n"
    )


if __name__ == "__main__":
    main()
