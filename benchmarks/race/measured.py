"""One measured run: a child process, its CPU by wait4, its peak memory, what the server saw, what is on disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from job import CALLS

HERE = Path(__file__).resolve().parent
SERVER = HERE.parent / "server"


class Server:
    """The loopback server, started for the length of a block."""

    def __enter__(self) -> Server:
        subprocess.run(["make", "--silent", "-C", str(SERVER)], check=True)
        environ = {**os.environ, "PORT": "0"}
        self._process = subprocess.Popen([SERVER / "loopback-server"], stdout=subprocess.PIPE, text=True, env=environ)
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self, **settings: float) -> None:
        query = "&".join(f"{key}={value}" for key, value in {"latency_ms": 0, "p429": 0, "p500": 0, **settings}.items())
        self._ask(f"/reset?{query}", "POST")

    def stats(self) -> dict[str, float]:
        return self._ask("/stats", "GET")

    def _ask(self, path: str, method: str) -> dict[str, float]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run cost.

    `wall_s` is from exec to exit, `span_s` from the first call that the server saw
    to the last reply, `lead_s` from the knock, if there was one, to the first call;
    `cpu_s` is user and system time of the process and its children.
    """

    n: int
    code: int
    wall_s: float
    span_s: float
    lead_s: float
    cpu_s: float
    peak_mib: float
    disk_bytes: int
    calls: int
    ok: int
    max_inflight: int
    said: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return self.code == 0 and self.ok >= CALLS * self.n


def measure(
    server: Server,
    words: Sequence[str],
    folder: Path,
    n: int,
    *,
    cwd: Path = HERE,
    environ: Mapping[str, str] | None = None,
) -> Measured:
    """Run one contender in an empty state of the server's counters and measure it."""
    log = folder.with_suffix(".log")
    with log.open("w") as file:
        begun = time.perf_counter()
        child = subprocess.Popen(
            words,
            cwd=cwd,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**_environ(), "BASE_URL": server.base, "NO_COLOR": "1", **(environ or {})},
        )
        tree = _Watch(child.pid)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # the child is gone; nobody may wait for it again
        wall_s = time.perf_counter() - begun
        peak = max(tree.stop(), used.ru_maxrss / 1024)
    stats = server.stats()
    text = log.read_text(errors="replace")
    said = [json.loads(line.removeprefix("RESULT ")) for line in text.splitlines() if line.startswith("RESULT ")]
    return Measured(
        n=n,
        code=os.waitstatus_to_exitcode(status),
        wall_s=wall_s,
        span_s=stats["span_s"],
        lead_s=stats["lead_s"],
        cpu_s=used.ru_utime + used.ru_stime,
        peak_mib=peak,
        disk_bytes=_size(folder),
        calls=int(stats["requests"] - stats.get("knocks", 0)),
        ok=int(stats["ok_user_sim"] + stats["ok_target"] + stats["ok_judge"]),
        max_inflight=int(stats["max_inflight"]),
        said=said[-1] if said else {},
    )


def _environ() -> dict[str, str]:
    """Return our environment, in which modules may be kept compiled as wherever a package is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class _Watch:
    """Looks at the memory of a process and its children a few times a second."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._over = pid, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> float:
        self._over.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._over.wait(0.25):
            self._peak = max(self._peak, _tree_mib(self._pid))


def _tree_mib(root: int) -> float:
    children: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                rest = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(rest[1]), []).append(int(entry.name))
            pages[int(entry.name)] = int(rest[21])
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        total += pages.get(pid, 0)
        todo += children.get(pid, [])
    return total * os.sysconf("SC_PAGE_SIZE") / 2**20


def _size(folder: Path) -> int:
    """Return what is kept of the samples, and not the page that was made from them."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "report.html")


def emptied(folder: Path) -> Path:
    """Return a folder that is there and empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
