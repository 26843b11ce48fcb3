"""Servers of other people's making, as processes of their own on this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(command: Sequence[str], alive: str, folder: Path, *, within_s: float = 120.0) -> Iterator[None]:
    """Run a server until the block ends; it is up once the address `alive` answers anything."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, *command], stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        try:
            _wait(process, alive, log, within_s)
            yield
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], alive: str, log: Path, within_s: float) -> None:
    end = time.monotonic() + within_s
    while not _answers(alive):
        if process.poll() is not None or time.monotonic() > end:
            message = f"the server did not start:\n{log.read_text(errors='replace')[-2000:]}"
            raise AssertionError(message)
        time.sleep(0.1)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
