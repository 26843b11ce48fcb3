"""Applications that are code, 50 sessions at once: what a turn takes beside the application's own time, and memory.

python benchmarks/bench_isolation.py [SESSIONS] [TURNS] [LABEL]     prints rows for benchmarks/ISOLATION.md

With PYTHONPATH at another state of `src` it measures that one: states without
isolation run the code in threads of their own process.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from theodolite.domain import application as domain
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.gateways.factory import open_application

WORK_S = 0.02
APP = f"""import asyncio, time


def say(prompt, history):
    time.sleep({WORK_S})
    return prompt


async def say_later(prompt, history):
    await asyncio.sleep({WORK_S})
    return prompt


class Team:
    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        return True

    def GetVersion(self):
        return "1"

    def StartSession(self):
        return True

    def GetResponse(self, text):
        time.sleep({WORK_S})
        return {{"success": True, "response": text}}
"""


class Clock:
    """The machine's clock."""

    def monotonic_s(self) -> float:
        return time.monotonic()


def memory_mb(pid: int) -> float:
    """Return the proportional share of memory of a process and all below it, in MB."""
    found = 0.0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _is_below(int(entry.name), pid):
            lines = (entry / "smaps_rollup").read_text().splitlines() if (entry / "smaps_rollup").exists() else []
            pss = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), None)
            if pss is None:
                pss = int((entry / "statm").read_text().split()[1]) * resource.getpagesize() // 1024
            found += pss / 1024
    return found


def _is_below(pid: int, top: int) -> bool:
    while pid > 1:
        if pid == top:
            return True
        try:
            pid = int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            return False
    return False


async def measured(connection, folder: Path, sessions: int, turns: int) -> tuple[list[float], float, float]:
    named = domain.Application(name="app", connection=connection)
    opened = open_application(named, models={}, recordings=(), folder=folder, environ=dict(os.environ), clock=Clock())
    taken: list[float] = []

    async def session(number: int) -> None:
        history: tuple[Exchange, ...] = ()
        for turn in range(1, turns + 1):
            said = SayToApplication(application="app", prompt=f"hello {turn}", turn=turn, history=history)
            begun = time.monotonic()
            reply = await opened.reply(said, session=str(number))
            if turn > 1:  # the first one makes instances and processes
                taken.append(time.monotonic() - begun - WORK_S)
            history = (*history, Exchange(prompt=said.prompt, response=reply.text))

    begun = time.monotonic()
    await asyncio.gather(*(session(number) for number in range(sessions)))
    took, memory = time.monotonic() - begun, memory_mb(os.getpid())
    await opened.close()
    return taken, took, memory


def connections(sessions: int):
    function, aria = domain.PythonCallable, domain.AriaClass
    more = {"timeout_s": 600.0, "parallel": sessions}
    yield "function", function(target="app.py:say", **more)
    yield "async function", function(target="app.py:say_later", **more)
    yield "ARIA class", aria(target="app.py:Team", **more)
    if hasattr(domain, "Runtime"):
        runtime = domain.Runtime(isolation=domain.Isolation.SESSION)
        yield "function, a process a session", function(target="app.py:say", runtime=runtime, **more)
        yield "ARIA class, a process a session", aria(target="app.py:Team", runtime=runtime, **more)


def main() -> None:
    sessions, turns = (int(text) for text in (sys.argv[1:3] or ("50", "20")))
    label = sys.argv[3] if len(sys.argv) > 3 else "now"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "app.py").write_text(APP)
        for what, connection in connections(sessions):
            taken, took, memory = asyncio.run(measured(connection, folder, sessions, turns))
            taken.sort()
            median, late = statistics.median(taken) * 1000, taken[int(len(taken) * 0.95)] * 1000
            print(f"| {label} | {what} | {median:.1f} | {late:.1f} | {took:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
