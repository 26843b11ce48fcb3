"""The forms of OpenAI's Responses, Google's generateContent, Amazon's Converse and Anthropic's Messages on Vertex.

Requests to Amazon and Google carry the credentials of these clouds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from theodolite.domain.application import ModelEndpoint, Param, Price
from theodolite.domain.errors import Rejected, ServerFault
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.gateways.errors import AttemptError, api_error_in, malformed, withheld
from theodolite.gateways.http_client import HttpRequest, HttpResponse
from theodolite.gateways.models.anthropic_messages import MESSAGES
from theodolite.gateways.models.anthropic_messages import request_body as messages_body
from theodolite.gateways.models.chat_format import NOTHING, SCHEMA_NAME, Dialect, body_bytes
from theodolite.gateways.models.model_answer import (
    EventBody,
    ModelOutput,
    StreamForm,
    count_at,
    member,
    parsed_object,
    reply_of,
    text_at,
    words_in,
)
from theodolite.gateways.secret_redaction import Secret

_Json = Mapping[str, Any]


def _system_of(request: AskModel) -> str:
    return "\n\n".join(message.text for message in request.messages if message.speaker is Speaker.SYSTEM)


def _merged(params: Mapping[str, Param], field: str, own: Mapping[str, object]) -> dict[str, Any]:
    """Return a study's `params` with some members added to one of their objects; members from the study are kept."""
    stated = params.get(field)
    return {**params, field: {**own, **(stated if isinstance(stated, Mapping) else {})}}


def _failed(payload: _Json, secret: Secret) -> AttemptError:
    api_error = api_error_in(payload)
    words = f"200 with an error: {secret.scrub(api_error.words if api_error else '')}"
    is_filter = api_error is not None and api_error.is_filter
    return withheld(words) if is_filter else AttemptError(kind=ServerFault, words=words, status=200)


_BLOCKED = "the endpoint's content filter withheld the reply"

# OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses

_TEXT_FIELD = "text"


def responses_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request to Responses; the provider is asked not to store it."""
    messages = [message for message in request.messages if message.speaker is not Speaker.SYSTEM]
    body: dict[str, Any] = {"model": endpoint.model, "store": False, **more}
    if system := _system_of(request):
        body["instructions"] = system
    body["input"] = [{"role": message.speaker.value, "content": message.text} for message in messages]
    if request.answer_schema is None:
        return body_bytes(body, endpoint.params)
    form = {"type": "json_schema", "name": SCHEMA_NAME, "schema": dict(request.answer_schema), "strict": True}
    return body_bytes(body, _merged(endpoint.params, _TEXT_FIELD, {"format": form}))


def read_response(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in an answer of Responses, or its error."""
    payload = parsed_object(answer, expected="an object with `output`")
    if isinstance(payload, AttemptError):
        return payload
    if payload.get("error"):
        return _failed(payload, secret)
    reason = text_at(payload, "incomplete_details", "reason")
    output = ModelOutput(
        text=_response_text(payload, reason, secret),
        model=payload.get("model"),
        finish=reason or payload.get("status"),
        tokens_in=count_at(payload, "usage", "input_tokens"),
        tokens_out=count_at(payload, "usage", "output_tokens"),
    )
    return reply_of(output, answer, price)


def _response_text(payload: _Json, reason: str, secret: Secret) -> str | AttemptError:
    items = payload.get("output")
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        return malformed("the answer holds no `output` with items")
    if reason == "content_filter":
        return withheld(_BLOCKED)
    parts = [part for item in items if item.get("type") == "message" for part in _list(item.get("content"))]
    refusals = [text_at(part, "refusal") for part in parts if member(part, "type") == "refusal"]
    if refusals:
        return withheld(f"the endpoint refused: {secret.scrub(' '.join(refusals))}")
    joined = "".join(text_at(part, "text") for part in parts if member(part, "type") == "output_text")
    asks = any(str(item.get("type", "")).endswith("_call") for item in items)
    return words_in(joined, is_cut=reason == "max_output_tokens", asks_for_tool=asks)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def response_piece(event: EventBody) -> str:
    """Return the text that an event of Responses adds."""
    return text_at(event, "delta") if event.get("type") == "response.output_text.delta" else ""


