"""Templates of requests, and applications that are prompted models or recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from theodolite.domain.application import HTTP_SLOTS, ModelEndpoint, PromptedModel
from theodolite.domain.errors import EmptyReply, GatewayError, InputError, ServerFault, TemplateError
from theodolite.domain.flow import AskModel, Message, Reply, SayToApplication, Speaker
from theodolite.domain.identity import Json
from theodolite.domain.live import RecordedDialogue, RecordedTurn
from theodolite.domain.run import FailureSource
from theodolite.gateways.secret_redaction import repaired
from theodolite.ports.application import Endpoint, EndpointCheck, Model, OnChunk
from theodolite.testing.templates import fill, variables_of

LARGEST_TEXT = 1_000_000
"""Maximum length of a filled template; source material and a long dialogue must fit. Characters."""

_WHOLE = re.compile(r"\s*\{\{([^{}]*)\}\}\s*")

Fill = Callable[[Mapping[str, Any]], Json]
"""Fills a part of a request from its variables."""


def request_variables(request: SayToApplication, *, session: str) -> dict[str, Any]:
    """Return the variables of the templates of a request."""
    history = [{"prompt": exchange.prompt, "response": exchange.response} for exchange in request.history]
    return {
        "prompt": request.prompt,
        "session": session,
        "turn": request.known_turn,
        "context": request.context,
        "history": history,
    }


def text_template(
    source: str,
    *,
    what: str,
    slots: Iterable[str] = HTTP_SLOTS,
    encode: Callable[[Any], str] | None = None,
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills one text.

    Args:
        source: The template.
        what: Its name in messages.
        slots: Names that it may use.
        encode: Function applied to each value before it is inserted.

    Raises:
        InputError: If it is not a template, or uses unknown names.
    """
    known = tuple(slots)
    try:
        unknown = sorted(variables_of(source).difference(known))
    except TemplateError as error:
        message = f"{what} is not a template that can be filled: {error}"
        raise InputError(message) from error
    if unknown:
        message = f"{what} names `{unknown[0]}`, which nothing fills; it may name {', '.join(known)}"
        raise InputError(message)

    def filled(variables: Mapping[str, Any]) -> str:
        try:
            return fill(source, variables, largest=LARGEST_TEXT, finalize=encode)
        except TemplateError as error:
            message = f"{what}: {error}"
            raise TemplateError(message) from error

    return filled


def address_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills an address; values are percent-encoded.

    Raises:
        InputError: If it is not a template, or uses unknown names.
    """
    return text_template(source, what=what, encode=_in_address)


def _in_address(value: Any) -> str:
    # An undefined value raises an error when it becomes text, so convert it here.
    return quote(str(value), safe="")


def body_template(source: str, *, what: str) -> Fill:
    """Return a function that fills a JSON body.

    The body is parsed first and its texts are filled inside the parsed document,
    so no quote or brace of a prompt can break or change its form.

    Raises:
        InputError: If the body is not a JSON document or a template is malformed.
    """
    return _part(_document(source, what), what)


def form_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills the fields of a form and writes them as one text.

    Values are percent-encoded after they are filled in, so that no `&` or `=` of a prompt
    can add a field. A list repeats its field; values other than text are written as JSON.

    Raises:
        InputError: If the body is not a JSON object of texts, or a template is malformed.
    """
    document = _document(source, what)
    if not isinstance(document, dict):
        message = f"{what} must be an object of texts, since it is sent as a form"
        raise InputError(message)
    listed = [(name, value if isinstance(value, list) else [value]) for name, value in document.items()]
    fields = [(name, _part(item, what)) for name, items in listed for item in items]

    def filled(variables: Mapping[str, Any]) -> str:
        return urlencode([(name, _in_form(item(variables))) for name, item in fields], errors="replace")

    return filled


