"""An application of a study as a chat model, for other evaluation tools."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from theodolite.bootstrap.connections import SystemClock, chosen_applications, model_client, open_one
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import workspace_for
from theodolite.domain.application import Application, PromptedModel
from theodolite.domain.errors import InputError
from theodolite.domain.flow import Exchange, Reply, SayToApplication
from theodolite.ports.application import Admitting, ApplicationClient, Conversing, Model

ON_UNSUPPORTED = ("error", "drop")
"""Options for system messages and tools, which applications do not support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """A message of the other tool.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        text: Its text.
    """

    role: str
    text: str


@dataclass(slots=True)
class _Connected:
    """Open connections of one event loop.

    Attributes:
        loop: The loop.
        client: The application.
        models: The models that the application uses.
        known: Session to the exchanges that the application has had in it.
    """

    loop: asyncio.AbstractEventLoop
    client: ApplicationClient
    models: Mapping[str, Model]
    known: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


class ApplicationModel:
    """Answers chat messages by an application of a study, with its limits, retries and permissions."""

    def __init__(self, study: str, application: str, *, environ: Mapping[str, str], unsupported: str = "error") -> None:
        """Load the study without calling anything.

        Args:
            study: Folder or file of the study.
            application: Name of the application; the only live one if empty.
            environ: Environment variables.
            unsupported: `error` or `drop`, for system messages and tools.

        Raises:
            InputError: If the study has errors, no such application, or needs a permission.
        """
        if unsupported not in ON_UNSUPPORTED:
            message = f"`unsupported` is `{unsupported}`; expected one of {', '.join(ON_UNSUPPORTED)}"
            raise InputError(message)
        self._loaded: LoadedStudy = load_study(Path(study), resolver=resource_resolver())
        chosen = chosen_applications(self._loaded, application)
        if len(chosen) > 1:
            names = ", ".join(one.name for one in chosen)
            message = f"study `{self._loaded.study.name}` has several applications: {names}; name one"
            raise InputError(message)
        require_code_permission(self._loaded)
        require_key_permission(self._loaded, environ)
        self.application: Application = chosen[0]
        self._environ, self._drops = environ, unsupported == "drop"
        self._connected: _Connected | None = None

    async def reply(self, messages: Sequence[ChatLine], *, session: str, has_tools: bool = False) -> Reply:
        """Return the application's reply to the last user message.

        Args:
            messages: The conversation so far.
            session: Key of the conversation, the same for all its calls.
            has_tools: Whether the caller offers tools.

        Raises:
            InputError: If the conversation is not possible with an application.
            GatewayError: If the call returned no reply.
        """
        prompt, history = self._conversation(messages, has_tools=has_tools)
        connected = await self._open()
        client, had = connected.client, [(exchange.prompt, exchange.response) for exchange in history]
        if isinstance(client, Conversing) and connected.known.get(session, []) != had:
            message = (
                f"application `{self.application.name}` keeps its own state and cannot continue a conversation that was"
                " changed or held elsewhere; use an application that takes its history with each call"
            )
            raise InputError(message)
        if session not in connected.known and isinstance(client, Admitting):
            await client.begin(session)
        request = SayToApplication(
            application=self.application.name, prompt=prompt, turn=len(history) + 1, history=tuple(history)
        )
        reply = await client.reply(request, session=session)
        connected.known[session] = [*had, (prompt, reply.text)]
        return reply

    def _conversation(self, messages: Sequence[ChatLine], *, has_tools: bool) -> tuple[str, list[Exchange]]:
        strange = sorted({line.role for line in messages if line.role not in {"user", "assistant"}})
        if (strange or has_tools) and not self._drops:
            came = " and ".join([*(f"{role} messages" for role in strange), *(["tools"] if has_tools else [])])
            message = (
                f"application `{self.application.name}` takes user messages alone and got {came};"
                " leave them out with unsupported=drop"
            )
            raise InputError(message)
        exchanges: list[Exchange] = []
        prompts: list[str] = []
        for line in messages:
            if line.role == "user":
                prompts.append(line.text)
            elif line.role == "assistant":
                exchanges.append(Exchange(prompt="\n\n".join(prompts), response=line.text))
                prompts = []
        if not prompts:
            message = f"application `{self.application.name}` answers user messages, and the last message is none"
            raise InputError(message)
        return "\n\n".join(prompts), exchanges

    async def _open(self) -> _Connected:
        """Return the connections of the running loop; those of an earlier loop are unusable."""
        loop = asyncio.get_running_loop()
        if self._connected is None or self._connected.loop is not loop:
            clock, connection = SystemClock(), self.application.connection
            needed = connection.model if isinstance(connection, PromptedModel) else ""
            endpoints = (endpoint for endpoint in self._loaded.study.models if endpoint.name == needed)
            folder = self._loaded.folder
            models = {
                model_endpoint.name: model_client(model_endpoint, environ=self._environ, clock=clock, folder=folder)
                for model_endpoint in endpoints
            }
            client = open_one(
                self._loaded,
                self.application,
                models=models,
                workspace=workspace_for(folder),
                environ=self._environ,
                clock=clock,
            )
            self._connected = _Connected(loop, client, models)
        return self._connected

    async def close(self) -> None:
        """End all sessions and close the connections."""
        connected, self._connected = self._connected, None
        if connected is None:
            return
        if isinstance(connected.client, Conversing):
            for session in connected.known:
                await connected.client.end(session)
        await connected.client.close()
        for model in connected.models.values():
            await model.close()
