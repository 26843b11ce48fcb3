"""The processes of one application: one for all its sessions, or one for each."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.errors import ContentRefused, GatewayError, InputError, ServerFault, TimedOut
from theodolite.gateways.applications.worker_process import (
    CallTimedOut,
    ProcessEnded,
    WorkerChannel,
    raised_text,
    unusable_text,
)
from theodolite.gateways.secret_redaction import Credentials
from theodolite.ports.application import OnChunk

MOST_STUCK = 8
"""Calls without an answer that one process may hold before new calls go to a fresh one; count."""

Start = Callable[[], WorkerChannel]
"""Starts a process of the application; the code is not loaded yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationCode:
    """One application's code, and how its processes are started.

    Attributes:
        owner: Name of the application or judge in the study.
        noun: `application` or `judge`, for messages.
        target: Function or class, as the study names it.
        start: Starts a process.
        request: First request to each process.
        per_session: Whether each session has a process of its own.
        folder: The application's folder, for messages.
        withheld: Environment variables that exist and that the processes do not see.
        changed: Returns which file differs from the version that is tested; empty for none.
    """

    owner: str
    target: str
    start: Start
    request: Mapping[str, Any]
    noun: str = "application"
    per_session: bool = False
    folder: str = ""
    withheld: frozenset[str] = frozenset()
    changed: Callable[[], str] = lambda: ""


