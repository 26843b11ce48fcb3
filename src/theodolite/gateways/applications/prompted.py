"""Applications that are a model with a system prompt."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.application import PromptedModel
from theodolite.domain.errors import GatewayError
from theodolite.domain.failure import Party
from theodolite.domain.flow import AskModel, Message, Reply, SayToApplication, Speaker
from theodolite.gateways.templates import text_template
from theodolite.ports.application import OnChunk
from theodolite.ports.endpoint import Endpoint, Knock
from theodolite.ports.model import Model
from theodolite.testing.templates import variables_of

SLOT = "context"
"""What a system prompt may name: the source material."""


_SYSTEMS_KEPT = 64


class PromptedModelApplication:
    """A model, its system prompt and its context files, taken as one application.

    Context files belong to the application: they stand in the slot, before the
    scenario's source material, or at the end where the prompt has no slot. The
    scenario's material goes into a slot only; a prompt without one never sees it.
    """

    def __init__(self, name: str, connection: PromptedModel, *, model: Model) -> None:
        """Keep the parts.

        Args:
            name: Name of the application in the study.
            connection: System prompt and context files.
            model: The model; whoever opened it closes it.

        Raises:
            InputError: If the system prompt is no template, or names what nothing fills.
        """
        self._name = name
        self._connection = connection
        self._model = model
        self._fill = text_template(connection.system, what=f"`system` of application `{name}`", slots=(SLOT,))
        self._has_slot = SLOT in variables_of(connection.system)
        self._files = "\n\n".join(f"# {file}\n{text}" for file, text in connection.context.items())
        self._systems: dict[str, str] = {}

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers to the dialogue so far.

        Raises:
            GatewayError: If no reply came; the subclass says why. Its endpoint is
                the model, which may stand behind other applications too.
            TemplateError: If the system prompt cannot be filled.
        """
        del session  # the whole dialogue is sent each time
        asked = AskModel(
            model=self._connection.model,
            messages=self._messages(request),
            party=Party.APPLICATION,
            replicate=request.repeat,
        )
        try:
            return await self._model.reply(asked, on_chunk=on_chunk)
        except GatewayError as error:
            error.endpoint = error.endpoint or self._connection.model
            raise

    async def knock(self) -> Knock:
        """Ask the model behind it."""
        if isinstance(self._model, Endpoint):
            return replace(await self._model.knock(), name=self._name)
        return Knock(name=self._name, host="", alive=True, answer=f"as model `{self._connection.model}`")

    async def close(self) -> None:
        """Do nothing: the model is shared, and whoever opened it closes it."""

    def _messages(self, request: SayToApplication) -> tuple[Message, ...]:
        system = self._system(request.context)
        messages = [Message(speaker=Speaker.SYSTEM, text=system)] if system else []
        for exchange in request.history:
            messages.append(Message(speaker=Speaker.USER, text=exchange.prompt))
            messages.append(Message(speaker=Speaker.ASSISTANT, text=exchange.response))
        return (*messages, Message(speaker=Speaker.USER, text=request.prompt))

    def _system(self, context: str) -> str:
        """Return the system prompt for some source material; filled once for all turns that are about it."""
        system = self._systems.get(context)
        if system is None:
            if len(self._systems) >= _SYSTEMS_KEPT:
                self._systems.clear()
            system = self._systems[context] = self._filled(context)
        return system

    def _filled(self, context: str) -> str:
        given = "\n\n".join(filter(None, (self._files, context))) if self._has_slot else ""
        system = self._fill({SLOT: given})
        return system if self._has_slot else "\n\n".join(filter(None, (system, self._files)))
