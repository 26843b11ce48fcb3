"""The repositories of everything that people do in the events of a workspace."""

from __future__ import annotations

from theodolite.store.contents import Contents
from theodolite.store.events.dialogues import LiveDialogueRepository, ReplyRepository
from theodolite.store.events.responses import CodingRepository, ResponseRepository
from theodolite.store.events.sessions import ParticipantRepository, SessionRepository
from theodolite.store.events.withdrawal import WithdrawalRepository
from theodolite.store.executor import Executor


class EventRepository:
    """The repositories of one workspace's events."""

    def __init__(self, executor: Executor, contents: Contents) -> None:
        """Create the repositories on one executor.

        Args:
            executor: Runs their work.
            contents: Where records are stored by content hash.
        """
        self.participants = ParticipantRepository(executor)
        self.sessions = SessionRepository(executor)
        self.dialogues = LiveDialogueRepository(executor, contents)
        self.replies = ReplyRepository(executor)
        self.responses = ResponseRepository(executor)
        self.codings = CodingRepository(executor)
        self.withdrawals = WithdrawalRepository(executor, contents)