def _in_form(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _document(source: str, what: str) -> Any:
    try:
        return json.loads(source)
    except ValueError:
        message = f"{what} must be a JSON document; it cannot be read as one"
        raise InputError(message) from None


def _part(value: Any, what: str) -> Fill:
    if isinstance(value, str):
        return _value_template(value, what) if "{" in value else lambda _: value
    if isinstance(value, dict):
        members = {key: _part(member, what) for key, member in value.items()}
        return lambda variables: {key: member(variables) for key, member in members.items()}
    if isinstance(value, list):
        items = [_part(item, what) for item in value]
        return lambda variables: [item(variables) for item in items]
    return lambda _: value


def _value_template(source: str, what: str) -> Fill:
    """Return a function that fills one text; a lone `{{ history }}` or `{{ turn }}` keeps its type."""
    whole = _WHOLE.fullmatch(source)
    if whole is None or whole[1].strip() not in {"history", "turn"}:
        return text_template(source, what=what)
    name = whole[1].strip()
    return lambda variables: variables[name]


class RecordedApplication:
    """Recorded answers of a file, found by item, repeat and turn."""

    def __init__(self, name: str, recordings: Iterable[RecordedDialogue]) -> None:
        """Index the recordings of one application; those of others are ignored."""
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
            GatewayError: If the file contains none.
        """
        del session, on_chunk  # a file needs neither
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

    async def check_endpoint(self) -> EndpointCheck:
        """Report the number of recorded dialogues."""
        n = len(self._turns)
        answer = f"ok, {n:,} recorded {'dialogue' if n == 1 else 'dialogues'}"
        return EndpointCheck(
            name=self._name, host="", alive=n > 0, answer=answer if n else "its file holds no dialogue"
        )

    async def close(self) -> None:
        """Do nothing: a recording has no connections."""


SLOT = "context"
"""Variables of a system prompt: the source material."""

_SYSTEMS_KEPT = 64


class PromptedModelApplication:
    """A model, its system prompt and its context files, taken as one application.

    Context files belong to the application: they fill the slot before the
    scenario's source material, or follow the prompt if it has no slot. The
    scenario's material goes into a slot only; a prompt without one never sees it.
    """

    def __init__(self, name: str, connection: PromptedModel, *, model: Model) -> None:
        """Keep the parts.

        Args:
            name: Name of the application in the study.
            connection: System prompt and context files.
            model: The model; its opener closes it.

        Raises:
            InputError: If the system prompt is not a template, or uses unknown names.
        """
        self._name = name
        self._connection = connection
        self._model = model
        self._fill = text_template(connection.system, what=f"`system` of application `{name}`", slots=(SLOT,))
        self._has_slot = SLOT in variables_of(connection.system)
        self._files = "\n\n".join(f"# {file}\n{text}" for file, text in connection.context.items())
        self._systems: dict[str, str] = {}

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's answer to the dialogue so far.

        Raises:
            GatewayError: If there is no reply; the subclass states the reason. Its endpoint is
                the model, which may be behind other applications too.
            TemplateError: If the system prompt cannot be filled.
        """
        del session  # the whole dialogue is sent each time
        requested = AskModel(
            model=self._connection.model,
            messages=self._messages(request),
            party=FailureSource.APPLICATION,
            replicate=request.repeat,
        )
        try:
            return await self._model.reply(requested, on_chunk=on_chunk)
        except GatewayError as error:
            error.endpoint = error.endpoint or self._connection.model
            raise

    async def check_endpoint(self) -> EndpointCheck:
        """Ask the model behind it."""
        if isinstance(self._model, Endpoint):
            return replace(await self._model.check_endpoint(), name=self._name)
        return EndpointCheck(name=self._name, host="", alive=True, answer=f"as model `{self._connection.model}`")

    async def close(self) -> None:
        """Do nothing: the model is shared, and its opener closes it."""

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
        material = "\n\n".join(filter(None, (self._files, context))) if self._has_slot else ""
        system = self._fill({SLOT: material})
        return system if self._has_slot else "\n\n".join(filter(None, (system, self._files)))


class ScriptedModel:
    """Returns the replies of a script in turn.

    The reply depends only on the request, so that a resumed dialogue continues
    as it would have without the interruption.
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
        """Return the next line: one line further for each earlier assistant message and each repeat."""
        n_replies = sum(message.speaker is Speaker.ASSISTANT for message in request.messages)
        script = self._endpoint.script
        text = script[(n_replies + request.replicate - 1) % len(script)]
        if on_chunk is not None:
            on_chunk(text)
        return Reply(text=text, answered_as="script", finish="stop", cost_microusd=0, scripted=True)

    async def check_endpoint(self) -> EndpointCheck:
        """State that a script replaces a model."""
        n = len(self._endpoint.script)
        answer = f"ok, SCRIPTED: {n} {'reply' if n == 1 else 'replies'} in turn, no model"
        return EndpointCheck(name=self._endpoint.name, host="", alive=True, answer=answer)

    async def close(self) -> None:
        """Do nothing: a script has no connections."""
