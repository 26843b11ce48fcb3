"""Applications that are a Python function, sync or async, that returns its reply or yields it in pieces."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from theodolite.domain.application import PythonCallable
from theodolite.domain.errors import ContentRefused, GatewayError, ServerFault, TimedOut
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.gateways.applications.slots import Slots
from theodolite.gateways.repair import repaired
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.signatures import keywords_of
from theodolite.gateways.trouble import Trouble, empty, malformed
from theodolite.gateways.worker_threads import Raised, in_thread
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

OFFERED = ("history", "session", "context", "turn")
"""Keywords that a function is given beside the prompt if it takes them."""


class CallableApplication:
    """A function from prompt to reply, called once a turn.

    Sync functions run in a thread each, so that a slow one delays nobody else.
    The threads are daemons: a function that never returns cannot keep the
    program from ending.
    """

    def __init__(self, name: str, connection: PythonCallable, function: Callable[..., Any], *, clock: Clock) -> None:
        """Look at what the function takes; it is not called yet.

        Args:
            name: Name of the application in the study.
            connection: How the study names it.
            function: The loaded function; its first argument is the prompt.
            clock: Tells the time.
        """
        self._name = name
        self._connection = connection
        self._function = function
        self._clock = clock
        self._keywords = keywords_of(function, OFFERED)
        # Only what is async by its definition may run on the loop itself; anything else could block it.
        self._on_loop = any(map(_is_async, (function, getattr(function, "__call__", None))))  # noqa: B004 - the method
        self._slots = Slots(connection.parallel)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the function returns, or the sum of what it yields.

        Raises:
            GatewayError: If it raised, returned no text or took too long.
        """
        offered = {
            "history": request.history,
            "session": session,
            "context": request.context,
            "turn": request.turn,
        }
        keywords = {name: offered[name] for name in self._keywords}
        async with self._slots.take():
            begun = self._clock.monotonic_s()
            returned = await self._in_time(request.prompt, keywords, on_chunk)
            took_s = self._clock.monotonic_s() - begun
        text = _text(returned)
        if isinstance(text, Trouble):
            raise text.error(endpoint=self._name)
        kept, n_repaired = repaired(text)
        return Reply(text=kept, latency_s=took_s, repaired=n_repaired)

    async def knock(self) -> Knock:
        """Say that the function is there; it is not called, since that could cost something."""
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._connection.target}")

    async def close(self) -> None:
        """Do nothing: a function holds no connections of ours."""

    async def _in_time(self, prompt: str, keywords: Mapping[str, Any], on_chunk: OnChunk | None) -> Any:
        patience_s = self._connection.timeout_s
        try:
            async with asyncio.timeout(patience_s):
                returned = await self._outcome(prompt, keywords, on_chunk)
        except TimeoutError as error:
            message = f"no answer within {patience_s:g} s"
            raise TimedOut(message, endpoint=self._name) from error
        if isinstance(returned, Raised):
            raise self._fault(returned.error) from returned.error
        return returned

    async def _outcome(self, prompt: str, keywords: Mapping[str, Any], on_chunk: OnChunk | None) -> Any:
        hear = on_chunk or (lambda _: None)
        loop = asyncio.get_running_loop()

        def hear_from_thread(piece: str) -> None:
            loop.call_soon_threadsafe(hear, piece)

        def call() -> Any:
            returned = self._function(prompt, **keywords)
            return _joined(returned, hear_from_thread) if isinstance(returned, Iterator) else returned

        try:
            returned = self._function(prompt, **keywords) if self._on_loop else await in_thread(call)
            if isinstance(returned, Awaitable):
                returned = await returned
            return await _joined_later(returned, hear) if isinstance(returned, AsyncIterator) else returned
        except Exception as error:  # noqa: BLE001 - somebody else's function: it may raise anything
            return Raised(error)

    def _fault(self, error: BaseException) -> GatewayError:
        if isinstance(error, ContentRefused):
            return ContentRefused(Secret().scrub(str(error)), endpoint=self._name)
        words = Secret().scrub(f"{type(error).__name__}: {error}")
        return ServerFault(words.rstrip(": "), endpoint=self._name)


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _joined(pieces: Iterator[Any], hear: OnChunk) -> str | Trouble:
    """Return the sum of yielded texts, each of which is heard on the way."""
    texts: list[str] = []
    for piece in pieces:
        if not isinstance(piece, str):
            return _no_piece(piece)
        texts.append(piece)
        hear(piece)
    return "".join(texts)


async def _joined_later(pieces: AsyncIterator[Any], hear: OnChunk) -> str | Trouble:
    """Return the sum of texts that are yielded asynchronously, each of which is heard on the way."""
    texts: list[str] = []
    async for piece in pieces:
        if not isinstance(piece, str):
            return _no_piece(piece)
        texts.append(piece)
        hear(piece)
    return "".join(texts)


def _no_piece(piece: Any) -> Trouble:
    return malformed(f"the function yielded a {type(piece).__name__}; expected text")


def _text(returned: Any) -> str | Trouble:
    """Return the reply that a function returned, or what is wrong with it."""
    if isinstance(returned, Trouble):
        return returned
    if isinstance(returned, Mapping):
        if returned.get("success", True) is False:
            words = Secret().scrub(str(returned.get("response") or ""))
            return Trouble(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
        returned = returned.get("response")
    if returned is None or (isinstance(returned, str) and not returned.strip()):
        return empty("the function returned no text")
    if not isinstance(returned, str):
        return malformed(f"the function returned a {type(returned).__name__}; expected text")
    return returned
