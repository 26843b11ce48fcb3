"""The model provider `theodolite` of Inspect: applications of a study, named by its entry point."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import store

from theodolite.bootstrap.application_model import ApplicationModel, ChatLine
from theodolite.domain.errors import ContentRefused, InputError

STUDY_VARIABLE = "THEODOLITE_STUDY"
"""Environment variable with the study, used without the model argument `study`."""


@modelapi(name="theodolite")  # type: ignore[untyped-decorator] # Inspect is an extra
def theodolite() -> type[ModelAPI]:
    """Return the provider."""
    return ApplicationAPI


class ApplicationAPI(ModelAPI):  # type: ignore[misc] # Inspect is an extra
    """An application under test used as a model.

    Inspect and tools based on it, such as Petri, then measure the same application as Theodolite.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as the base class has it
        study: str = "",
        unsupported: str = "error",
    ) -> None:
        """Load the study.

        Args:
            model_name: Name of the application.
            base_url: Unused: the study has the address.
            api_key: Unused: the study names the key.
            config: Options of generation; applications take none.
            study: Folder or file of the study.
            unsupported: `error` or `drop`, for system messages and tools.

        Raises:
            InputError: If the study or the application cannot be used.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        path = study or os.environ.get(STUDY_VARIABLE, "")
        if not path:
            message = f"name the study: -M study=FOLDER, or {STUDY_VARIABLE}=FOLDER"
            raise InputError(message)
        self._model = ApplicationModel(path, model_name, environ=dict(os.environ), unsupported=unsupported)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - as the base class has it
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002 - applications take no tools
        config: GenerateConfig,  # noqa: ARG002 - applications take no options
    ) -> ModelOutput:
        """Return the application's reply as a model's output."""
        lines = [ChatLine(role=message.role, text=message.text) for message in input]
        name = f"theodolite/{self.model_name}"
        try:
            reply = await self._model.reply(lines, session=_session(self.model_name), has_tools=bool(tools))
        except ContentRefused as refusal:
            return ModelOutput.from_content(name, str(refusal), stop_reason="content_filter")
        output = ModelOutput.from_content(name, reply.text)
        output.time = reply.latency_s
        # Inspect counts tokens by a downloaded table where an output states none.
        tokens: dict[str, Any] = {"input_tokens": reply.tokens_in, "output_tokens": reply.tokens_out}
        output.usage = ModelUsage(**tokens, total_tokens=reply.tokens_in + reply.tokens_out)
        output.metadata = {"theodolite": version("theodolite"), "attempts": reply.attempts}
        return output

    async def aclose(self) -> None:
        """Close the connections of the application."""
        await self._model.close()


def _session(application: str) -> str:
    """Return the key of the running sample's conversation with an application."""
    key = f"theodolite:{application}"
    session = store().get(key) or uuid4().hex
    store().set(key, session)
    return str(session)
