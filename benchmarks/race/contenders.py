"""Who takes part in the race, and how each is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ours

HERE = Path(__file__).resolve().parent
ENVS = Path(os.environ.get("ENVS", HERE / "peers" / "envs"))

FLOOR, OURS = "bare aiohttp (the floor)", "theodolite run"


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One program that does the job.

    `prepare` writes what it needs into the folder and returns the command;
    `n` is how many samples it is given for its marginal cost.
    """

    name: str
    prepare: Callable[[Path, str, int, int], list[str]]
    n: int
    is_there: bool = True


def _floor(folder: Path, base: str, n: int, c: int) -> list[str]:
    return [sys.executable, "floor.py", str(n), str(c), str(folder)]


def _ours(folder: Path, base: str, n: int, c: int) -> list[str]:
    ours.write_study(folder, base, n, c)
    return ours.command(folder, c)


def _peer(name: str, n: int) -> Contender:
    python = ENVS / name / "bin" / "python"

    def prepare(folder: Path, base: str, n: int, c: int) -> list[str]:
        return [str(python), str(HERE / "peers" / f"peer_{name}.py"), str(n), str(c), str(folder)]

    return Contender(name=name, prepare=prepare, n=n, is_there=(ENVS / name / "ready").exists())


def _promptfoo(n: int) -> Contender:
    def prepare(folder: Path, base: str, n: int, c: int) -> list[str]:
        return ["bash", str(HERE / "peers" / "promptfoo.sh"), str(n), str(c), str(folder)]

    there = (ENVS / "promptfoo" / "ready").exists()
    return Contender(name="promptfoo", prepare=prepare, n=n, is_there=there)


def contenders(n: int, n_peers: int = 200) -> list[Contender]:
    """Return all contenders; the floor and ours with N samples, peers with fewer."""
    return [
        Contender(name=FLOOR, prepare=_floor, n=n),
        Contender(name=OURS, prepare=_ours, n=n),
        _promptfoo(n_peers),
        *(_peer(name, n_peers) for name in ("inspect", "pyrit", "azure", "deepeval")),
    ]
