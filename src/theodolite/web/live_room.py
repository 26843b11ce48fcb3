"""The live room: applications answer testers here, for as long as the server lives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.venues import OpenedVenue
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn
from theodolite.domain.people.session import Session
from theodolite.execution.blocking import BlockingExecutor
from theodolite.execution.clients import Clients
from theodolite.execution.live import LiveReplies, Pacing
from theodolite.execution.live_reply import LiveReply
from theodolite.ports.application import Conversing
from theodolite.usecases.people.talking import finish
from theodolite.usecases.people.venue import Venue
from theodolite.web.crew import at_home
from theodolite.web.venues import server_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a turn stands, as its tester's pages name it.

    Attributes:
        participant: Key of the tester.
        level: Level of testing.
        session: Number of the session, from 1.
        dialogue: Number of the dialogue in it, from 1.
        turn: Number of the turn in that, from 1.
    """

    participant: str
    level: Level
    session: int
    dialogue: int
    turn: int


@dataclass(slots=True)
class StoreKeeper:
    """Keeps live replies in the store, in a thread of its own.

    Attributes:
        venues: Key of a turn that is under way to the event that it belongs to.
        executor: Runs blocking calls one at a time.
    """

    venues: dict[str, Venue] = field(default_factory=dict)
    executor: BlockingExecutor = field(default_factory=lambda: BlockingExecutor(at_home))

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store how far replies have come."""
        await self.executor.call(server_store().hold, partials)

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how a reply ended."""
        await self.executor.call(finish, self.venues[key], key, ending)
        self.venues.pop(key, None)


class LiveRoom:
    """Replies that are under way on this server, and lines to the applications that give them."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._keeper = StoreKeeper()
        self._replies = LiveReplies(self._keeper, SystemClock())
        self._clients: dict[int, tuple[OpenedVenue, Clients]] = {}
        self._spots: dict[Spot, LiveReply] = {}
        self._connecting = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer testers for as long as this is open; what a killed server left under way is interrupted first."""
        self._connecting = asyncio.Lock()  # of this event loop
        await self._keeper.executor.call(lambda: server_store().interrupt_all())
        try:
            async with self._replies.open():
                yield
        finally:
            for _, clients in self._clients.values():
                await clients.close()
            self._keeper.executor.close()

    async def ask(
        self,
        opened: OpenedVenue,
        venue: Venue,
        session: Session,
        dialogue: LiveDialogue,
        turn: LiveTurn,
        asked: SayToApplication,
    ) -> None:
        """Ask a session's application; the reply comes by itself, and what keeps it from coming ends the turn.

        Args:
            opened: The edition that the session was made for, with the way to its applications.
            venue: The event as the person met it.
            session: The session, for its application.
            dialogue: The conversation; the application knows it by its key.
            turn: The turn that is to be answered.
            asked: What the application is asked.
        """
        self._keeper.venues[turn.key] = venue
        try:
            application = (await self._connected(opened)).applications[session.application]
            reply = self._replies.begin(turn.key, application, asked, session=dialogue.key, pacing=Pacing())
        except (TheodoliteError, KeyError) as error:
            cause = f"the application could not be asked: {type(error).__name__} {error}"
            await self._keeper.end(turn.key, LiveEnding(state=TurnState.ERROR, text="", cause=cause))
            return
        self._spots = {spot: one for spot, one in self._spots.items() if one.ending is None}
        self._spots[_spot_of(session, dialogue, turn)] = reply

    async def _connected(self, opened: OpenedVenue) -> Clients:
        """Return the lines of an edition; made when they are first needed, in a thread: applications load code."""
        async with self._connecting:
            if id(opened) not in self._clients:
                self._clients[id(opened)] = (opened, await asyncio.to_thread(opened.connect))
        return self._clients[id(opened)][1]

    async def over(self, turn: str) -> None:
        """Wait until the reply of a turn is over; at once where none goes on."""
        live = self.find(turn)
        if live is not None:
            await live.over()

    async def stop(self, turn: str) -> None:
        """Stop the reply of a turn, and wait until what is shown of it is kept."""
        self._replies.stop(turn)
        await self.over(turn)

    async def hang_up(self, opened: OpenedVenue, session: Session, dialogue: LiveDialogue) -> None:
        """End a conversation: stop the reply that is under way, and tell an application that wants to know.

        Args:
            opened: The edition that the session was made for.
            session: The session that it belongs to.
            dialogue: The conversation, as it was when its end was decided.
        """
        if dialogue.under_way is not None:
            await self.stop(dialogue.under_way.key)
        if self._clients:
            client = (await self._connected(opened)).applications.get(session.application)
            if isinstance(client, Conversing):
                await client.end(dialogue.key)

    def find(self, turn: str) -> LiveReply | None:
        """Return the reply of a turn while it goes on."""
        return self._replies.find(turn)

    def at(self, spot: Spot) -> LiveReply | None:
        """Return the reply of the turn at a spot while it goes on; the store is not asked."""
        found = self._spots.get(spot)
        return found if found is not None and found.ending is None else None

    def in_flight(self) -> int:
        """Return how many replies are under way; count."""
        return self._replies.in_flight()


def _spot_of(session: Session, dialogue: LiveDialogue, turn: LiveTurn) -> Spot:
    return Spot(
        participant=session.participant,
        level=session.level,
        session=session.place + 1,
        dialogue=dialogue.number,
        turn=turn.number,
    )


@cache
def room() -> LiveRoom:
    """Return the live room of this process."""
    return LiveRoom()
