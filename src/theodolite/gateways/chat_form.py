"""The form of Chat Completions: what is sent and what is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.model import ModelEndpoint, Param, Price
from theodolite.gateways.complaint import FILTER_CODES, complaint_in
from theodolite.gateways.dialect import Dialect
from theodolite.gateways.repair import repaired
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.trouble import Trouble, empty, malformed, withheld
from theodolite.gateways.wire import Answer

FORM_FIELD = "response_format"
"""Field of a request that says which form the answer has."""

SCHEMA_NAME = "answer"
"""Name that Chat Completions demand for a schema."""


def request_body(endpoint: ModelEndpoint, request: AskModel) -> bytes:
    """Return the JSON body of a request; the same request has the same bytes."""
    messages = [{"role": message.speaker.value, "content": message.text} for message in request.messages]
    body: dict[str, Any] = {"model": endpoint.model, "messages": messages}
    if request.answer_schema is not None:
        form = {"name": SCHEMA_NAME, "schema": request.answer_schema, "strict": True}
        body[FORM_FIELD] = {"type": "json_schema", "json_schema": form}
    return body_bytes(body, endpoint.params)


def body_bytes(body: Mapping[str, Any], params: Mapping[str, Param]) -> bytes:
    """Return a JSON body with a study's own fields in it; a field that is null there is left out."""
    whole = {key: value for key, value in {**body, **params}.items() if value is not None}
    return json.dumps(whole, separators=(",", ":")).encode()


def read_reply(answer: Answer, *, price: Price | None, secret: Secret) -> Reply | Trouble:
    """Return the reply that an answer holds, or what is wrong with it."""
    found = parsed_object(answer, expected="an object with `choices`")
    if isinstance(found, Trouble):
        return found
    choice = _first_choice(found)
    if choice is None:
        return _no_choice(found, secret)
    text = _text(choice, secret)
    return text if isinstance(text, Trouble) else _reply(text, found, choice, answer, price)


def parsed_object(answer: Answer, *, expected: str) -> Mapping[str, Any] | Trouble:
    """Return the JSON object that an answer holds, or what it holds instead."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return malformed("the answer is not JSON" + _page(answer.body))
    if not isinstance(found, Mapping):
        return malformed(f"the answer is a JSON {type(found).__name__}; expected {expected}")
    return found


def read_model_names(answer: Answer) -> tuple[str, ...]:
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


CHAT_COMPLETIONS = Dialect(path="/chat/completions", write=request_body, read=read_reply, sets_form=sets_form)
"""OpenAI's Chat Completions, which most other servers speak too."""


def _page(body: bytes) -> str:
    return " but an HTML page" if body.lstrip()[:1] == b"<" else ""


def _first_choice(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = found.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) and isinstance(first.get("message"), Mapping) else None


def _no_choice(found: Mapping[str, Any], secret: Secret) -> Trouble:
    complaint = complaint_in(found) if "error" in found else None
    if complaint is None:
        return malformed("the answer holds no `choices` with a `message`")
    words = f"200 with an error: {secret.scrub(complaint.words)}"
    return withheld(words) if complaint.is_filter else Trouble(kind=ServerFault, words=words, status=200)


def _text(choice: Mapping[str, Any], secret: Secret) -> str | Trouble:
    message, finish = choice["message"], choice.get("finish_reason")
    if isinstance(finish, str) and finish in FILTER_CODES:
        return withheld("the endpoint's content filter withheld the reply")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return withheld(f"the endpoint refused: {secret.scrub(refusal)}")
    content = _joined(message.get("content"))
    if content is None:
        return malformed("`content` of the reply is neither text nor a list of texts")
    if content.strip():
        return content
    if finish == "length":
        return empty("the reply holds no text: the token limit was reached first")
    return empty("it asked for a tool instead of answering" if message.get("tool_calls") else "the reply holds no text")


def _joined(content: Any) -> str | None:
    """Return text content, which some servers give as a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(content) else None


def _reply(
    text: str, found: Mapping[str, Any], choice: Mapping[str, Any], answer: Answer, price: Price | None
) -> Reply:
    tokens_in, tokens_out = token_count(found, "prompt_tokens"), token_count(found, "completion_tokens")
    known = price is not None and tokens_in + tokens_out > 0
    kept, n_repaired = repaired(text)
    return Reply(
        text=kept,
        answered_as=word(found.get("model")),
        finish=word(choice.get("finish_reason")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_microusd=price.cost_microusd(tokens_in, tokens_out) if price is not None and known else None,
        latency_s=answer.latency_s,
        attempts=answer.attempts,
        repaired=n_repaired,
    )


def word(value: Any) -> str:
    """Return a short text that an endpoint gave itself; empty where it is none."""
    return repaired(value)[0][:200] if isinstance(value, str) else ""


def token_count(found: Mapping[str, Any], key: str) -> int:
    """Return a number of an answer's `usage`; 0 where it is not there or cannot be true."""
    usage = found.get("usage")
    count = usage.get(key) if isinstance(usage, Mapping) else None
    plausible = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31
    return count if plausible and isinstance(count, int) else 0
