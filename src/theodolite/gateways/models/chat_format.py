"""The format of Chat Completions: requests and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import quote

from theodolite.domain.application import ModelEndpoint, Param, Price
from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.domain.identity import FixedJson
from theodolite.gateways.errors import FILTER_CODES, AttemptError, api_error_in, malformed, withheld
from theodolite.gateways.http_client import HttpRequest, HttpResponse
from theodolite.gateways.models.model_answer import (
    EventBody,
    ModelOutput,
    StreamForm,
    member,
    parsed_object,
    reply_of,
    text_at,
    token_count,
    word,
    words_in,
)
from theodolite.gateways.proxies import below
from theodolite.gateways.secret_redaction import BEARER_HEADER, Secret

_LISTING = "/models"


class WriteBody(Protocol):
    """Writes the JSON body of a request."""

    def __call__(self, endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = ...) -> bytes:
        """Return the body, with further fields in it."""
        ...


class ReadReply(Protocol):
    """Extracts the reply of an answer, or its error."""

    def __call__(self, answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
        """Return the reply or the failed attempt."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One provider's form of a chat call; connections, retries and keys are the same for all.

    Attributes:
        path: Path after the base address; `{model}` is replaced by the model's name.
        stream_path: Path for streamed answers; empty if it equals `path`.
        write: Writes the body from endpoint, request and further fields; equal requests have equal bytes.
        read: Extracts the reply from the answer.
        key_header: Header with the key, if the study names no other.
        headers: Further headers of every call.
        streaming: How it sends answers piece by piece.
        form_field: Field of a request that sets the answer's format.
        sets_form: Returns whether a study's own `params` already set the answer's format.
    """

    path: str
    write: WriteBody
    read: ReadReply
    streaming: StreamForm
    form_field: str
    stream_path: str = ""
    key_header: str = BEARER_HEADER
    headers: Mapping[str, str] = field(default_factory=dict)
    sets_form: Callable[[Mapping[str, Param]], bool] = bool

    def call(
        self, endpoint: ModelEndpoint, request: AskModel, *, url: str, stream: Mapping[str, object] | None = None
    ) -> HttpRequest:
        """Return the call to a model.

        Args:
            endpoint: The model's entry in the study.
            request: The request.
            url: Base address.
            stream: Options of an answer in pieces; None for an answer in one piece.
        """
        path = self.path if stream is None else self.stream_path or self.path
        return HttpRequest(
            url=_placed(url, path, endpoint.model),
            body=self.write(endpoint, request, more={} if stream is None else {**self.streaming.fields, **stream}),
            headers={"Content-Type": "application/json", **self.headers},
            doubtful=(*(() if request.answer_schema is None else (self.form_field,)), *(stream or ())),
        )

    def listing(self, url: str) -> HttpRequest:
        """Return the call that lists the models of an address."""
        return HttpRequest(url=below(url, _LISTING), method="GET", headers=self.headers)

    def curl(self, url: str, secret: Secret) -> str:
        """Return a shell command for the same request, with the key as the name of its variable."""
        shown = [secret.in_words] if secret.variable else []
        shown += [f"{name}: {text}" for name, text in self.headers.items()]
        listing = below(url, _LISTING)
        return " ".join(
            ["curl", *(f'-H "{header}"' for header in shown), f'"{listing}"' if "?" in listing else listing]
        )


def _placed(url: str, path: str, model: str) -> str:
    """Return the address of a call; a model's name in it is percent-encoded."""
    if "{model}" not in path:
        return below(url, path)
    name = quote(model.removeprefix("models/"), safe="")
    placed, _, query = path.replace("{model}", name).partition("?")
    address = below(url, placed)
    return f"{address}{'&' if '?' in address else '?'}{query}" if query else address


def piece(event: EventBody) -> str:
    """Return the text that an event adds."""
    return "".join(text_at(choice, "delta", "content") for choice in _choices(event))


def whole(events: Sequence[EventBody]) -> Mapping[str, Any] | None:
    """Return the answer from all events; None if no event states why it ended."""
    api_error = next((event for event in events if event.get("error")), None)
    if api_error is not None:
        return api_error
    choices = [choice for event in events for choice in _choices(event)]
    finish = _last(choices, "finish_reason")
    if finish is None:
        return None
    message = {
        "content": "".join(text_at(choice, "delta", "content") for choice in choices),
        "refusal": "".join(text_at(choice, "delta", "refusal") for choice in choices) or None,
        "tool_calls": any(member(choice, "delta", "tool_calls") for choice in choices),
    }
    return {
        "model": _last(events, "model"),
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": _last(events, "usage"),
    }