_RESPONSE_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def response_whole(events: Sequence[EventBody]) -> _Json | None:
    """Return the complete response in the last event; None if there is none."""
    for event in reversed(events):
        if event.get("type") in _RESPONSE_ENDS and isinstance(event.get("response"), Mapping):
            whole: _Json = event["response"]
            return whole
        if event.get("type") == "error":
            return {"error": event.get("error") or {"message": event.get("message"), "code": event.get("code")}}
    return None


RESPONSES = Dialect(
    path="/responses",
    write=responses_body,
    read=read_response,
    streaming=StreamForm(fields={"stream": True}, piece=response_piece, whole=response_whole),
    form_field="text",
    sets_form=lambda params: _TEXT_FIELD in params and member(params, _TEXT_FIELD, "format") is not None,
)
"""OpenAI's Responses."""

# Google's generateContent: https://ai.google.dev/api/generate-content

_CONFIG_FIELD = "generationConfig"

_GEMINI_ROLES = {Speaker.USER: "user", Speaker.ASSISTANT: "model"}

_GEMINI_BLOCKS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
"""Stop reasons of the endpoint's own filter."""


def gemini_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request to generateContent; the model's name is in the address."""
    body: dict[str, Any] = {**more}
    if system := _system_of(request):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    body["contents"] = [
        {"role": _GEMINI_ROLES[message.speaker], "parts": [{"text": message.text}]}
        for message in request.messages
        if message.speaker in _GEMINI_ROLES
    ]
    if request.answer_schema is None:
        return body_bytes(body, endpoint.params)
    form = {"responseMimeType": "application/json", "responseJsonSchema": dict(request.answer_schema)}
    return body_bytes(body, _merged(endpoint.params, _CONFIG_FIELD, form))


