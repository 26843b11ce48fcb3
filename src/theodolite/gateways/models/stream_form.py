"""Stream forms: how a dialect sends an answer piece by piece, and how the pieces become one answer again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theodolite.gateways.attempt_error import AttemptError, unreadable
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.http.event_stream import EventReader
from theodolite.gateways.models.reasoning import Speech
from theodolite.ports.application import OnChunk

EventBody = Mapping[str, Any]
"""One event's JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamForm:
    """One dialect's way to send pieces.

    Attributes:
        fields: What a request says to get its answer so.
        piece: The words that an event adds; empty where it adds none.
        whole: The answer that all events amount to, in the form that the dialect has for
            answers in one piece; None where they end before the answer does.
        end: The event that a server's word "nothing follows" stands for; None where only an
            event of the answer itself can end it.
        wishes: Further fields, which ask for more than the pieces and which some servers refuse.
    """

    fields: Mapping[str, object]
    piece: Callable[[EventBody], str]
    whole: Callable[[Sequence[EventBody]], Mapping[str, Any] | None]
    end: EventBody | None = None
    wishes: Mapping[str, object] = field(default_factory=dict)


class StreamListener:
    """Hears an answer as its bytes come and hands the words on, but for thoughts before them."""

    def __init__(self, form: StreamForm, on_chunk: OnChunk) -> None:
        """Begin with nothing heard."""
        self._form = form
        self._on_chunk = on_chunk
        self._reader = EventReader()
        self._speech = Speech()
        self._heard = False

    @property
    def has_received(self) -> bool:
        """Whether words were handed on, which cannot be taken back."""
        return self._heard

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; what cannot be read is left for the end, where it becomes a failed attempt."""
        for data in self._reader.feed(piece):
            event = _event(data)
            if event is not None and (text := self._speech.feed(self._form.piece(event))):
                self._heard = True
                self._on_chunk(text)

    def end(self, text: str) -> None:
        """Hand on a whole reply that came in one piece all the same."""
        if not self._heard:
            self._on_chunk(text)


def in_one_piece(answer: HttpResponse, form: StreamForm) -> HttpResponse | AttemptError:
    """Return a streamed answer as if it had come in one piece; one that did come so is left as it is."""
    reader = EventReader()
    texts = [*reader.feed(answer.body), *reader.end()]
    if not texts:
        return answer
    events = [_event(text) for text in texts]
    read = [event for event in events if event is not None]
    if len(read) < len(events):
        return unreadable("an event of the answer is no JSON object")
    whole = form.whole(read)
    if whole is None and reader.has_ended and form.end is not None:
        whole = form.whole([*read, form.end])
    if whole is None:
        return unreadable("the events end before the reply does")
    return replace(answer, body=json.dumps(whole).encode())


def _event(text: str) -> EventBody | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None


def member(found: Any, *names: str) -> Any:
    """Return what stands at a path of names; None where it leads nowhere."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def text_at(found: Any, *names: str) -> str:
    """Return the text at a path of names; empty where there is none."""
    text = member(found, *names)
    return text if isinstance(text, str) else ""


def latest_usage(events: Iterable[EventBody]) -> dict[str, Any]:
    """Return the latest word on each kind of tokens, whichever event and whichever dialect it stands in."""
    usage: dict[str, Any] = {}
    for event in events:
        for said in (member(event, "message", "usage"), event.get("usage")):
            usage |= {name: n for name, n in said.items() if n is not None} if isinstance(said, Mapping) else {}
    return usage
