"""What the loopback server does when it does not answer well."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from aiohttp import web

ROLES = ("user-sim", "target", "judge")


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """How the server behaves.

    `faults` names what becomes of the first calls, in order; afterwards every `every`-th call gets `fault`
    (0: none). Above `refuse_above` calls in flight (0: no limit) a call gets 429 at once. `replies` maps a role
    to the texts given in turn (by the number of assistant messages so far); `{tag}` is a hash of the request's
    body and `{score}` a number from 1 to 5 drawn from it. A call whose answer is to keep a schema gets the status
    `refuses_schemas`, one that asks a stream for its tokens what `refuses_usage` names. Where a call asks for a
    stream it gets one, unless `streams` is off. A chat's answer tells its tokens, unless `tells_tokens` is off.
    `api_error` are the words of every error.
    """

    latency_s: float = 0.0
    refuse_above: int = 0
    faults: tuple[str, ...] = ()
    every: int = 0
    fault: str = "500"
    retry_after: str = "0"
    code: str = ""
    key: str = ""
    models: tuple[str, ...] = ROLES
    answers_as: str = ""
    finish: str = "stop"
    refuses_schemas: str = ""
    refuses_usage: str = ""
    streams: bool = True
    tells_tokens: bool = True
    api_error: str = ""
    replies: dict[str, list[str]] = field(default_factory=dict)


def chat_answer(text: str | None, model: str, finish: str = "stop") -> dict[str, Any]:
    """Return a well-formed chat completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    }


def messages_answer(text: str, model: str, finish: str = "end_turn") -> dict[str, Any]:
    """Return a well-formed answer in the form of Anthropic's Messages."""
    return {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": finish,
        "usage": {"input_tokens": 120, "output_tokens": 30},
    }


def error_answer(status: int, words: str, headers: dict[str, str], code: str = "") -> web.Response:
    """Return an error in the form of the OpenAI API."""
    return web.json_response({"error": {"message": words, "code": code or None}}, status=status, headers=headers)


ERROR_WORDS = {400: "`temperature` is not supported", 401: "Incorrect API key provided", 429: "Rate limit reached"}


async def respond(request: web.Request, fault: str, answer: Any, knobs: Knobs) -> web.StreamResponse:
    """Answer well, or in the way that the fault's name says."""
    if fault == "ok":
        return web.json_response(answer, headers={"Set-Cookie": "visitor=1; Path=/"})
    if fault.isdigit():
        headers = {"Retry-After": knobs.retry_after} if fault in {"429", "503", "529"} and knobs.retry_after else {}
        known = {status.value: status.phrase for status in HTTPStatus}
        words = knobs.api_error or (known | ERROR_WORDS).get(int(fault), "Overloaded")
        return error_answer(int(fault), words, headers, knobs.code)
    if fault in RAW_FAULTS:
        return await answer_raw(request, RAW_FAULTS[fault])
    if fault in ALTERED:
        return web.json_response(ALTERED[fault])
    return await answer_slowly(request, fault)


def _altered(**changes: Any) -> dict[str, Any]:
    answer = chat_answer("", "target")
    answer["choices"][0]["message"].update(changes.pop("message", {}))
    answer["choices"][0].update(changes)
    return answer


ALTERED: dict[str, Any] = {
    "no-choices": {"id": "x", "object": "chat.completion", "choices": []},
    "not-object": ["a", "list"],
    "odd-content": _altered(message={"content": 7}),
    "odd-choice": {"choices": ["text"]},
    "empty": _altered(message={"content": ""}),
    "blank": _altered(message={"content": " \n "}),
    "null": _altered(message={"content": None}),
    "filter": _altered(message={"content": None}, finish_reason="content_filter"),
    "refusal": _altered(message={"content": None, "refusal": "I cannot help with that."}),
    "error-in-200": {"error": {"message": "upstream is down"}},
    "usage-refused-in-200": {"error": {"message": "Unknown parameter: 'stream_options'", "code": 400}},
    "overloaded-in-200": {"type": "error", "error": {"type": "overloaded_error", "message": "too many at once"}},
}


def _packed_twice() -> bytes:
    return gzip.compress(gzip.compress(b'{"choices": []}'))


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