def read_generated(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in an answer of generateContent, or its error."""
    payload = parsed_object(answer, expected="an object with `candidates`")
    if isinstance(payload, AttemptError):
        return payload
    if payload.get("error"):
        return _failed(payload, secret)
    candidates = _list(payload.get("candidates"))
    first = candidates[0] if candidates and isinstance(candidates[0], Mapping) else {}
    finish, blocked = first.get("finishReason"), text_at(payload, "promptFeedback", "blockReason")
    output = ModelOutput(
        text=_generated_text(first, finish, blocked),
        model=payload.get("modelVersion"),
        finish=finish or blocked,
        tokens_in=count_at(payload, "usageMetadata", "promptTokenCount"),
        tokens_out=sum(
            count_at(payload, "usageMetadata", name) for name in ("candidatesTokenCount", "thoughtsTokenCount")
        ),
    )
    return reply_of(output, answer, price)


def _generated_text(candidate: _Json, finish: Any, blocked: str) -> str | AttemptError:
    if blocked:
        return withheld(f"the endpoint blocked the prompt: {blocked}")
    if finish in _GEMINI_BLOCKS:
        return withheld(f"{_BLOCKED}: {finish}")
    parts = member(candidate, "content", "parts")
    if not candidate or not isinstance(parts, list | None):
        return malformed("the answer holds no `candidates` with `content`")
    texts = [text_at(part, "text") for part in parts or () if not member(part, "thought")]
    asks = any(member(part, "functionCall") is not None for part in parts or ())
    return words_in("".join(texts), is_cut=finish == "MAX_TOKENS", asks_for_tool=asks)


def generated_piece(event: EventBody) -> str:
    """Return the text that an event of streamGenerateContent adds; thoughts are ignored."""
    return "".join(text_at(part, "text") for part in _parts(event) if not member(part, "thought"))


def _parts(event: EventBody) -> list[Any]:
    candidates = _list(event.get("candidates"))
    return _list(member(candidates[0], "content", "parts")) if candidates else []


def generated_whole(events: Sequence[EventBody]) -> _Json | None:
    """Return the answer from all events; None if no event states why it ended."""
    error = next((event for event in events if event.get("error")), None)
    if error is not None:
        return error
    candidates = [one for event in events for one in _list(event.get("candidates"))[:1] if isinstance(one, Mapping)]
    finish = _last(candidate.get("finishReason") for candidate in candidates)
    feedback = _last(event.get("promptFeedback") for event in events)
    if finish is None and feedback is None:
        return None
    parts = [part for event in events for part in _parts(event)]
    return {
        "candidates": [{"content": {"parts": parts}, "finishReason": finish}] if candidates else [],
        "promptFeedback": feedback or {},
        "usageMetadata": _last(event.get("usageMetadata") for event in events),
        "modelVersion": _last(event.get("modelVersion") for event in events),
    }


def _last(values: Iterable[Any]) -> Any:
    return next((value for value in reversed([*values]) if value is not None), None)


GEMINI = Dialect(
    path="/models/{model}:generateContent",
    stream_path="/models/{model}:streamGenerateContent?alt=sse",
    write=gemini_body,
    read=read_generated,
    streaming=StreamForm(fields={}, piece=generated_piece, whole=generated_whole),
    form_field="responseJsonSchema",
    key_header="x-goog-api-key",
    sets_form=lambda params: member(params, _CONFIG_FIELD, "responseMimeType") is not None,
)
"""Google's generateContent with a key of the Gemini API."""

VERTEX_GEMINI = replace(GEMINI, key_header="Authorization")
"""Google's generateContent on Vertex AI, with an access token."""

# Anthropic's Messages on Vertex: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude

VERTEX_VERSION = "vertex-2023-10-16"


def vertex_messages_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of Messages for Vertex: with the version, without the model."""
    params = {"anthropic_version": VERTEX_VERSION, **endpoint.params, "model": None}
    return messages_body(replace(endpoint, params=params), request, more=more)


VERTEX_MESSAGES = replace(
    MESSAGES,
    path="/models/{model}:rawPredict",
    stream_path="/models/{model}:streamRawPredict",
    write=vertex_messages_body,
    key_header="Authorization",
    headers={},
)
"""Anthropic's Messages on Vertex AI."""

# Amazon's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

_OUTPUT_FIELD = "outputConfig"

_CONVERSE_BLOCKS = frozenset({"guardrail_intervened", "content_filtered"})

_CONVERSE_READ = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def converse_body(endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = NOTHING) -> bytes:
    """Return the JSON body of a request to Converse; the model's name is in the address."""
    body: dict[str, Any] = {**more}
    if system := _system_of(request):
        body["system"] = [{"text": system}]
    body["messages"] = [
        {"role": message.speaker.value, "content": [{"text": message.text}]}
        for message in request.messages
        if message.speaker is not Speaker.SYSTEM
    ]
    if request.answer_schema is None:
        return body_bytes(body, endpoint.params)
    definition = {"name": SCHEMA_NAME, "schema": json.dumps(dict(request.answer_schema), separators=(",", ":"))}
    form = {"type": "json_schema", "structure": {"jsonSchema": definition}}
    return body_bytes(body, _merged(endpoint.params, _OUTPUT_FIELD, {"textFormat": form}))


def read_converse(answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in an answer of Converse, which does not name the model."""
    payload = parsed_object(answer, expected="an object with `output`")
    if isinstance(payload, AttemptError):
        return payload
    if payload.get("error"):
        return _failed(payload, secret)
    finish = payload.get("stopReason")
    output = ModelOutput(
        text=_converse_text(payload, finish),
        model=None,
        finish=finish,
        tokens_in=sum(count_at(payload, "usage", name) for name in _CONVERSE_READ),
        tokens_out=count_at(payload, "usage", "outputTokens"),
    )
    return reply_of(output, answer, price)


def _converse_text(payload: _Json, finish: Any) -> str | AttemptError:
    if finish in _CONVERSE_BLOCKS:
        return withheld(f"{_BLOCKED}: {finish}")
    blocks = member(payload, "output", "message", "content")
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        return malformed("the answer holds no `output` with a `message`")
    joined = "".join(text_at(block, "text") for block in blocks)
    asks = any("toolUse" in block for block in blocks)
    return words_in(joined, is_cut=finish in {"max_tokens", "model_context_window_exceeded"}, asks_for_tool=asks)


CONVERSE = Dialect(
    path="/model/{model}/converse",
    write=converse_body,
    read=read_converse,
    streaming=StreamForm(fields={}, piece=lambda _event: "", whole=lambda _events: None),
    form_field=_OUTPUT_FIELD,
    sets_form=lambda params: member(params, _OUTPUT_FIELD, "textFormat") is not None,
)
"""Amazon's Converse. Its streams are no server-sent events, so replies are not streamed."""


_BEDROCK = "bedrock"
"""Name of the service in signatures."""

_REGION = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com")

_USUAL_REGION = "us-east-1"

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def _missing(words: str) -> AttemptError:
    return AttemptError(kind=Rejected, words=words)


@dataclass(slots=True)
class AwsSignature:
    """Signature Version 4 by botocore, with the credentials that it finds: environment, profile, container, machine."""

    _session: Any = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def headers(self, request: HttpRequest) -> Mapping[str, str] | AttemptError:
        """Return the signed headers of a request."""
        async with self._lock:  # looking for credentials may take calls
            return await asyncio.to_thread(self._signed, request)

    def _signed(self, request: HttpRequest) -> Mapping[str, str] | AttemptError:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.exceptions import BotoCoreError
            from botocore.session import Session
        except ImportError:
            return _missing("`kind: bedrock` without `key` needs the extra `aws`; type: pip install 'theodolite[aws]'")
        self._session = self._session or Session()
        try:
            result = self._session.get_credentials()
            credentials = None if result is None else result.get_frozen_credentials()
        except BotoCoreError as error:
            return _missing(f"the AWS credentials cannot be used: {error}")
        if credentials is None:
            return _missing("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
        region = _region_of(request.url) or self._session.get_config_variable("region") or _USUAL_REGION
        signed = AWSRequest(method=request.method, url=request.url, data=request.body, headers=dict(request.headers))
        SigV4Auth(credentials, _BEDROCK, region).add_auth(signed)
        return dict(signed.headers.items())


def _region_of(url: str) -> str:
    match = _REGION.search(urlsplit(url).hostname or "")
    return match[1] if match else ""


@dataclass(slots=True)
class GoogleToken:
    """Access token of Google's Application Default Credentials, renewed before it expires."""

    _credentials: Any = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def headers(self, _request: HttpRequest) -> Mapping[str, str] | AttemptError:
        """Return the header with the token."""
        async with self._lock:
            return await asyncio.to_thread(self._token)

    def _token(self) -> Mapping[str, str] | AttemptError:
        try:
            import google.auth
            from google.auth.exceptions import GoogleAuthError
            from google.auth.transport.requests import Request
        except ImportError:
            return _missing(
                "`kind: vertex` without `key` needs the extra `google`; type: pip install 'theodolite[google]'"
            )
        try:
            if self._credentials is None:
                self._credentials, _ = google.auth.default(scopes=[_SCOPE])
            if not self._credentials.valid:
                self._credentials.refresh(partial(Request(), timeout=10))
        except GoogleAuthError as error:
            advice = "run  gcloud auth application-default login  or set GOOGLE_APPLICATION_CREDENTIALS"
            return _missing(f"no Google credentials: {str(error).partition('.')[0]}; {advice}")
        return {"Authorization": f"Bearer {self._credentials.token}"}