class Workers:
    """Starts, keeps and replaces an application's processes."""

    def __init__(self, code: ApplicationCode, *, credentials: Credentials) -> None:
        """Start nothing yet.

        Args:
            code: What they run.
            credentials: Struck out of whatever the code raises.
        """
        self.code = code
        self._credentials = credentials
        self._channels: dict[str, WorkerChannel] = {}
        self._spare: WorkerChannel | None = None
        self._described: dict[str, Any] | None = None
        self._stuck: Counter[WorkerChannel] = Counter()
        self._endings: dict[str, int] = {}
        self._lock = threading.Lock()

    def load(self) -> dict[str, Any]:
        """Start the first process and return what it says of the code.

        Raises:
            InputError: If the code cannot be loaded.
        """
        if self._described is None:
            self._spare, self._described = self._loaded()
        return self._described

    @property
    def remarks(self) -> tuple[str, ...]:
        """How processes ended before their time, each way once."""
        return tuple(
            f"{reason} ({n} time{'' if n == 1 else 's'}); it was started again" for reason, n in self._endings.items()
        )

    async def channel(self, session: str) -> WorkerChannel:
        """Return the channel to a session's process, which is started if it does not run.

        Raises:
            ServerFault: If it cannot be started any more.
        """
        key = session if self.code.per_session else ""
        result = self._channels.get(key)
        if result is not None and not result.ended:
            return result
        try:
            return await asyncio.to_thread(self._started, key)
        except InputError as error:
            raise ServerFault(str(error), endpoint=self.code.owner) from error

    async def end(self, session: str) -> None:
        """Let go of the process of a session that is over."""
        if self.code.per_session and (channel := self._channels.pop(session, None)) is not None:
            await channel.close()

    async def close(self) -> None:
        """End all processes; a later call starts new ones."""
        await asyncio.gather(*(channel.close() for channel in self._released()))

    def stop(self) -> None:
        """End all processes at once."""
        for channel in self._released():
            channel.kill()

    def _released(self) -> list[WorkerChannel]:
        channels = [*self._channels.values(), *([self._spare] if self._spare is not None else [])]
        self._channels.clear()
        self._spare = None
        return channels

    async def ask(
        self,
        channel: WorkerChannel,
        operation: str,
        *,
        what: str,
        limit_s: float,
        hear: OnChunk | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Return a process's answer to a request.

        Args:
            channel: The process.
            operation: What it is to do.
            what: What messages call the call; empty for the function itself.
            limit_s: Time for it; seconds.
            hear: Receives pieces of text on the way.
            fields: What the operation needs to know.

        Raises:
            TimedOut: If it took too long.
            ContentRefused: If the code says that its own filter withheld the reply.
            ServerFault: If the code raised anything else, or its process ended.
        """
        try:
            answer = await channel.ask(operation, limit_s=limit_s, hear=hear, **fields)
        except CallTimedOut as error:
            raise self._too_late(channel, error, what, limit_s) from None
        except ProcessEnded as error:
            message = f"{self._credentials.scrub(str(error))}; the next call starts it again"
            raise ServerFault(message, endpoint=self.code.owner) from None
        if "raised" in answer:
            # Not chained: what foreign code raises may hold the credentials.
            raise self._fault(answer["raised"], what) from None
        return answer

    def _fault(self, raised: Mapping[str, Any], what: str) -> GatewayError:
        if raised["refused"] and not what:
            return ContentRefused(self._credentials.scrub(raised["text"]), endpoint=self.code.owner)
        text = self._credentials.scrub(raised_text(raised, folder=self.code.folder, withheld=self.code.withheld))
        return ServerFault(f"{what} raised {text}" if what else text, endpoint=self.code.owner)

    def _too_late(self, channel: WorkerChannel, error: CallTimedOut, what: str, limit_s: float) -> TimedOut:
        message = f"no answer within {limit_s:g} s" + (f" from {what}" if what else "")
        if error.is_blocked:
            message += "; it blocks its event loop, as `time.sleep` or a client that is not async does in `async def`"
        self._stuck[channel] += 1
        if error.is_stuck:
            channel.kill("its process answered no more and was ended")
        elif self.code.per_session:
            channel.kill("its process was ended, since a call took longer than its limit")
        elif self._stuck[channel] >= MOST_STUCK:
            self._channels = {key: one for key, one in self._channels.items() if one is not channel}
            channel.retire()
        return TimedOut(message, endpoint=self.code.owner)

    def _started(self, key: str) -> WorkerChannel:
        """Return a session's running process, started if need be; blocks while it loads."""
        with self._lock:
            before = self._channels.get(key)
            if before is not None and not before.ended:
                return before
            if before is not None:
                reason = self._credentials.scrub(before.ended)
                self._endings[reason] = self._endings.get(reason, 0) + 1
            channel, self._spare = self._spare, None
        if channel is None or channel.ended:
            channel, _ = self._loaded()
        with self._lock:
            current = self._channels.get(key)
            if current is None or current.ended:
                self._channels[key] = channel
                return channel
        channel.kill()  # another call was faster
        return current

    def _loaded(self) -> tuple[WorkerChannel, dict[str, Any]]:
        """Return a new process that has loaded the code, and what it says of it."""
        owner, target = f"{self.code.noun} `{self.code.owner}`", self.code.target
        if changed := self.code.changed():
            message = f"{owner}: `{changed}` has changed since the study was read; start the command again"
            raise InputError(message)
        channel = self.code.start()
        try:
            answer = channel.load(self.code.request)
        except (ProcessEnded, InputError) as error:
            channel.kill()
            message = f"{owner}: `{target}` cannot be loaded: {self._credentials.scrub(str(error))}"
            raise InputError(message) from None
        if "loaded" in answer:
            return channel, answer["loaded"]
        channel.kill()
        if "unusable" in answer:
            message = f"{owner}: {unusable_text(answer['unusable'], target)}"
        else:
            raised = answer["raised"]
            text = self._credentials.scrub(raised_text(raised, folder=self.code.folder, withheld=self.code.withheld))
            message = f"{owner}: {_kind_of(target)} cannot be loaded: {text}{_remedy(raised, target, self.code.noun)}"
        raise InputError(message)


def _kind_of(target: str) -> str:
    module = target.rpartition(":")[0]
    return f"file `{module}`" if module.endswith(".py") else f"module `{module}`"


def _remedy(raised: Mapping[str, Any], target: str, noun: str) -> str:
    """Return what to do about a module that is not installed or has no package; empty for everything else."""
    module, _, member = target.rpartition(":")
    if "no known parent package" in raised["text"]:
        package, _, file = module.removesuffix(".py").rpartition("/")
        if package and all(part.isidentifier() for part in package.split("/")):
            return f"; name it as a module of its package: `{package.replace('/', '.')}.{file}:{member}`"
        return f"; put its files into a folder such as `team`, beside the study, and name it `team.{file}:{member}`"
    if not raised["missing"]:
        return ""
    if noun != "application":
        return f"; install `{raised['missing']}` where Theodolite is installed, or put it beside the {noun}'s file"
    return (
        f"; put `{raised['missing']}` into a file that `requirements` names, install it for the interpreter that"
        " `python` names, or put it beside the application"
    )


class Slots:
    """A semaphore for whichever event loop asks."""

    def __init__(self, n: int) -> None:
        """Say how many there are; count."""
        self._n = n
        self._taken: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def take(self) -> asyncio.Semaphore:
        """Return what to enter: `async with slots.take()`."""
        loop = asyncio.get_running_loop()
        if self._taken is None or self._taken[0] is not loop:
            self._taken = (loop, asyncio.Semaphore(self._n))
        return self._taken[1]
