"""The live room: applications answer testers here, for as long as the server lives."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.venues import OpenedVenue
from theodolite.domain.dialogue import TurnState
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn
from theodolite.domain.session import Session
from theodolite.execution.aside import Aside
from theodolite.execution.lines import Lines
from theodolite.execution.live import LiveReplies, Pacing
from theodolite.execution.live_reply import LiveReply
from theodolite.ports.application import Conversing
from theodolite.usecases.people.talking import finish
from theodolite.usecases.people.venue import Venue
from theodolite.web.models import HostedStudy
from theodolite.web.venues import opened_venue, server_store


@dataclass(slots=True)
class StoreKeeper:
    """Keeps live replies in the store, in a thread of its own.

    Attributes:
        venues: Key of a turn that is under way to the event that it belongs to.
        aside: Where blocking calls are made, one after the other.
    """

    venues: dict[str, Venue] = field(default_factory=dict)
    aside: Aside = field(default_factory=Aside)

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store how far replies have come."""
        await self.aside.call(server_store().hold, partials)

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how a reply ended."""
        await self.aside.call(finish, self.venues[key], key, ending)
        self.venues.pop(key, None)


class LiveRoom:
    """Replies that are under way on this server, and lines to the applications that give them."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._keeper = StoreKeeper()
        self._replies = LiveReplies(self._keeper, SystemClock())
        self._lines: dict[int, tuple[OpenedVenue, Lines]] = {}

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer testers for as long as this is open; what a killed server left under way is interrupted first."""
        await self._keeper.aside.call(lambda: server_store().interrupt_all())
        try:
            async with self._replies.open():
                yield
        finally:
            for _, lines in self._lines.values():
                await lines.close()
            self._keeper.aside.close()

    async def ask(
        self,
        hosted: HostedStudy,
        venue: Venue,
        session: Session,
        dialogue: str,
        turn: LiveTurn,
        asked: SayToApplication,
    ) -> None:
        """Ask a session's application; the reply comes by itself, and what keeps it from coming ends the turn.

        Args:
            hosted: The study.
            venue: Its event.
            session: The session, for its application.
            dialogue: Key under which the application knows the conversation.
            turn: The turn that is to be answered.
            asked: What the application is asked.
        """
        self._keeper.venues[turn.key] = venue
        try:
            application = (await self._connected(hosted, session)).applications[session.application]
            self._replies.begin(turn.key, application, asked, session=dialogue, pacing=Pacing())
        except (TheodoliteError, KeyError) as error:
            cause = f"the application could not be asked: {type(error).__name__} {error}"
            await self._keeper.end(turn.key, LiveEnding(state=TurnState.ERROR, text="", cause=cause))

    async def _connected(self, hosted: HostedStudy, session: Session) -> Lines:
        """Return the lines of a session's own edition; made when they are first needed."""
        opened = await self._keeper.aside.call(opened_venue, hosted, session.edition)
        if id(opened) not in self._lines:
            self._lines.setdefault(id(opened), (opened, opened.connect()))
        return self._lines[id(opened)][1]

    async def hang_up(self, hosted: HostedStudy, session: Session, dialogue: LiveDialogue) -> None:
        """End a conversation: stop the reply that is under way, and tell an application that wants to know.

        Args:
            hosted: The study.
            session: The session that it belongs to.
            dialogue: The conversation, as it was when its end was decided.
        """
        live = None if dialogue.under_way is None else self.find(dialogue.under_way.key)
        if live is not None:
            live.stop()
            await live.over()
        if self._lines:
            line = (await self._connected(hosted, session)).applications.get(session.application)
            if isinstance(line, Conversing):
                await line.end(dialogue.key)

    def find(self, turn: str) -> LiveReply | None:
        """Return the reply of a turn while it goes on."""
        return self._replies.find(turn)

    def in_flight(self) -> int:
        """Return how many replies are under way; count."""
        return self._replies.in_flight()


@cache
def room() -> LiveRoom:
    """Return the live room of this process."""
    return LiveRoom()
