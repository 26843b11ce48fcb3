"""One instance of a class with ARIA's dialogue interface, in the application's process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from theodolite.domain.errors import GatewayError, ServerFault, TimedOut
from theodolite.gateways.applications.aria_contract import Tolerated, read_response, read_truth, read_version
from theodolite.gateways.applications.worker_answers import decode
from theodolite.gateways.applications.worker_process import WorkerChannel
from theodolite.gateways.applications.workers import Workers
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.secret_redaction import ARIA_AUTH, Credentials

T = TypeVar("T")

CLOSE_S = 5.0
"""Time for `CloseConnection`; seconds."""

ON_CLASS = "on class"
"""First member of a version that the worker could ask for on the class alone."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AriaClassOf:
    """What all instances of one application have in common.

    Attributes:
        name: Name of the application in the study.
        kind: Name of the class.
        workers: Processes that run it.
        init: Arguments of the constructor.
        credentials: What `OpenConnection` is given.
        timeout_s: Time limit of each call; seconds.
        remarks: Takes what was let pass although the interface asks for something else.
        in_use: The instances of open sessions, by process and identity.
    """

    name: str
    kind: str
    workers: Workers
    init: Mapping[str, Any]
    credentials: Credentials
    timeout_s: float
    remarks: dict[str, None] = field(default_factory=dict)
    in_use: dict[tuple[WorkerChannel, int], AriaInstance] = field(default_factory=dict)


class AriaInstance:
    """An instance, the process and the thread that it lives on, and how far its dialogue has come.

    All calls come from one thread of the process: what `OpenConnection` makes may be bound to it.
    """

    def __init__(self, of: AriaClassOf, channel: WorkerChannel) -> None:
        """Remember the class and the process; nothing is made yet."""
        self._of = of
        self._channel = channel
        self._number = next(_numbers)
        self._identity: int | None = None
        self._is_stuck = False
        self.is_shared = False
        self.turns = 0
        self.version = ""

    async def begin(self) -> None:
        """Make the instance, open its connection and start a dialogue.

        Raises:
            GatewayError: If one of these fails.
        """
        answer = await self._ask("new", f"`{self._of.kind}()`", init=dict(self._of.init))
        self._own(answer["identity"])
        await self._open_connection()
        self.version = self._tolerated(await self._stated())
        await self.restart()

    @property
    def has_begun(self) -> bool:
        """Whether there is an instance at all."""
        return self._identity is not None

    @property
    def is_alive(self) -> bool:
        """Whether its process still runs."""
        return not self._channel.ended

    async def restart(self) -> None:
        """Start a dialogue that should know nothing of the one before.

        Raises:
            GatewayError: If the instance does not do it.
        """
        await self._must("StartSession")
        self.turns = 0

    def _own(self, identity: int) -> None:
        """Remember what the class has made; refuse what another open session has, which is spoilt by that, too."""
        self._identity = identity
        holder = self._of.in_use.setdefault((self._channel, identity), self)
        if holder is not self:
            holder.is_shared = True
            raise self._mixed()

    def _mixed(self) -> ServerFault:
        message = (
            f"`{self._of.kind}()` gave two open sessions one and the same instance; each needs one of its own, or words"
            " of one get into the other. Set `isolation: session` for this application: each session then has a"
            " process of its own; or `sessions: 1`: sessions then take turns"
        )
        return ServerFault(message, endpoint=self._of.name)

    async def _open_connection(self) -> None:
        auth = self._of.credentials.auth
        try:
            await self._must("OpenConnection", auth or {})
        except ServerFault as error:
            if auth is not None or not self.is_alive:
                raise
            message = f"{error}; it was given no credentials, since the environment variable `{ARIA_AUTH}` is not set"
            raise ServerFault(message, endpoint=self._of.name) from None

    async def say(self, prompt: str) -> str:
        """Return the response to a prompt.

        Raises:
            GatewayError: If there is none.
        """
        returned = await self._call("GetResponse", prompt)
        if self.is_shared:
            raise self._mixed()
        text = self._tolerated(read_response(returned, self._of.credentials))
        self.turns += 1
        return text

    async def close(self) -> None:
        """Close the connection; what goes wrong with that is a remark, and a stuck thread is left alone."""
        try:
            if self.has_begun and self.is_alive and not self._is_stuck:
                await self._must("CloseConnection", limit_s=min(CLOSE_S, self._of.timeout_s))
        except TimedOut:
            self._of.remarks[f"`CloseConnection` took longer than {CLOSE_S:g} s"] = None
        except GatewayError as error:
            self._of.remarks[f"closing the connection failed: {error}"] = None
        finally:
            self._channel.tell("forget", instance=self._number)
            if not self._is_stuck and self._identity is not None:
                self._of.in_use.pop((self._channel, self._identity), None)

    async def _must(self, method: str, *arguments: Any, limit_s: float | None = None) -> None:
        returned = await self._call(method, *arguments, limit_s=limit_s)
        if not self._tolerated(read_truth(returned, method, self._of.credentials)):
            message = f"`{method}` returned False"
            raise ServerFault(message, endpoint=self._of.name)

    async def _stated(self) -> str | Tolerated:
        """Return the version that the class states, whichever way it lets itself be asked."""
        try:
            returned = await self._call("GetVersion")
        except TimedOut:
            raise
        except ServerFault as error:
            if not self.is_alive:
                raise
            return Tolerated("", str(error))
        if isinstance(returned, tuple) and len(returned) == 2 and returned[0] == ON_CLASS:
            version = read_version(returned[1])
            text = version.value if isinstance(version, Tolerated) else version
            return Tolerated(text, "`GetVersion` takes no `self` and is no `@staticmethod`")
        return "" if returned == "" else read_version(returned)

    def _tolerated(self, read: T | Tolerated | AttemptError) -> T:
        if isinstance(read, AttemptError):
            raise read.error(endpoint=self._of.name)
        if isinstance(read, Tolerated):
            self._of.remarks[read.remark] = None
            value: T = read.value
            return value
        return read

    async def _call(self, method: str, *arguments: Any, limit_s: float | None = None) -> Any:
        answer = await self._ask("method", f"`{method}`", limit_s=limit_s, method=method, arguments=list(arguments))
        return decode(answer["returned"])

    async def _ask(self, operation: str, what: str, *, limit_s: float | None = None, **fields: Any) -> dict[str, Any]:
        self._is_stuck = True  # until it answers: whoever stops waiting leaves the thread in the call
        limit = self._of.timeout_s if limit_s is None else limit_s
        try:
            answer = await self._of.workers.ask(
                self._channel, operation, what=what, limit_s=limit, instance=self._number, **fields
            )
        except GatewayError as error:
            self._is_stuck = isinstance(error, TimedOut)
            raise
        self._is_stuck = False
        return answer
