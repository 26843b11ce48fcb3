"""One instance of a class with ARIA's dialogue interface, on a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from theodolite.domain.errors import GatewayError, ServerFault, TimedOut
from theodolite.gateways.applications.aria_contract import Tolerated, read_response, read_truth, read_version
from theodolite.gateways.foreign_function import raised_words
from theodolite.gateways.secrecy import ARIA_AUTH, Credentials
from theodolite.gateways.trouble import Trouble
from theodolite.gateways.worker_threads import Raised, WorkerThread

T = TypeVar("T")

CLOSE_S = 5.0
"""Patience with `CloseConnection`; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AriaClassOf:
    """What all instances of one application have in common.

    Attributes:
        name: Name of the application in the study.
        kind: The class.
        credentials: What `OpenConnection` is given.
        timeout_s: Patience with each call; seconds.
        remarks: Takes what was let pass although the interface asks for something else.
        in_use: Who holds what the class has made for sessions that are still open, by its identity.
    """

    name: str
    kind: type
    credentials: Credentials
    timeout_s: float
    remarks: dict[str, None] = field(default_factory=dict)
    in_use: dict[int, AriaInstance] = field(default_factory=dict)


class AriaInstance:
    """An instance, the thread that it lives on, and how far its dialogue has come.

    All calls come from one thread: what `OpenConnection` makes may be bound to it.
    """

    def __init__(self, of: AriaClassOf) -> None:
        """Remember the class; nothing is made yet."""
        self._of = of
        self._thread = WorkerThread()
        self._made: Any = None
        self._is_stuck = False
        self.is_shared = False
        self.turns = 0
        self.version = ""

    async def begin(self) -> None:
        """Make the instance, open its connection and start a dialogue.

        Raises:
            GatewayError: If one of these fails.
        """
        self._made = self._own(await self._call(f"`{self._of.kind.__name__}()`", self._of.kind))
        await self._open_connection()
        self.version = self._tolerated(await self._stated())
        await self.restart()

    @property
    def has_begun(self) -> bool:
        """Whether there is an instance at all."""
        return self._made is not None

    async def restart(self) -> None:
        """Start a dialogue that should know nothing of the one before.

        Raises:
            GatewayError: If the instance does not do it.
        """
        await self._must("StartSession")
        self.turns = 0

    def _own(self, made: Any) -> Any:
        """Return what the class has made, unless another open session has it, which is spoilt by that, too."""
        holder = self._of.in_use.setdefault(id(made), self)
        if holder is not self:
            holder.is_shared = True
            raise self._mixed()
        return made

    def _mixed(self) -> ServerFault:
        message = (
            f"`{self._of.kind.__name__}()` gave two open sessions one and the same instance;"
            " each needs one of its own, or words of one get into the other"
        )
        return ServerFault(message, endpoint=self._of.name)

    async def _open_connection(self) -> None:
        auth = self._of.credentials.auth
        takes_one = _takes_one(self._made.OpenConnection)
        try:
            await self._must("OpenConnection", *([auth] if takes_one else []))
        except ServerFault as error:
            if auth is not None:
                raise
            message = f"{error}; it was given no credentials, since the environment variable `{ARIA_AUTH}` is not set"
            raise ServerFault(message, endpoint=self._of.name) from None

    async def say(self, prompt: str) -> str:
        """Return the response to a prompt.

        Raises:
            GatewayError: If there is none.
        """
        returned = await self._call("`GetResponse`", lambda: self._made.GetResponse(prompt))
        if self.is_shared:
            raise self._mixed()
        text = self._tolerated(read_response(returned, self._of.credentials))
        self.turns += 1
        return text

    async def close(self) -> None:
        """Close the connection; what goes wrong with that is a remark, and a stuck thread is left alone."""
        try:
            if self._made is not None and not self._is_stuck:
                async with asyncio.timeout(CLOSE_S):
                    await self._must("CloseConnection")
        except TimeoutError:
            self._of.remarks[f"`CloseConnection` took longer than {CLOSE_S:g} s"] = None
        except GatewayError as error:
            self._of.remarks[f"closing the connection failed: {error}"] = None
        finally:
            self._thread.leave()
            if not self._is_stuck:
                self._of.in_use.pop(id(self._made), None)

    async def _must(self, method: str, *arguments: Any) -> None:
        returned = await self._call(f"`{method}`", lambda: getattr(self._made, method)(*arguments))
        if not self._tolerated(read_truth(returned, method, self._of.credentials)):
            message = f"`{method}` returned False"
            raise ServerFault(message, endpoint=self._of.name)

    async def _stated(self) -> str | Tolerated:
        """Return the version that the class states, whichever way it lets itself be asked."""
        if not callable(getattr(self._of.kind, "GetVersion", None)):
            return ""  # it came to the interface later than the others, and went again
        returned = await self._outcome("`GetVersion`", self._made.GetVersion)
        if not isinstance(returned, Raised):
            return read_version(returned)
        # A method without `self` and without `@staticmethod` can be called on the class alone.
        on_class = await self._outcome("`GetVersion`", self._of.kind.GetVersion)  # type: ignore[attr-defined]  # looked for above
        if isinstance(on_class, Raised):
            return Tolerated("", f"`GetVersion` raised {type(returned.error).__name__}")
        version = read_version(on_class)
        text = version.value if isinstance(version, Tolerated) else version
        return Tolerated(text, "`GetVersion` takes no `self` and is no `@staticmethod`")

    def _tolerated(self, read: T | Tolerated | Trouble) -> T:
        if isinstance(read, Trouble):
            raise read.error(endpoint=self._of.name)
        if isinstance(read, Tolerated):
            self._of.remarks[read.remark] = None
            value: T = read.value
            return value
        return read

    async def _call(self, what: str, call: Callable[[], Any]) -> Any:
        returned = await self._outcome(what, call)
        if isinstance(returned, Raised):
            # Not chained to the class's own exception, which may hold the credentials.
            words = self._of.credentials.scrub(raised_words(returned.error))
            message = f"{what} raised {words}"
            raise ServerFault(message, endpoint=self._of.name)
        if inspect.iscoroutine(returned):
            returned.close()  # the interface is not async: this becomes an answer in an unknown form
        return returned

    async def _outcome(self, what: str, call: Callable[[], Any]) -> Any:
        self._is_stuck = True
        try:
            async with asyncio.timeout(self._of.timeout_s):
                returned = await self._thread.call(call)
        except TimeoutError as error:
            message = f"no answer within {self._of.timeout_s:g} s from {what}"
            raise TimedOut(message, endpoint=self._of.name) from error
        self._is_stuck = False
        return returned


def _takes_one(method: Callable[..., Any]) -> bool:
    """Tell whether a method can be called with one argument."""
    try:
        inspect.signature(method).bind(None)
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True
