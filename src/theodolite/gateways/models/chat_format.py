"""The form of Chat Completions: what is sent and what is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any

from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.domain.identity import FixedJson
from theodolite.domain.model import ModelEndpoint, Param, Price
from theodolite.gateways.api_error import FILTER_CODES, api_error_in
from theodolite.gateways.attempt_error import AttemptError, malformed, withheld
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.models.chat_stream import STREAMED_CHAT
from theodolite.gateways.models.dialect import Dialect
from theodolite.gateways.models.model_answer import SaidByModel, parsed_object, reply_of, token_count, word, words_in
from theodolite.gateways.secret_redaction import Secret

FORM_FIELD = "response_format"
"""Field of a request that says which form the answer has."""

NOTHING: Mapping[str, object] = MappingProxyType({})
"""No further fields."""

SCHEMA_NAME = "answer"
"""Name that Chat Completions demand for a schema."""


CHAT_FIELD = "messages"
"""Field of a request that holds the chat."""

_WRITE = json.JSONEncoder(separators=(",", ":")).encode
_TEXT = encode_basestring_ascii  # what the encoder does with a text
_ROLES = {speaker: _TEXT(speaker.value) for speaker in Speaker}


def request_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request; the same request has the same bytes."""
    body: dict[str, Any] = {"model": endpoint.model, CHAT_FIELD: request.messages, **more}
    if request.answer_schema is not None:
        body[FORM_FIELD] = _form_with(request.answer_schema)
    return body_bytes(body, endpoint.params)


class _Written(str):
    """JSON that goes out as it is."""

    __slots__ = ()


def _form_with(schema: Mapping[str, object]) -> _Written:
    """Return the field that asks for an answer of a schema; one that never changes was written before."""
    text = schema.as_given if isinstance(schema, FixedJson) else _WRITE(schema)
    return _Written(
        f'{{"type":"json_schema","json_schema":{{"name":{_TEXT(SCHEMA_NAME)},"schema":{text},"strict":true}}}}'
    )


def body_bytes(body: Mapping[str, Any], params: Mapping[str, Param]) -> bytes:
    """Return a JSON body with a study's own fields in it; a field that is null there is left out.

    Args:
        body: Field to value; the chat as a tuple of messages.
        params: A study's own fields; they take the place of others.
    """
    whole = {**body, **params}
    return f"{{{','.join(_member(key, value) for key, value in whole.items() if value is not None)}}}".encode()


def _member(key: str, value: Any) -> str:
    """Return one field of a body; messages, which are most of it, are written without a tree of objects in between."""
    if key != CHAT_FIELD or not isinstance(value, tuple):
        return f"{_TEXT(key)}:{value if isinstance(value, _Written) else _WRITE(value)}"
    said = (f'{{"role":{_ROLES[message.speaker]},"content":{_TEXT(message.text)}}}' for message in value)
    return f"{_TEXT(key)}:[{','.join(said)}]"


def read_reply(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply that an answer holds, or what is wrong with it."""
    found = parsed_object(answer, expected="an object with `choices`")
    if isinstance(found, AttemptError):
        return found
    choice = _first_choice(found)
    if choice is None:
        return _no_choice(found, secret)
    said = SaidByModel(
        text=_text(choice, secret),
        model=found.get("model"),
        finish=choice.get("finish_reason"),
        tokens_in=token_count(found, "prompt_tokens"),
        tokens_out=token_count(found, "completion_tokens"),
    )
    return reply_of(said, answer, price)


def read_model_names(answer: HttpResponse) -> tuple[str, ...]:
    """Return the names of the models that an endpoint offers; empty where it does not say."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ()
    rows = found.get("data") if isinstance(found, Mapping) else None
    names = [row.get("id") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return tuple(word(name) for name in names if isinstance(name, str))


def sets_form(params: Mapping[str, Param]) -> bool:
    """Tell whether a study's own `params` already say which form an answer has."""
    return FORM_FIELD in params


CHAT_COMPLETIONS = Dialect(
    path="/chat/completions",
    write=request_body,
    read=read_reply,
    streaming=STREAMED_CHAT,
    form_field=FORM_FIELD,
    sets_form=sets_form,
)
"""OpenAI's Chat Completions, which most other servers speak too."""


def _first_choice(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = found.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) and isinstance(first.get("message"), Mapping) else None


def _no_choice(found: Mapping[str, Any], secret: Secret) -> AttemptError:
    api_error = api_error_in(found) if "error" in found else None
    if api_error is None:
        return malformed("the answer holds no `choices` with a `message`")
    words = f"200 with an error: {secret.scrub(api_error.words)}"
    return withheld(words) if api_error.is_filter else AttemptError(kind=ServerFault, words=words, status=200)


def _text(choice: Mapping[str, Any], secret: Secret) -> str | AttemptError:
    message, finish = choice["message"], choice.get("finish_reason")
    if isinstance(finish, str) and finish in FILTER_CODES:
        return withheld("the endpoint's content filter withheld the reply")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return withheld(f"the endpoint refused: {secret.scrub(refusal)}")
    content = _joined(message.get("content"))
    if content is None:
        return malformed("`content` of the reply is neither text nor a list of texts")
    return words_in(content, is_cut=finish == "length", asks_for_tool=bool(message.get("tool_calls")))


def _joined(content: Any) -> str | None:
    """Return text content, which some servers give as a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(content) else None
