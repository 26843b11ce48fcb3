"""The first Ctrl-C reaches the run on every system, also where event loops have no signal handlers (Windows)."""

from __future__ import annotations

import asyncio
import signal

import pytest

from theodolite.cli.running import catch_stop_signals


async def caught(monkeypatch: pytest.MonkeyPatch, *, has_handlers: bool) -> tuple[int, bool]:
    """Return how often a handler ran for one signal, and whether the earlier handlers are back."""
    before = signal.getsignal(signal.SIGTERM)
    loop = asyncio.get_running_loop()

    def refuse(*_: object) -> None:
        raise NotImplementedError

    if not has_handlers:
        monkeypatch.setattr(loop, "add_signal_handler", refuse)
    calls: list[int] = []
    came = asyncio.Event()
    release = catch_stop_signals(lambda: (calls.append(1), came.set()))
    try:
        signal.raise_signal(signal.SIGTERM)
        await came.wait()
    finally:
        release()
    return len(calls), signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("has_handlers", [True, False], ids=["handlers of the loop", "handlers of the process"])
async def test_a_signal_runs_the_handler_in_the_loop(monkeypatch: pytest.MonkeyPatch, has_handlers: bool) -> None:
    assert await caught(monkeypatch, has_handlers=has_handlers) == (1, True)
