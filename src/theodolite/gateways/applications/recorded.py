"""Applications whose replies were recorded before."""

from __future__ import annotations

from collections.abc import Iterable

from theodolite.domain.errors import EmptyReply, ServerFault
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.recording import RecordedDialogue, RecordedTurn
from theodolite.gateways.sanitize import repaired
from theodolite.ports.application import OnChunk
from theodolite.ports.endpoint import Knock


class RecordedApplication:
    """Answers with what a file says that was answered, found by item, repeat and turn."""

    def __init__(self, name: str, recordings: Iterable[RecordedDialogue]) -> None:
        """Index the recordings of one application; those of others are left out."""
        self._name = name
        self._turns: dict[tuple[str, int], tuple[RecordedTurn, ...]] = {}
        self._labelled: set[tuple[str, int]] = set()
        for recording in recordings:
            if recording.application == name:
                self._turns[recording.key, recording.repeat] = recording.turns
                if recording.labelled:
                    self._labelled.add((recording.key, recording.repeat))

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the recorded response.

        Raises:
            GatewayError: If the file holds none.
        """
        del session, on_chunk  # the file knows neither
        turns = self._turns.get((request.item, request.repeat), ())
        if not 1 <= request.turn <= len(turns):
            repeat = f", repeat {request.repeat}" if request.repeat > 1 else ""
            message = f"the file holds no response of `{self._name}` to `{request.item}`, turn {request.turn}{repeat}"
            raise ServerFault(message, endpoint=self._name, tries=0)
        turn = turns[request.turn - 1]
        is_labelled = (request.item, request.repeat) in self._labelled
        if not turn.response.strip() and not turn.withheld and not is_labelled:
            message = f"the recorded response to `{request.item}`, turn {request.turn}, is empty"
            raise EmptyReply(message, endpoint=self._name, tries=0)
        text, n_repaired = repaired(turn.response)
        context, n_repaired_there = repaired(turn.context)
        return Reply(
            text=text,
            withheld=turn.withheld,
            cost_microusd=0,
            attempts=0,
            recorded=True,
            repaired=n_repaired + n_repaired_there,
            context=context,
        )

    async def knock(self) -> Knock:
        """Say how much is recorded."""
        n = len(self._turns)
        answer = f"ok, {n:,} recorded {'dialogue' if n == 1 else 'dialogues'}"
        return Knock(name=self._name, host="", alive=n > 0, answer=answer if n else "its file holds no dialogue")

    async def close(self) -> None:
        """Do nothing: a recording holds no connections."""
