"""Answers of the loopback server as streams of events, in each dialect's form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aiohttp import web

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
