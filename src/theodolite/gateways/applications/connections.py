"""Network connections of an application's processes, and its open sessions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from theodolite.domain.application import Application, AriaClass, PythonCallable
from theodolite.domain.identity import version_of
from theodolite.domain.network import NetworkUse

NETWORK_NAME = "network"
"""Folder within a workspace with the recorded connections of applications' versions."""

CUT_OFF, WATCHED = "cut off", "watched"
"""Kinds of event: whether the system gave a process no network, or Python's own calls are observed."""

_LISTS = ("connection", "refused", "program")


class Connections:
    """Destinations of one version of an application, each once; usable from any thread."""

    def __init__(self, application: Application | None = None, workspace: Path | None = None) -> None:
        """Continue with the state stored in the workspace.

        Args:
            application: Owner of the connections; None for an application without a study.
            workspace: Folder of the workspace; None to store nothing.
        """
        is_kept = application is not None and workspace is not None
        self._file = network_file(application, workspace) if application is not None and workspace is not None else None
        self._lock = threading.Lock()
        self._names: dict[str, list[str]] = {kind: [] for kind in (*_LISTS, "modes")}
        if is_kept and self._file is not None:
            self._names |= _read(self._file)

    def observe(self, kind: str, name: str) -> None:
        """Remember an event."""
        names, entry = (self._names[kind], name) if kind in _LISTS else (self._names["modes"], kind)
        with self._lock:
            if entry not in names:
                names.append(entry)
                self._keep()

    def events(self) -> tuple[tuple[str, str], ...]:
        """Return the observations so far as arguments of `observe`."""
        modes = [(mode, "") for mode in self._names["modes"]]
        return (*modes, *((kind, name) for kind in _LISTS for name in self._names[kind]))

    def use(self, application: str, allowed: tuple[str, ...] | None) -> NetworkUse:
        """Return the observations so far.

        Args:
            application: Name of the application.
            allowed: Hosts that the study allows; None for any.
        """
        return NetworkUse(
            application=application,
            allowed=allowed,
            connections=tuple(sorted(self._names["connection"])),
            refused=tuple(sorted(self._names["refused"])),
            programs=tuple(sorted(self._names["program"])),
            is_cut_off=self._names["modes"] == [CUT_OFF],
            is_observed=bool(self._names["modes"]),
        )

    def _keep(self) -> None:
        if self._file is None:
            return
        temporary = self._file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):  # the folder is not writable; the run reports it
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(self._names), encoding="utf-8")
            temporary.replace(self._file)


def network_use(application: Application, workspace: Path) -> NetworkUse | None:
    """Return the stored connections of an application; None if it is not code."""
    connection = application.connection
    if not isinstance(connection, PythonCallable | AriaClass):
        return None
    return Connections(application, workspace).use(application.name, connection.runtime.network)


def network_file(application: Application, workspace: Path) -> Path:
    """Return the file that remembers the connections of one version of an application."""
    return workspace / NETWORK_NAME / f"{version_of(application.deciding_part)[:32]}.json"


def _read(file: Path) -> dict[str, list[str]]:
    """Return the state stored in a file; unreadable content counts as empty."""
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
        return {kind: [str(name) for name in result[kind]] for kind in (*_LISTS, "modes")}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


IDLE_S = 600.0
"""Time without a call after which a resumable session releases its resources; seconds."""

Suspend = Callable[[str], Awaitable[None]]
"""Releases a session's resources; the session continues later by replaying its earlier prompts."""


class OpenSessions:
    """Bounds the sessions that are open at one time.

    A run starts each session before its first call and keeps it open to its end, so
    that further sessions wait. In an event it is unknown when a person will continue:
    there a session is open from call to call, and the session that has been idle longest
    is suspended when another person needs its slot.
    """

    def __init__(self, suspend: Suspend, *, most: int = 0, can_resume: bool = True, idle_s: float = IDLE_S) -> None:
        """Start without sessions.

        Args:
            suspend: Releases the resources of a session.
            most: Maximum number of concurrent sessions; count, 0 for no limit.
            can_resume: Whether a suspended session can continue; otherwise none is suspended.
            idle_s: Time without a call after which a session is suspended; seconds.
        """
        self._suspend = suspend
        self._most = most
        self._can_resume = can_resume
        self._idle_s = idle_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reset()

    def _reset(self) -> None:
        self._open: dict[str, None] = {}
        self._held: set[str] = set()
        self._calls: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._suspensions: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def _enter_loop(self) -> None:
        """Reset for another event loop, since the objects of the last one ended with it."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._reset()

    async def begin(self, session: str) -> None:
        """Wait until a session may be open, and keep it open until `end`."""
        self._enter_loop()
        await self._admit(session)
        self._held.add(session)
        self._stop_timer(session)

    @asynccontextmanager
    async def call(self, session: str) -> AsyncIterator[None]:
        """Wait until a session may be open, and keep it open during a call."""
        self._enter_loop()
        await self._admit(session)
        self._calls[session] += 1
        self._stop_timer(session)
        try:
            yield
        finally:
            self._calls -= Counter([session])
            self._rest(session)

    def end(self, session: str) -> None:
        """Forget a completed session; the caller releases its resources."""
        self._enter_loop()
        self._stop_timer(session)
        self._held.discard(session)
        self._open.pop(session, None)
        self._notify()

    async def close(self) -> None:
        """Forget all sessions and stop waiting for idle ones."""
        self._enter_loop()
        for session in tuple(self._timers):
            self._stop_timer(session)
        await asyncio.gather(*self._suspensions.values(), return_exceptions=True)
        self._reset()

    async def _admit(self, session: str) -> None:
        while True:
            if (leaving := self._suspensions.get(session)) is not None:
                await asyncio.shield(leaving)
            elif session in self._open or not self._is_full():
                self._open[session] = None
                return
            elif (idle := self._longest_idle()) is not None:
                await asyncio.shield(self._suspended(idle))
            else:
                await self._changed.wait()

    def _is_full(self) -> bool:
        return bool(self._most) and len(self._open) + len(self._suspensions) >= self._most

    def _rest(self, session: str) -> None:
        """Record that a session is idle now; the longest idle sessions come first."""
        if session in self._open:
            self._open[session] = self._open.pop(session)
            if self._can_suspend(session):
                loop = asyncio.get_running_loop()
                self._timers[session] = loop.call_later(self._idle_s, self._suspended, session)
        self._notify()

    def _suspended(self, session: str) -> asyncio.Task[None]:
        """Start to suspend a session, and return a future that ends when it is suspended."""
        self._stop_timer(session)
        self._open.pop(session, None)
        task = asyncio.get_running_loop().create_task(self._suspend_one(session))
        self._suspensions[session] = task
        return task

    async def _suspend_one(self, session: str) -> None:
        try:
            await self._suspend(session)
        finally:
            self._suspensions.pop(session, None)
            self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _stop_timer(self, session: str) -> None:
        if (timer := self._timers.pop(session, None)) is not None:
            timer.cancel()

    def _longest_idle(self) -> str | None:
        return next((session for session in self._open if self._can_suspend(session)), None)

    def _can_suspend(self, session: str) -> bool:
        return self._can_resume and session not in self._held and not self._calls[session]
