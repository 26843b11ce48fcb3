"""Live replies: applications answer participants, and a lost connection loses no text."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass

from theodolite.domain.dialogue import TurnState
from theodolite.domain.errors import Conflict, ContentRefused, GatewayError, NotFound, StoreError, TemplateError
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, Reply, SayToApplication
from theodolite.domain.live import LiveEnding
from theodolite.domain.run import FailureKind
from theodolite.execution.clients import kind_of, paid_reply
from theodolite.ports.application import ApplicationClient
from theodolite.ports.progress import Clock, Observer
from theodolite.ports.store import ReplySink

_TRIES = 5
"""Attempts to store the end of a reply; count."""

PULSE_S = 10.0
"""Time between signals that a reply is still in progress, so that no proxy drops the connection; seconds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPiece:
    """A piece of a reply as it appears.

    Attributes:
        upto: Characters shown up to and with this piece; count, to resume after a lost connection.
        text: The piece.
    """

    upto: int
    text: str


class LiveReply:
    """One reply on its way to a participant: its text as received, its text as shown, and its watchers.

    The received and the shown text are separate, so that an application that replies in one
    piece looks like one that streams.
    """

    def __init__(self, key: str) -> None:
        """Start with an empty text.

        Args:
            key: Key of the turn that it answers.
        """
        self.key = key
        self.received = ""
        self.shown = ""
        self.ending: LiveEnding | None = None
        self.is_stopped = False
        self._stir = asyncio.Event()
        self._news = asyncio.Event()

    @property
    def is_behind(self) -> bool:
        """Whether received text is not shown yet."""
        return len(self.shown) < len(self.received)

    def hear(self, piece: str) -> None:
        """Add a chunk from the application."""
        if not self.is_stopped:
            self.received += piece
        self._stir.set()

    def hear_all(self, text: str) -> None:
        """Set the whole reply, which is authoritative if the chunks differ."""
        self.received = text
        if not text.startswith(self.shown):
            self.shown = text
        self._stir.set()

    def stop(self) -> None:
        """Stop the reply; the shown text is kept."""
        self.is_stopped = True
        self._stir.set()

    def wake(self) -> None:
        """Wake the task that produces the reply."""
        self._stir.set()

    async def stirred(self) -> None:
        """Wait until text arrives or the reply is stopped."""
        await self._stir.wait()
        self._stir.clear()

    def show(self, letters: int) -> None:
        """Show some more characters; count."""
        self.shown = self.received[: len(self.shown) + letters]
        self._tell()

    def pulse(self) -> None:
        """Tell the watchers that the reply is still in progress."""
        self._tell()

    def end(self, ending: LiveEnding) -> None:
        """End the reply."""
        self.ending = ending
        self._tell()

    async def watch(self, after: int = 0, *, pulses: bool = False) -> AsyncIterator[ReplyPiece]:
        """Yield the shown pieces until the reply ends, to any number of watchers.

        Args:
            after: Characters that the watcher has already; count.
            pulses: Whether an empty piece is yielded with each pulse without new text.
        """
        while self.ending is None or len(self.shown) > after:
            if len(self.shown) <= after:
                await self._news.wait()
            piece, after = self.shown[after:], max(after, len(self.shown))
            if piece or (pulses and self.ending is None):
                yield ReplyPiece(upto=after, text=piece)

    async def over(self) -> None:
        """Wait until the reply ends."""
        async for _ in self.watch(len(self.received)):
            pass

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How replies appear; the same for all applications, because timing would unblind them.

    Attributes:
        least_wait_s: No reply starts to appear sooner than this after sending; seconds.
        beat_s: Time between two pieces; seconds.
        letters: Maximum length of a piece; characters.
        whole: Show nothing before the reply is complete, which hides
            whether it streams.
        patience_s: Time limit of a reply; seconds.
        keep_s: Time between two saves of the shown text; seconds.
    """

    least_wait_s: float = 1.2
    beat_s: float = 0.04
    letters: int = 16
    whole: bool = False
    patience_s: float = 180.0
    keep_s: float = 0.3


class LiveReplies:
    """All replies in progress of this process, each a task that outlives the request that started it."""

    def __init__(self, sink: ReplySink, clock: Clock, observer: Observer | None = None) -> None:
        """Set the store of shown texts, the clock, and the observer of calls."""
        self._sink = sink
        self._clock = clock
        self._observer = observer
        self._replies: dict[str, LiveReply] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._keep_s = Pacing().keep_s

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer participants while this context is open; replies in progress at its end are interrupted and stored."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            periodic = [tasks.create_task(self._save_periodically()), tasks.create_task(self._pulse_periodically())]
            try:
                yield
            finally:
                self._tasks = None
                for task in periodic:
                    task.cancel()
                for reply in self._replies.values():
                    reply.stop()

    def begin(
        self, key: str, application: ApplicationClient, request: SayToApplication, *, session: str, pacing: Pacing
    ) -> LiveReply:
        """Send a request to an application and return its reply, which is in progress.

        Args:
            key: Key of the turn.
            application: The application.
            request: The prompt, with the dialogue so far.
            session: Opaque key under which the application knows the session.
            pacing: How the reply appears.

        Raises:
            Conflict: If the turn is being answered already, or the server is stopping.
        """
        if self._tasks is None:
            message = "no reply can begin: the server is starting or about to end"
            raise Conflict(message)
        if key in self._replies:
            message = f"turn {key!r} is being answered already"
            raise Conflict(message)
        reply = self._replies[key] = LiveReply(key)
        answering = _Answering(reply, self._clock, pacing, self._observer)
        self._tasks.create_task(self._attend(answering, application, request, session))
        return reply

    def find(self, key: str) -> LiveReply | None:
        """Return the reply of a turn while it is in progress; else None, because the store has it."""
        return self._replies.get(key)

    def stop(self, key: str) -> bool:
        """Stop a reply, whose shown text is stored; return whether there was one."""
        reply = self._replies.get(key)
        if reply is not None:
            reply.stop()
        return reply is not None

    def in_flight(self) -> int:
        """Return the number of replies in progress; count."""
        return len(self._replies)

    async def _attend(
        self, answering: _Answering, application: ApplicationClient, request: SayToApplication, session: str
    ) -> None:
        reply = answering.reply
        try:
            ending = await answering.answer(application, request, session)
            reply.end(await self._stored(reply.key, ending))
        finally:
            del self._replies[reply.key]

    async def _stored(self, key: str, ending: LiveEnding) -> LiveEnding:
        """Store an ending, with retries, and return the stored ending."""
        for number in range(_TRIES):
            try:
                await self._sink.end(key, ending)
            except (Conflict, NotFound) as error:
                _log.warning("a reply came too late to be stored: %s", error)
                return ending
            except StoreError as error:
                _log.warning("a reply could not be stored (try %d of %d): %s", number + 1, _TRIES, error)
                await self._clock.sleep(self._keep_s * 2**number)
            else:
                return ending
        return LiveEnding(state=TurnState.ERROR, text=ending.text, cause="the reply could not be stored")

    async def _pulse_periodically(self) -> None:
        while True:
            await self._clock.sleep(PULSE_S)
            for reply in self._replies.values():
                reply.pulse()

    async def _save_periodically(self) -> None:
        saved: dict[str, int] = {}
        while True:
            await self._clock.sleep(self._keep_s)
            fresh = {key: one.shown for key, one in self._replies.items() if len(one.shown) > saved.get(key, 0)}
            saved = {key: upto for key, upto in saved.items() if key in self._replies}
            if not fresh:
                continue
            try:
                await self._sink.hold(fresh)
            except StoreError as error:
                _log.warning("what is shown could not be stored, will try again: %s", error)
            else:
                saved |= {key: len(text) for key, text in fresh.items()}


class _Answering:
    """One reply from the request to its end."""

    def __init__(self, reply: LiveReply, clock: Clock, pacing: Pacing, observer: Observer | None) -> None:
        self.reply = reply
        self._observer = observer
        self._clock = clock
        self._pacing = pacing
        self._sent_s = clock.monotonic_s()
        self._given_s: float | None = None
        self._waited_s: float | None = None
        self._due_s = self._sent_s

    async def answer(self, application: ApplicationClient, request: SayToApplication, session: str) -> LiveEnding:
        """Send the request, show the reply, and return how it ended."""
        call = asyncio.create_task(self._call(application, request, session))
        call.add_done_callback(lambda _: self.reply.wake())
        try:
            await self._wait_before_the_first_word()
            await self._let_appear(call)
        finally:
            if not call.done():
                call.cancel()
            outcome = (await asyncio.gather(call, return_exceptions=True))[0]
        return self._ending(outcome)

    async def _call(self, application: ApplicationClient, request: SayToApplication, session: str) -> Reply:
        try:
            async with asyncio.timeout(self._pacing.patience_s):
                reply = await self._observe_call(application, request, session)
        except ContentRefused as refusal:
            # A refusal is a result; the text before it is part of it.
            text = "\n\n".join(filter(None, (self.reply.received, FILTERED_TEXT)))
            reply = paid_reply(refusal, text, finish=CONTENT_FILTER)
        finally:
            self._given_s = self._clock.monotonic_s()
        self.reply.hear_all(reply.text or FILTERED_TEXT)
        return reply

    async def _observe_call(self, application: ApplicationClient, request: SayToApplication, session: str) -> Reply:
        with nullcontext() if self._observer is None else self._observer.call(request, session) as end:
            reply = await application.reply(request, session=session, on_chunk=self.reply.hear)
            if end is not None:
                end(reply)
        return reply

    async def _wait_before_the_first_word(self) -> None:
        waiting = asyncio.create_task(self._clock.sleep(self._pacing.least_wait_s))
        waiting.add_done_callback(lambda _: self.reply.wake())
        while not (waiting.done() or self.reply.is_stopped):
            await self.reply.stirred()
        waiting.cancel()

    async def _let_appear(self, call: asyncio.Task[Reply]) -> None:
        reply = self.reply
        while not reply.is_stopped:
            if reply.is_behind and (call.done() or not self._pacing.whole):
                self._note_the_first_word()
                reply.show(self._pacing.letters)
                await self._clock.sleep(self._until_the_next_beat_s())
            elif call.done():
                return
            else:
                await reply.stirred()

    def _until_the_next_beat_s(self) -> float:
        """Return the time until the next piece is due; a late piece does not delay those after it."""
        now_s, beat_s = self._clock.monotonic_s(), self._pacing.beat_s
        in_time = now_s - self._due_s < beat_s
        self._due_s = (self._due_s if in_time else now_s) + beat_s
        return self._due_s - now_s

    def _note_the_first_word(self) -> None:
        if self._waited_s is None:
            self._waited_s = self._clock.monotonic_s() - self._sent_s

    def _ending(self, given: Reply | BaseException) -> LiveEnding:
        last_s = self._clock.monotonic_s() if self._given_s is None else self._given_s
        state, kind, cause = self._outcome(given)
        return LiveEnding(
            state=state,
            text=self.reply.shown,
            reply=_reply(given),
            kind=kind,
            cause=cause,
            latency_s=last_s - self._sent_s,
            waited_s=self._waited_s,
        )

    def _outcome(self, given: Reply | BaseException) -> tuple[TurnState, FailureKind | None, str]:
        if isinstance(given, (GatewayError, TemplateError)):
            return TurnState.ERROR, kind_of(given), str(given)
        if isinstance(given, TimeoutError):
            return TurnState.ERROR, FailureKind.TIMED_OUT, f"no whole answer within {self._pacing.patience_s:g} s"
        if isinstance(given, Exception):
            return TurnState.ERROR, FailureKind.SERVER_FAULT, f"{type(given).__name__}: {given}"
        whole = isinstance(given, Reply) and not self.reply.is_behind
        return (TurnState.COMPLETE if whole else TurnState.INTERRUPTED), None, ""


def _reply(given: Reply | BaseException) -> Reply | None:
    """Return the reply of an application; for an unusable answer, only its cost."""
    if isinstance(given, GatewayError) and given.spent.tokens_in + given.spent.tokens_out:
        return paid_reply(given, "")
    return given if isinstance(given, Reply) else None
