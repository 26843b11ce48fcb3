"""The format of Anthropic's Messages: requests and answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.domain.application import ModelEndpoint, Param, Price
from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.gateways.errors import AttemptError, api_error_in, malformed, withheld
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.models.chat_format import CHAT_FIELD, NOTHING, Dialect, body_bytes
from theodolite.gateways.models.model_answer import (
    EventBody,
    ModelOutput,
    StreamForm,
    latest_usage,
    member,
    parsed_object,
    reply_of,
    text_at,
    token_count,
    words_in,
)
from theodolite.gateways.secret_redaction import Secret


def piece(event: EventBody) -> str:
    """Return the text that an event adds; thinking is ignored."""
    return text_at(event, "content_block", "text") + text_at(event, "delta", "text")


def whole(events: Sequence[EventBody]) -> Mapping[str, Any] | None:
    """Return the message from all events; None if no event states why it ended."""
    api_error = next((event for event in events if event.get("type") == "error"), None)
    if api_error is not None:
        return api_error
    stops = [reason for event in events if (reason := member(event, "delta", "stop_reason")) is not None]
    if not stops:
        return None
    models = (text_at(event, "message", "model") for event in events)
    return {
        "model": next(filter(None, models), ""),
        "content": _blocks(events),
        "stop_reason": stops[-1],
        "usage": latest_usage(events),
    }


STREAMED_MESSAGES = StreamForm(fields={"stream": True}, piece=piece, whole=whole)
"""Usage needs no option: the first event has the input tokens, the last but one the output tokens."""


def _blocks(events: Sequence[EventBody]) -> list[dict[str, Any]]:
    kinds: dict[Any, str] = {}
    texts: dict[Any, list[str]] = defaultdict(list)
    for event in events:
        position = event.get("index")
        if event.get("type") == "content_block_start":
            kinds[position] = text_at(event, "content_block", "type")
        texts[position].append(piece(event))
    return [{"type": kind, "text": "".join(texts[position])} for position, kind in kinds.items()]


TOKENS_AT_MOST = 4096
"""Largest length of a reply unless the study's `params` state one; this API requires a number."""

FORM_FIELD = "output_config"
"""Field of a request that sets, among others, the format of the answer."""

_FORM = "format"

REFUSAL = "refusal"
"""Why a reply stopped when the endpoint's own classifier stepped in."""

_TOKENS_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def request_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request; system messages are separate from the chat."""
    system = "\n\n".join(message.text for message in request.messages if message.speaker is Speaker.SYSTEM)
    body: dict[str, Any] = {"model": endpoint.model, "max_tokens": TOKENS_AT_MOST, **more}
    if system:
        body["system"] = system
    body[CHAT_FIELD] = tuple(message for message in request.messages if message.speaker is not Speaker.SYSTEM)
    if request.answer_schema is None:
        return body_bytes(body, endpoint.params)
    # The same field contains other settings too, such as the effort; a study's own settings are kept.
    own = endpoint.params.get(FORM_FIELD)
    config = {**(own if isinstance(own, Mapping) else {}), _FORM: _schema_form(request.answer_schema)}
    return body_bytes(body, {**endpoint.params, FORM_FIELD: config})


def sets_form(params: Mapping[str, Param]) -> bool:
    """Return whether a study's own `params` already set the answer's format."""
    own = params.get(FORM_FIELD)
    return FORM_FIELD in params and (own is None or (isinstance(own, Mapping) and _FORM in own))


def read_reply(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in an answer, or its error."""
    payload = parsed_object(answer, expected="an object with `content`")
    if isinstance(payload, AttemptError):
        return payload
    if payload.get("type") == "error":
        api_error = api_error_in(payload)
        return AttemptError(
            kind=ServerFault, words=f"200 with an error: {secret.scrub(api_error.words if api_error else '')}"
        )
    output = ModelOutput(
        text=_text(payload),
        model=payload.get("model"),
        finish=payload.get("stop_reason"),
        tokens_in=sum(token_count(payload, key) for key in _TOKENS_READ),
        tokens_out=token_count(payload, "output_tokens"),
    )
    return reply_of(output, answer, price)


MESSAGES = Dialect(
    path="/messages",
    write=request_body,
    read=read_reply,
    streaming=STREAMED_MESSAGES,
    form_field=FORM_FIELD,
    key_header="x-api-key",
    headers={"anthropic-version": "2023-06-01"},
    sets_form=sets_form,
)
"""Anthropic's Messages in the version that this form was written for."""


def _schema_form(schema: Mapping[str, object]) -> dict[str, object]:
    return {"type": "json_schema", "schema": schema}


def _text(payload: Mapping[str, Any]) -> str | AttemptError:
    """Return the text; thinking blocks are ignored, and a tool call is not an answer."""
    if payload.get("stop_reason") == REFUSAL:
        return withheld("the endpoint's classifier withheld the reply")
    blocks = payload.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        return malformed("the answer holds no `content` with blocks")
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        return malformed("a text block of the reply holds no text")
    joined = "".join(str(text) for text in texts)
    asks = any(block.get("type") == "tool_use" for block in blocks)
    return words_in(joined, is_cut=payload.get("stop_reason") == "max_tokens", asks_for_tool=asks)
