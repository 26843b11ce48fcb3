"""The form in which Chat Completions are sent piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.gateways.models.stream_form import EventBody, StreamForm, member, text_at


def piece(event: EventBody) -> str:
    """Return the words that an event adds."""
    return "".join(text_at(choice, "delta", "content") for choice in _choices(event))


def whole(events: Sequence[EventBody]) -> Mapping[str, Any] | None:
    """Return the answer that all events amount to; None where no event says why it ended."""
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
"""Without `stream_options` the events tell no tokens; servers that do not know it ignore it, or refuse the request."""


def _choices(event: EventBody) -> list[Any]:
    """Return the first choice; some servers send events without any, e.g. for usage."""
    choices = event.get("choices")
    return choices[:1] if isinstance(choices, list) else []


def _last(found: Sequence[Any], name: str) -> Any:
    values = [value for one in found if (value := member(one, name)) is not None]
    return values[-1] if values else None
