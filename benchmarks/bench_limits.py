"""How close adaptive limits come to the best fixed one, and what a cold start costs.

python benchmarks/bench_limits.py

A loopback server in a process of its own refuses every call above 40 in flight. The same calls are made with fixed
numbers in flight and with the adaptive limit, which knows nothing of the 40. Then a server that bears all: what the
adaptive limit loses by beginning at 8. Last, a limit per minute (of 2 seconds here), as the server's clock saw it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.fakes.loopback import LoopbackProcess  # noqa: E402
from theodolite.bootstrap.clock import SystemClock  # noqa: E402
from theodolite.domain.failure import Party  # noqa: E402
from theodolite.domain.flow import AskModel, Message, Speaker  # noqa: E402
from theodolite.domain.model import ModelEndpoint  # noqa: E402
from theodolite.gateways.account import Account  # noqa: E402
from theodolite.gateways.adaptive_limit import START  # noqa: E402
from theodolite.gateways.chat_model import ChatModel  # noqa: E402
from theodolite.gateways.pace import Pace  # noqa: E402
from theodolite.gateways.window import Window  # noqa: E402

CLOCK = SystemClock()
CAPACITY = 40
FIXED = (20, 32, 36, 40, 48, 64)
N_CALLS = 4_000
IN_WORK = 128


async def seconds(
    url: str, account: Account, n_calls: int, *, in_work: int = IN_WORK, window: Window | None = None
) -> float:
    """Return the wall time of some calls, of which so many are in work at a time."""
    endpoint = ModelEndpoint(name="m", url=url, model="target", attempts=100, parallel=1024)
    model = ChatModel(endpoint, clock=CLOCK, pace=Pace(account, CLOCK, window=window))
    numbers = iter(range(n_calls))

    async def work() -> None:
        for number in numbers:
            message = Message(speaker=Speaker.USER, text=f"call {number}")
            await model.reply(AskModel(model="m", messages=(message,), party=Party.JUDGE))

    started = time.perf_counter()
    try:
        await asyncio.gather(*(work() for _ in range(in_work)))
        return time.perf_counter() - started
    finally:
        await model.close()


def measured(server: LoopbackProcess, account: Account, n_calls: int, **more: object) -> tuple[float, int]:
    """Return wall time and refusals of some calls on an idle server."""
    server.turn()
    took_s = asyncio.run(seconds(server.url, account, n_calls, **more))
    return took_s, server.stats()["by_fault"].get("429", 0)


def overload() -> None:
    """Print the adaptive limit against fixed ones on a server that refuses above its capacity."""
    with LoopbackProcess("--latency", "0.05", "--refuse-above", str(CAPACITY)) as server:
        fixed = {}
        for n in FIXED:
            fixed[n], refused = measured(server, _fixed(n), N_CALLS)
            print(f"  fixed {n:>3} in flight      {fixed[n]:6.2f} s, {refused:>5} refused")
        account = Account(CLOCK)
        adaptive, refused = measured(server, account, N_CALLS)
    best = min(fixed.values())
    print(
        f"  adaptive, cold start    {adaptive:6.2f} s, {refused:>5} refused; {adaptive / best:.2f} x the best fixed one"
    )


class _Uncut(Account):
    """An account with a fixed number of slots, whatever the server says."""

    def refused(self, ticket: int, asked_wait_s: float | None) -> None:
        self.leave()


def _fixed(n: int) -> Account:
    return _Uncut(CLOCK, parallel=n, start=n)


def cold_start() -> None:
    """Print what it costs to begin with few calls in flight where many are borne."""
    with LoopbackProcess("--latency", "0.2") as server:
        measured(server, _fixed(256), 500, in_work=256)
        warm, _ = measured(server, _fixed(256), 2_000, in_work=256)
        cold, _ = measured(server, Account(CLOCK, parallel=256, start=START), 2_000, in_work=256)
    print(f"  256 in flight, 0.2 s    {warm:6.2f} s warm, {cold:.2f} s from {START} in flight; {cold - warm:+.2f} s")


def per_minute() -> None:
    """Print the largest number of calls that a server saw in any window."""
    with LoopbackProcess() as server:
        measured(server, Account(CLOCK), 300, in_work=10, window=Window(requests=60, span_s=2.0))
        moments = [call["moment_s"] for call in server.calls()]
    most = max(sum(start <= other < start + 2.0 for other in moments) for start in moments)
    print(
        f"  60 in any 2 s allowed   {most} in the fullest 2 s; {len(moments)} calls in {moments[-1] - moments[0]:.2f} s"
    )


if __name__ == "__main__":
    overload()
    cold_start()
    per_minute()