STREAMED_CHAT = StreamForm(
    fields={"stream": True},
    piece=piece,
    whole=whole,
    end={"choices": [{"delta": {}, "finish_reason": ""}]},
    wishes={"stream_options": {"include_usage": True}},
)
"""Without `stream_options` the events have no tokens; servers that do not know it ignore it or reject the request."""


def _choices(event: EventBody) -> list[Any]:
    """Return the first choice; some servers send events without any, e.g. for usage."""
    choices = event.get("choices")
    return choices[:1] if isinstance(choices, list) else []


def _last(payload: Sequence[Any], name: str) -> Any:
    values = [value for one in payload if (value := member(one, name)) is not None]
    return values[-1] if values else None


FORM_FIELD = "response_format"
"""Field of a request that sets the answer's format."""

NOTHING: Mapping[str, object] = MappingProxyType({})
"""No further fields."""

SCHEMA_NAME = "answer"
"""Name that Chat Completions demand for a schema."""

CHAT_FIELD = "messages"
"""Field of a request that holds the chat."""

_WRITE = json.JSONEncoder(separators=(",", ":")).encode

_TEXT = encode_basestring_ascii  # the encoder's operation on a text

_ROLES = {speaker: _TEXT(speaker.value) for speaker in Speaker}


def request_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request; equal requests have equal bytes."""
    body: dict[str, Any] = {"model": endpoint.model, CHAT_FIELD: request.messages, **more}
    if request.answer_schema is not None:
        body[FORM_FIELD] = _form_with(request.answer_schema)
    return body_bytes(body, endpoint.params)


class _Written(str):
    """JSON that is sent unchanged."""

    __slots__ = ()


def _form_with(schema: Mapping[str, object]) -> _Written:
    """Return the field that requests an answer by a schema; a constant one is serialised in advance."""
    text = schema.as_given if isinstance(schema, FixedJson) else _WRITE(schema)
    return _Written(
        f'{{"type":"json_schema","json_schema":{{"name":{_TEXT(SCHEMA_NAME)},"schema":{text},"strict":true}}}}'
    )


def body_bytes(body: Mapping[str, Any], params: Mapping[str, Param]) -> bytes:
    """Return a JSON body with a study's own fields in it; a field that is null there is left out.

    Args:
        body: Field to value; the chat as a tuple of messages.
        params: A study's own fields, which override others.
    """
    whole = {**body, **params}
    return f"{{{','.join(_member(key, value) for key, value in whole.items() if value is not None)}}}".encode()


def _member(key: str, value: Any) -> str:
    """Return one field of a body; messages, which are most of it, are written without a tree of objects in between."""
    if key != CHAT_FIELD or not isinstance(value, tuple):
        return f"{_TEXT(key)}:{value if isinstance(value, _Written) else _WRITE(value)}"
    output = (f'{{"role":{_ROLES[message.speaker]},"content":{_TEXT(message.text)}}}' for message in value)
    return f"{_TEXT(key)}:[{','.join(output)}]"


def read_reply(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in an answer, or its error."""
    payload = parsed_object(answer, expected="an object with `choices`")
    if isinstance(payload, AttemptError):
        return payload
    choice = _first_choice(payload)
    if choice is None:
        return _no_choice(payload, secret)
    output = ModelOutput(
        text=_text(choice, secret),
        model=payload.get("model"),
        finish=choice.get("finish_reason"),
        tokens_in=token_count(payload, "prompt_tokens"),
        tokens_out=token_count(payload, "completion_tokens"),
    )
    return reply_of(output, answer, price)


def read_model_names(answer: HttpResponse) -> tuple[str, ...]:
    """Return the names of the models of an endpoint; empty if it lists none."""
    try:
        payload = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ()
    rows = (payload.get("data") or payload.get("models")) if isinstance(payload, Mapping) else None
    entries = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    names = [row.get("id") or row.get("name") for row in entries]
    return tuple(word(name).removeprefix("models/") for name in names if isinstance(name, str))


def sets_form(params: Mapping[str, Param]) -> bool:
    """Return whether a study's own `params` already set the answer's format."""
    return FORM_FIELD in params


CHAT_COMPLETIONS = Dialect(
    path="/chat/completions",
    write=request_body,
    read=read_reply,
    streaming=STREAMED_CHAT,
    form_field=FORM_FIELD,
    sets_form=sets_form,
)
"""OpenAI's Chat Completions, which most other servers support too."""


def _first_choice(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) and isinstance(first.get("message"), Mapping) else None


def _no_choice(payload: Mapping[str, Any], secret: Secret) -> AttemptError:
    api_error = api_error_in(payload) if "error" in payload else None
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
