"""The form in which Anthropic's Messages are sent piece by piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.gateways.models.stream_form import EventBody, StreamForm, latest_usage, member, text_at


def piece(event: EventBody) -> str:
    """Return the words that an event adds; thinking is none."""
    return text_at(event, "content_block", "text") + text_at(event, "delta", "text")


def whole(events: Sequence[EventBody]) -> Mapping[str, Any] | None:
    """Return the message that all events amount to; None where no event says why it ended."""
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
"""Usage comes unasked: what was read with the first event, what was written with the last but one."""


def _blocks(events: Sequence[EventBody]) -> list[dict[str, Any]]:
    kinds: dict[Any, str] = {}
    texts: dict[Any, list[str]] = defaultdict(list)
    for event in events:
        place = event.get("index")
        if event.get("type") == "content_block_start":
            kinds[place] = text_at(event, "content_block", "type")
        texts[place].append(piece(event))
    return [{"type": kind, "text": "".join(texts[place])} for place, kind in kinds.items()]
