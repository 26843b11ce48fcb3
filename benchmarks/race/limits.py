"""How close adaptive limits come to the best fixed one, what a cold start costs, and whether limits per minute hold.

A loopback server in a process of its own refuses every call above 40 in flight. The same calls are made with fixed
numbers in flight and with the adaptive limit, which knows nothing of the 40. Then a server that bears all: what the
adaptive limit loses by beginning at 8. Last, limits per minute, as the server's clock saw them: once with a minute of
two seconds, once with a real one.

python limits.py
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.fakes.loopback import LoopbackProcess  # noqa: E402
from theodolite.bootstrap.connections import SystemClock  # noqa: E402
from theodolite.domain.run import FailureSource  # noqa: E402
from theodolite.bootstrap.connections import SystemClock  # noqa: E402
from theodolite.domain.run import FailureSource  # noqa: E402
from theodolite.domain.flow import AskModel, Message, Speaker  # noqa: E402
from theodolite.domain.application import ModelEndpoint  # noqa: E402
from theodolite.gateways.rate_limiter import SlotPool  # noqa: E402
from theodolite.gateways.rate_limiter import START  # noqa: E402
from theodolite.gateways.models.chat_model import ChatModel  # noqa: E402
from theodolite.gateways.rate_limiter import RateLimiter  # noqa: E402
from theodolite.gateways.rate_window import Window  # noqa: E402
from trials import Trial  # noqa: E402

CLOCK = SystemClock()
CAPACITY = 40
FIXED = (20, 32, 36, 40, 48, 64)
N_CALLS = 4_000
ROUNDS = 2
IN_WORK = 128


async def seconds(
    url: str, account: SlotPool, n_calls: int, *, in_work: int = IN_WORK, window: Window | None = None
) -> float:
    """Return the wall time of some calls, of which so many are in work at a time."""
    endpoint = ModelEndpoint(name="m", url=url, model="target", attempts=100, parallel=1024)
    model = ChatModel(endpoint, clock=CLOCK, rate_limiter=RateLimiter(account, CLOCK, window=window))
    numbers = iter(range(n_calls))

    async def work() -> None:
        for number in numbers:
            message = Message(speaker=Speaker.USER, text=f"call {number}")
            await model.reply(AskModel(model="m", messages=(message,), party=FailureSource.JUDGE))

    started = time.perf_counter()
    try:
        await asyncio.gather(*(work() for _ in range(in_work)))
        return time.perf_counter() - started
    finally:
        await model.close()


def measured(server: LoopbackProcess, account: SlotPool, n_calls: int, **more: object) -> tuple[float, int]:
    """Return wall time and refusals of some calls on an idle server."""
    server.turn()
    took_s = asyncio.run(seconds(server.url, account, n_calls, **more))
    return took_s, server.stats()["by_fault"].get("429", 0)


def overload() -> Trial:
    """Return the adaptive limit against fixed ones on a server that refuses above its capacity."""
    with LoopbackProcess("--latency", "0.05", "--refuse-above", str(CAPACITY)) as server:
        fixed = dict.fromkeys(FIXED, float("inf"))
        tries = []
        for _ in range(ROUNDS):  # taken in turns, since a busy machine is slower in one minute than in the next
            tries.append(measured(server, SlotPool(CLOCK), N_CALLS))
            for n in FIXED:
                fixed[n] = min(fixed[n], measured(server, _fixed(n), N_CALLS)[0])
    adaptive, refused = min(tries)
    best = min(fixed, key=fixed.__getitem__)
    ratio = adaptive / fixed[best]
    return Trial(
        what=f"a server that refuses above {CAPACITY} in flight, {N_CALLS} calls, adaptive limit from {START}",
        came=f"{adaptive:.2f} s and {refused} refusals; best of {len(FIXED)} fixed limits ({best}): {fixed[best]:.2f} s; {ratio:.2f} times",
        wanted="at most 1.3 times the best fixed limit",
        met=ratio <= 1.3,
    )


class _Uncut(SlotPool):
    """An account with a fixed number of slots, whatever the server says."""

    def refused(self, ticket: int, asked_wait_s: float | None) -> None:
        self.leave()


def _fixed(n: int) -> SlotPool:
    return _Uncut(CLOCK, parallel=n, start=n)


def cold_start() -> Trial:
    """Return what it costs to begin with few calls in flight where many are borne."""
    with LoopbackProcess("--latency", "0.2") as server:
        measured(server, _fixed(256), 500, in_work=256)
        warm, _ = measured(server, _fixed(256), 2_000, in_work=256)
        cold, _ = measured(server, SlotPool(CLOCK, parallel=256, start=START), 2_000, in_work=256)
    return Trial(
        what=f"256 in flight at 200 ms, 2,000 calls: from {START} in flight against from 256",
        came=f"{cold:.2f} s against {warm:.2f} s, {cold - warm:+.2f} s",
        wanted="at most 2 s more",
        met=cold - warm <= 2.0,
    )


def per_minute(span_s: float, n_calls: int) -> Trial:
    """Return the largest number of calls that a server saw in any window."""
    with LoopbackProcess() as server:
        measured(server, SlotPool(CLOCK), n_calls, in_work=10, window=Window(requests=60, span_s=span_s))
        moments = sorted(call["moment_s"] for call in server.calls())
    most = max(sum(start <= other < start + span_s for other in moments) for start in moments)
    return Trial(
        what=f"60 calls in any {span_s:g} s allowed, 10 workers, {n_calls} calls",
        came=f"{most} in the fullest {span_s:g} s, all in {moments[-1] - moments[0]:.1f} s",
        wanted="at most 60",
        met=most <= 60 and len(moments) == n_calls,
    )


def limits() -> list[Trial]:
    """Return all rows about limits; the real minute takes two."""
    return [overload(), cold_start(), per_minute(2.0, 300), per_minute(60.0, 130)]


if __name__ == "__main__":
    for trial in limits():
        print(f"  {trial.what}: {trial.came} (wanted: {trial.wanted}): {'met' if trial.met else 'NOT MET'}")
