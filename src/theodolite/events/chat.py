"""Chat: prompts of participants, and the replies of applications while they arrive."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from theodolite.assessment.blinding import identifying_names, self_identification
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn, exchanges
from theodolite.domain.session import Session
from theodolite.events.context import EventContext, OpenEvent
from theodolite.events.rules import prompt_refusal, session_refusal, time_left_s
from theodolite.execution.clients import BlockingExecutor, Clients
from theodolite.execution.live_replies import LiveReplies, LiveReply, Pacing
from theodolite.ports.application import Conversing
from theodolite.ports.progress import Clock, Observer

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore


def send_prompt(event: EventContext, session: str, text: str) -> tuple[LiveTurn, SayToApplication]:
    """Store a prompt, and return its turn with the request to the application.

    Args:
        event: The event.
        session: Key of the session.
        text: The prompt.

    Raises:
        InputError: If the session is paused, or has no time or turns left; worded for the participant.
        Conflict: If the session is not active, or a reply is still in progress.
        NotFound: If there is no such session.
    """
    dialogues = event.dialogues.of_session(session)
    return send_prompt_in(event, event.sessions.get(session), dialogues[-1] if dialogues else None, text)


def send_prompt_in(
    event: EventContext, session: Session, dialogue: LiveDialogue | None, text: str
) -> tuple[LiveTurn, SayToApplication]:
    """Store a prompt in a session that was just read; the store rejects it if the session has changed.

    Args:
        event: The event.
        session: The session.
        dialogue: Its latest dialogue; None before the first prompt.
        text: The prompt.

    Raises:
        InputError: If the session is paused, or has no time or turns left; worded for the participant.
        Conflict: If the session is not active any more, or a reply is still in progress.
    """
    refusal = refusal_of(event, session, dialogue)
    if refusal:
        raise InputError(refusal)
    turn = event.dialogues.add_turn(session.key, text, now=event.clock.now())
    before = dialogue.turns if dialogue is not None and dialogue.is_open else ()
    return turn, _request(event, session, turn, before)


def refusal_of(event: EventContext, session: Session, dialogue: LiveDialogue | None) -> str:
    """Return why a prompt is refused now, worded for the participant; empty if it is accepted."""
    return prompt_refusal(event.study, session, dialogue, event.hours(session.level), event.clock.now())


def session_time_left_s(event: EventContext, session: Session) -> float | None:
    """Return the time left in a session now; seconds, None if there is no limit."""
    return time_left_s(event.study, session, event.hours(session.level), event.clock.now())


def retry(event: EventContext, turn: str) -> tuple[LiveTurn, SayToApplication]:
    """Reset a turn whose reply ended in an error, and return it with the request to the application.

    Raises:
        InputError: If the session is paused or has no time left; worded for the participant.
        Conflict: If the turn has a response, or is not the last one of an open dialogue.
        NotFound: If there is no such turn.
    """
    session = event.sessions.get(event.dialogues.of_turn(turn).session)
    refusal = session_refusal(event.study, session, event.hours(session.level), event.clock.now())
    if refusal:
        raise InputError(refusal)
    again = event.dialogues.retry_turn(turn, now=event.clock.now())
    return again, _request(event, session, again, event.dialogues.of_turn(turn).turns)


def finish_turn(event: EventContext, turn: str, ending: LiveEnding) -> LiveTurn:
    """Store the outcome of a turn's reply, with the phrases by which it identifies itself.

    Raises:
        Conflict: If it has ended before.
        NotFound: If the turn no longer exists.
    """
    claims = (claim.words for claim in self_identification(ending.text, identifying_names(event.study)))
    return event.dialogues.end_turn(turn, ending, tuple(dict.fromkeys(claims)))


def _request(event: EventContext, session: Session, turn: LiveTurn, turns: Sequence[LiveTurn]) -> SayToApplication:
    def context(prompt: str) -> str:
        return event.material(session.scenario, event.found(session.scenario, prompt))

    earlier = exchanges(turns[: turn.number - 1])
    return SayToApplication(
        application=session.application,
        prompt=turn.prompt,
        turn=turn.number,
        history=tuple(replace(exchange, context=context(exchange.prompt)) for exchange in earlier),
        context=context(turn.prompt),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRef:
    """The address of a turn, as the participant's pages name it.

    Attributes:
        participant: Key of the participant.
        level: Level of testing.
        session: Number of the session, from 1.
        dialogue: Number of the dialogue in the session, from 1.
        turn: Number of the turn in the dialogue, from 1.
    """

    participant: str
    level: Level
    session: int
    dialogue: int
    turn: int


@dataclass(slots=True)
class StoreSink:
    """Stores replies while they arrive, on one thread.

    Attributes:
        store: Returns the store.
        thread: Thread that runs blocking calls in order.
        events: Key of a turn in progress to its event.
    """

    store: Callable[[], DjangoStore]
    thread: BlockingExecutor
    events: dict[str, EventContext] = field(default_factory=dict)

    def interrupt_all(self) -> int:
        """Mark every reply in progress as interrupted, because no process waits for it any more; return the count."""
        return self.store().events.dialogues.interrupt_all()

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store the parts of replies that have arrived."""
        await self.thread.call(lambda: self.store().events.dialogues.save_partials(partials))

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how a reply ended."""
        await self.thread.call(finish_turn, self.events[key], key, ending)
        self.events.pop(key, None)


class ReplyManager:
    """The replies in progress of one process, and the connections to the applications behind them."""

    def __init__(
        self,
        store: Callable[[], DjangoStore],
        clock: Clock,
        prepare: Callable[[], None],
        observer: Observer | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            store: Returns the store.
            clock: Returns the current time.
            prepare: Called in the thread of the store before anything else.
            observer: Receives the calls for metrics, logs and traces; None for no observer.
        """
        self._sink = StoreSink(store, BlockingExecutor(prepare))
        self._replies = LiveReplies(self._sink, clock, observer)
        self._connections: dict[int, tuple[OpenEvent, Clients]] = {}
        self._by_ref: dict[TurnRef, LiveReply] = {}
        self._connecting = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer participants while this context is open; interrupt replies that a killed server left in progress."""
        self._connecting = asyncio.Lock()  # of this event loop
        await self._sink.thread.call(self._sink.interrupt_all)
        try:
            async with self._replies.open():
                yield
        finally:
            for _, lines in self._connections.values():
                await lines.close()
            self._sink.thread.close()

    async def ask(
        self,
        opened: OpenEvent,
        event: EventContext,
        session: Session,
        dialogue: LiveDialogue,
        turn: LiveTurn,
        request: SayToApplication,
    ) -> None:
        """Send a request to the application of a session; an error that prevents the reply ends the turn.

        Args:
            opened: The event in the release for which the session was created, with its connections.
            event: The event as the participant sees it.
            session: The session.
            dialogue: The dialogue; the application knows it by its key.
            turn: The turn to be answered.
            request: The request.
        """
        self._sink.events[turn.key] = event
        try:
            application = (await self._connected(opened)).applications[session.application]
            reply = self._replies.begin(turn.key, application, request, session=dialogue.key, pacing=Pacing())
        except (TheodoliteError, KeyError) as error:
            cause = f"could not call the application: {type(error).__name__} {error}"
            await self._sink.end(turn.key, LiveEnding(state=TurnState.ERROR, text="", cause=cause))
            return
        self._by_ref = {ref: known for ref, known in self._by_ref.items() if known.ending is None}
        self._by_ref[_ref_of(session, dialogue, turn)] = reply

    async def _connected(self, opened: OpenEvent) -> Clients:
        """Return the connections of a release; they are made on first use, in a thread, because they load code."""
        async with self._connecting:
            if id(opened) not in self._connections:
                self._connections[id(opened)] = (opened, await asyncio.to_thread(opened.connect))
        return self._connections[id(opened)][1]

    async def over(self, turn: str) -> None:
        """Wait until the reply of a turn has ended; return immediately if none is in progress."""
        reply = self.find(turn)
        if reply is not None:
            await reply.over()

    async def stop(self, turn: str) -> None:
        """Stop the reply of a turn, and wait until its shown part is stored."""
        self._replies.stop(turn)
        await self.over(turn)

    async def close_dialogue(self, opened: OpenEvent, session: Session, dialogue: LiveDialogue) -> None:
        """Stop the reply in progress of a dialogue, and notify a stateful application of the end.

        Args:
            opened: The event in the release for which the session was created.
            session: The session that the dialogue belongs to.
            dialogue: The dialogue, as it was when its end was decided.
        """
        if dialogue.under_way is not None:
            await self.stop(dialogue.under_way.key)
        if self._connections:
            application = (await self._connected(opened)).applications.get(session.application)
            if isinstance(application, Conversing):
                await application.end(dialogue.key)

    def find(self, turn: str) -> LiveReply | None:
        """Return the reply of a turn while it is in progress."""
        return self._replies.find(turn)

    def at(self, ref: TurnRef) -> LiveReply | None:
        """Return the reply in progress of the turn at an address, without querying the store."""
        reply = self._by_ref.get(ref)
        return reply if reply is not None and reply.ending is None else None

    def in_flight(self) -> int:
        """Return the number of replies in progress; count."""
        return self._replies.in_flight()


def _ref_of(session: Session, dialogue: LiveDialogue, turn: LiveTurn) -> TurnRef:
    return TurnRef(
        participant=session.participant,
        level=session.level,
        session=session.place + 1,
        dialogue=dialogue.number,
        turn=turn.number,
    )
