"""One reply on its way to a person: what was heard of it, what is shown, who watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from theodolite.domain.live import LiveEnding


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A piece of a reply as it appears.

    Attributes:
        upto: Letters of the reply that are shown with this piece; count, from which one can go on after a lost line.
        text: The piece.
    """

    upto: int
    text: str


class LiveReply:
    """Letters that an application gave and that appear one beat after the other.

    What the application gave and what is shown are kept apart, so that an
    application that gives a reply at once looks like one that gives it in pieces.
    """

    def __init__(self, key: str) -> None:
        """Begin with nothing heard.

        Args:
            key: Key of the turn that it answers.
        """
        self.key = key
        self.lengths = ""
        self.shown = ""
        self.ending: LiveEnding | None = None
        self.is_stopped = False
        self._stir = asyncio.Event()
        self._news = asyncio.Event()

    @property
    def is_behind(self) -> bool:
        """Whether something was heard that is not shown yet."""
        return len(self.shown) < len(self.lengths)

    def hear(self, piece: str) -> None:
        """Take a piece from the application."""
        if not self.is_stopped:
            self.lengths += piece
        self._stir.set()

    def hear_all(self, text: str) -> None:
        """Take the whole reply, which is right where the pieces said otherwise."""
        self.lengths = text
        if not text.startswith(self.shown):
            self.shown = text
        self._stir.set()

    def stop(self) -> None:
        """Ask for nothing more of it; what is shown stays."""
        self.is_stopped = True
        self._stir.set()

    def wake(self) -> None:
        """Let whoever gives the reply look again."""
        self._stir.set()

    async def stirred(self) -> None:
        """Wait until something was heard, or the reply is to stop."""
        await self._stir.wait()
        self._stir.clear()

    def show(self, letters: int) -> None:
        """Let some more letters appear; count."""
        self.shown = self.lengths[: len(self.shown) + letters]
        self._tell()

    def pulse(self) -> None:
        """Let those who watch know that it still goes on."""
        self._tell()

    def end(self, ending: LiveEnding) -> None:
        """Let it be over."""
        self.ending = ending
        self._tell()

    async def watch(self, after: int = 0, *, pulses: bool = False) -> AsyncIterator[Shown]:
        """Yield what appears until the reply is over; anybody may watch, and leaving changes nothing.

        Args:
            after: Letters that the watcher has already; count.
            pulses: Whether an empty piece is yielded with each pulse that brings nothing new.
        """
        while self.ending is None or len(self.shown) > after:
            if len(self.shown) <= after:
                await self._news.wait()
            piece, after = self.shown[after:], max(after, len(self.shown))
            if piece or (pulses and self.ending is None):
                yield Shown(upto=after, text=piece)

    async def over(self) -> None:
        """Wait until the reply is over."""
        async for _ in self.watch(len(self.lengths)):
            pass

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
