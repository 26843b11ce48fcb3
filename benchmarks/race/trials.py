"""Trials: what becomes of our engine when servers refuse and fail, and when it is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import ours
from job import CALLS
from measured import HERE, Server, emptied, measure


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One row: what was tried, what came, what was wanted."""

    what: str
    came: str
    wanted: str
    met: bool


def faults(server: Server, folder: Path, *, n: int = 200, c: int = 50) -> Trial:
    """Run against a server that refuses 5 % of the calls and breaks down at 2 %."""
    ours.write_study(emptied(folder), server.base, n, c)
    server.reset(latency_ms=20, p429=0.05, p500=0.02, retry_after=1)
    found = measure(server, ours.command(folder, c), folder, n)
    stats, results = server.stats(), json.loads((folder / "results.json").read_text())
    borne, held, lost = (
        int(stats["r429"] + stats["r500"]),
        results["run"]["completed_dialogues"],
        len(results["failures"]),
    )
    return Trial(
        what=f"5 % 429 and 2 % 500, default settings, {n} samples",
        came=f"{held} samples finished, {borne} faults borne, {lost} units failed",
        wanted="all samples finish, none lost",
        met=found.is_whole and held == n and not lost,
    )


def killed(server: Server, folder: Path, *, n: int = 200, c: int = 20) -> Trial:
    """Kill the command at half of its calls, run it again, and count what was asked twice."""
    ours.write_study(emptied(folder), server.base, n, c)
    server.reset(latency_ms=20)
    with folder.with_suffix(".log").open("w") as log:
        child = subprocess.Popen(ours.command(folder, c), cwd=HERE, stdout=log, stderr=subprocess.STDOUT)
        while (stats := server.stats())["ok_user_sim"] + stats["ok_target"] + stats["ok_judge"] < CALLS * n / 2:
            if child.poll() is not None:
                break
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    time.sleep(0.2)
    asked = int(server.stats()["requests"])
    found = measure(server, ours.command(folder, c), folder, n)
    stats = server.stats()
    repeated, lost = int(stats["duplicates"]), len(json.loads((folder / "results.json").read_text())["failures"])
    return Trial(
        what=f"SIGKILL at half of {CALLS * n} calls ({asked} asked), then the same command again",
        came=f"{repeated} calls repeated, {lost} units failed",
        wanted=f"at most what was in flight: {2 * c} places, {c} for users and applications and {c} for the judge",
        met=found.code == 0 and repeated <= 2 * c and not lost,
    )