RAW_FAULTS: dict[str, bytes] = {
    "reset": b"",
    "html": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html><p>Sign in</p></html>",
    "no-body": _OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n",
    "truncated": _OK + b'Connection: close\r\nContent-Length: 13\r\n\r\n{"choices": [',
    "wrong-length": _OK + b'Content-Length: 9000\r\n\r\n{"choices": []}',
    "announced-huge": _OK + b"Content-Length: 99999999999\r\n\r\n{",
    "wrong-charset": _OK.replace(b"json", b"json; charset=utf-8") + b"Content-Length: 4\r\n\r\n\xff\xfe{\x00",
    "unknown-charset": _OK.replace(b"json", b"json; charset=klingon") + b"Content-Length: 2\r\n\r\n[]",
    "bad-encoding": _OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
    "not-http": b"SSH-2.0-OpenSSH_9.6\r\n",
    "bad-chunks": _OK + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n",
    "huge-header": b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 100_000 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "gzip-bomb": _OK + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b"[" * (64 << 20), 9),
    "packed-twice": _OK + b"Content-Encoding: gzip, gzip\r\nConnection: close\r\n\r\n" + _packed_twice(),
    "brotli": _OK + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
    "many-headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000 + b"Content-Length: 2\r\n\r\n{}",
    "two-lengths": _OK + b"Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}",
    "length-and-chunks": _OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "negative-length": _OK + b"Content-Length: -1\r\n\r\n{}",
    "endless-continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
    "switching": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "not-modified": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "deep": _OK + b"Connection: close\r\n\r\n" + b"[" * 100_000,
    "huge-number": _OK + b'Connection: close\r\n\r\n{"choices": ' + b"9" * 100_000 + b"}",
    "lone-surrogate": _OK + b'Connection: close\r\n\r\n{"choices": "\\ud800"}',
    "utf-16": _OK + b"Connection: close\r\n\r\n" + '{"choices": []}'.encode("utf-16"),
    "tls": b"\x15\x03\x01\x00\x02\x02\x28",
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/v1\r\nContent-Length: 0\r\n\r\n",
}


async def answer_raw(request: web.Request, payload: bytes) -> web.StreamResponse:
    """Write bytes past the HTTP library, then hang up."""
    if request.transport is not None:
        request.transport.write(payload)
        request.transport.close()
    raise asyncio.CancelledError


async def answer_slowly(request: web.Request, fault: str) -> web.StreamResponse:
    """Hang, drip a byte at a time or send without end."""
    if fault == "hang":
        await asyncio.sleep(3600)
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    piece, pause = (b"x" * 2**20, 0.0) if fault == "huge" else (b" ", 0.02)
    with contextlib.suppress(ConnectionResetError):  # the client has had enough
        for _ in range(64 if fault == "huge" else 100_000):
            await response.write(piece)
            await asyncio.sleep(pause)
    return response


Events = Sequence[str]


def chat_events(answer: dict[str, Any], *, tells_usage: bool = True) -> list[str]:
    """Return a chat completion piece by piece, usage last and without a choice, as servers do that are asked for it."""
    [choice] = answer["choices"]
    same = {"id": answer["id"], "object": "chat.completion.chunk", "model": answer["model"]}
    text = choice["message"]["content"] or ""
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces(text))]
    chunks = [{**same, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**same, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks += [{**same, "choices": [], "usage": answer["usage"]}] if tells_usage else []
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def messages_events(answer: dict[str, Any]) -> list[str]:
    """Return a message of Anthropic's piece by piece, with a thought before the words."""
    usage = {"input_tokens": answer["usage"]["input_tokens"], "output_tokens": 1}
    [text] = [block["text"] for block in answer["content"]]
    delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    thought, said = {"type": "thinking", "thinking": ""}, {"type": "text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": thought},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": said},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces(text)
        ),
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": delta,
            "usage": {"output_tokens": answer["usage"]["output_tokens"], "input_tokens": None},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def pieces(text: str) -> list[str]:
    """Return a text in pieces of seven letters, which cut words anywhere."""
    return [text[at : at + 7] for at in range(0, len(text), 7)]


CUT, BROKEN, COMPLAINING, ODD = "stream-cut", "stream-broken", "stream-complaining", "stream-odd"

"""Half of the events and a clean end; half and a torn connection; half and an error; an event that is no JSON."""


COMPLAINT = {"type": "error", "error": {"type": "overloaded_error", "message": "too many at once"}}


async def send(request: web.Request, events: Events, fault: str) -> web.StreamResponse:
    """Send events, or as many as the fault lets pass."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    shown = events if fault == "ok" else events[: len(events) // 2]
    for event in shown:
        await response.write(event.encode())
    if fault == BROKEN and request.transport is not None:
        request.transport.abort()
    if fault == COMPLAINING:
        await response.write(f"data: {json.dumps(COMPLAINT)}\n\n".encode())
    if fault == ODD:
        await response.write(b"data: {not json\n\n")
    return response
