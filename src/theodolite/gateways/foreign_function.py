"""A study's own Python function, sync or async: called with patience, away from our event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path, PurePath
from traceback import walk_tb
from typing import Any

from theodolite.domain.errors import ContentRefused, GatewayError, ServerFault, TimedOut
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.trouble import Trouble, malformed
from theodolite.gateways.worker_threads import LoopThread, Raised, in_thread
from theodolite.ports.application import OnChunk

_PACKAGE = Path(__file__).parents[1]
_PYTHON = Path(asyncio.__file__).parents[1]


class ForeignFunction:
    """Calls a function and bears with whatever it does.

    A sync function runs in a thread each time, so that a slow one delays nobody
    else. Coroutines run together on one loop in a thread of the function's own:
    what they share, such as a client's connections, stays on one loop, and one
    that blocks delays neither our loop nor its own deadline.
    """

    def __init__(self, function: Callable[..., Any], *, owner: str, patience_s: float, wanted: str = "answer") -> None:
        """Look at the function; it is not called yet.

        Args:
            function: The loaded function.
            owner: Name of the application or annotator that it is.
            patience_s: Time for one call; seconds.
            wanted: What it is to bring, for messages.
        """
        self._function = function
        self._owner = owner
        self._patience_s = patience_s
        self._wanted = wanted
        # Only what is async by its definition may be called on the loop at once; anything else could block it.
        self._is_async = any(map(_is_async, (function, getattr(function, "__call__", None))))  # noqa: B004 - the method
        self._loop = LoopThread()

    async def call(self, given: Any, keywords: Mapping[str, Any], *, hear: OnChunk | None = None) -> Any:
        """Return what the function returns, or with `hear` the sum of the texts that it yields.

        Args:
            given: Its first argument.
            keywords: What it is given by name.
            hear: Receives each text as it is yielded.

        Raises:
            TimedOut: If it took too long.
            ContentRefused: If it says so.
            ServerFault: If it raised anything else.
        """
        try:
            async with asyncio.timeout(self._patience_s):
                returned = await self._outcome(given, keywords, hear)
        except TimeoutError as error:
            raise await self._too_late() from error
        if isinstance(returned, Raised):
            raise self._fault(returned.error) from returned.error
        return returned

    def leave(self) -> None:
        """Let go of the loop, if there is one."""
        self._loop.leave()

    async def _outcome(self, given: Any, keywords: Mapping[str, Any], hear: OnChunk | None) -> Any:
        here = asyncio.get_running_loop()

        def hear_here(piece: str) -> None:
            if hear is not None:
                here.call_soon_threadsafe(hear, piece)

        def call() -> Any:
            returned = self._function(given, **keywords)
            return _joined(returned, hear_here) if hear and isinstance(returned, Iterator) else returned

        async def later(returned: Any) -> Any:
            brought = await returned if isinstance(returned, Awaitable) else returned
            return await _joined_later(brought, hear_here) if hear and isinstance(brought, AsyncIterator) else brought

        if self._is_async:
            return await self._loop.call(lambda: later(self._function(given, **keywords)))
        returned = await in_thread(call)
        is_later = isinstance(returned, Awaitable | AsyncIterator)
        return await self._loop.call(lambda: later(returned)) if is_later else returned

    async def _too_late(self) -> TimedOut:
        message = f"no {self._wanted} within {self._patience_s:g} s"
        if await self._loop.is_blocked():
            self._loop.leave()
            message += "; it blocks its event loop, as `time.sleep` or a client that is not async does in `async def`"
        return TimedOut(message, endpoint=self._owner)

    def _fault(self, error: BaseException) -> GatewayError:
        if isinstance(error, ContentRefused):
            return ContentRefused(Secret().scrub(str(error)), endpoint=self._owner)
        return ServerFault(Secret().scrub(raised_words(error)), endpoint=self._owner)


def raised_words(error: BaseException) -> str:
    """Return what somebody else's code raised, and where in it, in words.

    Example:
        >>> raised_words(KeyError("session"))
        "KeyError: 'session'"
    """
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, FileNotFoundError) and _is_relative(error.filename):
        words += "; such paths begin in the folder in which theodolite was started"
    place = _place(error)
    return f"{words} ({place})" if place else words


def _is_relative(path: object) -> bool:
    return isinstance(path, str) and not PurePath(path).is_absolute()


def _place(error: BaseException) -> str:
    """Return the last line of the study's own code on the way to an error; empty where it never came there."""
    steps = [(Path(frame.f_code.co_filename), line) for frame, line in walk_tb(error.__traceback__)]
    foreign = [(file, line) for file, line in steps if _is_foreign(file)]
    own = [(file, line) for file, line in foreign if file.is_relative_to(foreign[0][0].parent)]
    return f"{own[-1][0].name}, line {own[-1][1]}" if own else ""


def _is_foreign(file: Path) -> bool:
    """Tell whether a file is neither ours nor Python's own."""
    is_pythons = file.is_relative_to(_PYTHON) and "site-packages" not in file.parts
    return file.is_absolute() and not is_pythons and not file.is_relative_to(_PACKAGE)


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
