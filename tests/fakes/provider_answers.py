"""Requests and answers of OpenAI's Responses, Google's generateContent and Amazon's Converse, for the loopback server.

Each form is written after the maker's own reference; what a request holds is turned into the messages of a chat.
"""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.misbehaviour import pieces

Json = dict[str, Any]


def responses_chat(body: Json) -> Json:
    """Return a request to Responses as a chat."""
    return {"model": body["model"], "messages": body["input"], "stream": body.get("stream", False)}


def gemini_chat(body: Json, model: str) -> Json:
    """Return a request to generateContent as a chat."""
    roles = {"user": "user", "model": "assistant"}
    messages = [{"role": roles[one["role"]], "content": one["parts"][0]["text"]} for one in body["contents"]]
    return {"model": model, "messages": messages}


def converse_chat(body: Json, model: str) -> Json:
    """Return a request to Converse as a chat."""
    messages = [{"role": one["role"], "content": one["content"][0]["text"]} for one in body["messages"]]
    return {"model": model, "messages": messages}


def response_answer(text: str, model: str, finish: str = "stop") -> Json:
    """Return a response with a thought before its message; `length` and `content_filter` end it early."""
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": "resp_loopback",
        "object": "response",
        "status": "incomplete" if finish in reasons else "completed",
        "error": None,
        "incomplete_details": {"reason": reasons[finish]} if finish in reasons else None,
        "model": model,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content},
        ],
        "usage": {
            "input_tokens": 120,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 10},
            "total_tokens": 150,
        },
    }


def response_events(answer: Json) -> list[str]:
    """Return a response piece by piece; the last event holds all of it."""
    text = answer["output"][1]["content"][0]["text"]
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": answer["output"][0]},
        *(
            {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": piece}
            for piece in pieces(text)
        ),
        {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "text": text},
        {"type": f"response.{answer['status']}", "response": answer},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def gemini_answer(text: str, model: str, finish: str = "stop") -> Json:
    """Return an answer of generateContent with a thought before its words."""
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    parts = [{"text": "hm", "thought": True}, {"text": text}]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": reasons.get(finish, finish), "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 120,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 10,
            "totalTokenCount": 150,
        },
        "modelVersion": model,
        "responseId": "loopback",
    }


def gemini_events(answer: Json) -> list[str]:
    """Return an answer of streamGenerateContent piece by piece; every event counts the tokens so far."""
    [candidate] = answer["candidates"]
    thought, words = candidate["content"]["parts"]
    parts = [thought, *({"text": piece} for piece in pieces(words["text"]))]
    rest = {"usageMetadata": answer["usageMetadata"], "modelVersion": answer["modelVersion"]}
    events = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], **rest} for part in parts]
    events[-1]["candidates"][0]["finishReason"] = candidate["finishReason"]
    return [f"data: {json.dumps(event)}\r\n\r\n" for event in events]


def converse_answer(text: str, finish: str = "stop") -> Json:
    """Return an answer of Converse with a thought before its words."""
    reasons = {"stop": "end_turn", "length": "max_tokens", "content_filter": "content_filtered"}
    thought = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    return {
        "output": {"message": {"role": "assistant", "content": [thought, {"text": text}]}},
        "stopReason": reasons.get(finish, finish),
        "usage": {"inputTokens": 120, "outputTokens": 30, "totalTokens": 150},
        "metrics": {"latencyMs": 12},
    }
