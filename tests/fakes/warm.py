"""Commands as processes of their own that need not load packages first.

`python -m tests.fakes.warm` loads all commands and what they load late, and forks for
each that it is asked for. Django is set up and the store is loaded by the command itself,
so what it is not given there fails as it does for a user; in the tests' own process,
Django has the applications of the web side too. The order in which our modules are loaded
makes no difference: they have no cycles, which an import contract holds.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.house.tree import ROOT
from theodolite.cli.main import COMMANDS, program

LOADED = (
    *(module for commands in COMMANDS.values() for _, module in commands.values()),
    "django.db.backends.sqlite3.base",
    "django.db.migrations.state",
    "filelock",
    "numpy",
    "rich.console",
    "scipy.optimize",
    "scipy.stats",
    "theodolite.measurement.catalogue",
)
"""Modules that need no database; most of a small command's time goes into loading them."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended: its exit code, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class WarmProcess:
    """Runs commands one after the other, each in a fork of a process that is ready."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.fakes.warm"]
        # Threads that arrays start would not live on in a fork.
        environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, words: Sequence[str], *, cwd: Path, environ: Mapping[str, str], together: bool = False) -> Done:
        """Return how `theodolite` ended that was called with these words.

        Args:
            words: What stands behind the program's name.
            cwd: Where.
            environ: The whole environment.
            together: Whether faults are written where all else is written, in order.
        """
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "out" if together else "err")
            asked = {"words": list(words), "cwd": str(cwd), "environ": dict(environ), "out": str(out), "err": str(err)}
            code = self._code_of(asked)
            said = [file.read_text(encoding="utf-8", errors="replace") for file in (out, err)]
        return Done(code, said[0], "" if together else said[1])

    def _code_of(self, asked: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())
        except BaseException:  # a test's time was over, or the process has ended
            warm_process.cache_clear()
            os.killpg(self._process.pid, signal.SIGKILL)
            self.close()
            raise

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=120)


@functools.cache
def warm_process() -> WarmProcess:
    """Return the one of this process; it ends with it."""
    process = WarmProcess()
    atexit.register(process.close)
    return process


def _serve() -> None:
    for name in LOADED:
        importlib.import_module(name)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(asked: Mapping[str, Any]) -> NoReturn:
    """Be the command."""
    try:
        _step_into(asked)
        program()
    except BaseException:  # noqa: BLE001 - what Python does with whatever nobody caught
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def _step_into(asked: Mapping[str, Any]) -> None:
    """Take on folder, environment, words and streams, as a fresh interpreter has them."""
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(asked["out"], flags), 1)
    os.dup2(os.open(asked["err"], flags), 2)
    sys.argv = ["theodolite", *asked["words"]]
    sys.path[0] = ""


if __name__ == "__main__":
    _serve()
