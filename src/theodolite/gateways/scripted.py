"""Scripts in place of models, always labelled as scripted."""

from __future__ import annotations

from theodolite.domain.errors import InputError
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.domain.model import ModelEndpoint
from theodolite.ports.application import OnChunk
from theodolite.ports.endpoint import Knock


class ScriptedModel:
    """Gives the replies of a script in turn.

    Which one depends on the request alone, so that a resumed dialogue goes on
    as it would have gone on without the interruption.
    """

    def __init__(self, endpoint: ModelEndpoint) -> None:
        """Keep the script.

        Raises:
            InputError: If the script is empty.
        """
        if not endpoint.script:
            message = f"model `{endpoint.name}` needs a `url` or a `script` with at least one reply; it has neither"
            raise InputError(message)
        self._endpoint = endpoint

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the next line: one further for each assistant message so far and each repetition."""
        said = sum(message.speaker is Speaker.ASSISTANT for message in request.messages)
        script = self._endpoint.script
        text = script[(said + request.replicate - 1) % len(script)]
        if on_chunk is not None:
            on_chunk(text)
        return Reply(text=text, answered_as="script", finish="stop", cost_microusd=0, scripted=True)

    async def knock(self) -> Knock:
        """Say that a script stands in for a model."""
        n = len(self._endpoint.script)
        answer = f"ok, SCRIPTED: {n} {'reply' if n == 1 else 'replies'} in turn, no model"
        return Knock(name=self._endpoint.name, host="", alive=True, answer=answer)

    async def close(self) -> None:
        """Do nothing: a script holds no connections."""
