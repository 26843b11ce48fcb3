"""Model answers: the parsing that all dialects share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.flow import Reply
from theodolite.domain.run import Spending
from theodolite.gateways.errors import Again, AttemptError, api_error_in, empty, malformed, of_status, unreadable
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.reply_reading import EventReader
from theodolite.gateways.secret_redaction import Secret, repaired
from theodolite.ports.application import OnChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """Content of an answer.

    Attributes:
        text: The text, or the reason why there is none.
        model: Name that the endpoint reports; any value, unchanged.
        finish: Stop reason; any value, unchanged.
        tokens_in: Tokens read; count, 0 if unknown.
        tokens_out: Tokens written; count, 0 if unknown.
    """

    text: str | AttemptError
    model: Any
    finish: Any
    tokens_in: int
    tokens_out: int


def words_in(text: str, *, is_cut: bool, asks_for_tool: bool) -> str | AttemptError:
    """Return the text of a reply without the preceding thoughts, or the reason why there is none.

    Args:
        text: Its content.
        is_cut: Whether the limit of tokens ended it.
        asks_for_tool: Whether it requests a tool call.
    """
    words = spoken(text)
    if words.strip():
        return words
    if is_cut:
        return empty("the reply holds no text: the token limit was reached first")
    if text.strip():
        return empty("the reply holds thoughts and no text after them")
    return empty("it asked for a tool instead of answering") if asks_for_tool else empty()


def reply_of(output: ModelOutput, answer: HttpResponse, price: Price | None) -> Reply | AttemptError:
    """Return an answer as a reply; without tokens there is no cost, not even 0.

    An answer without text is a failed attempt with its cost.
    """
    n_tokens = output.tokens_in + output.tokens_out
    cost = price.cost_microusd(output.tokens_in, output.tokens_out) if price is not None and n_tokens else None
    if isinstance(output.text, AttemptError):
        return replace(output.text, spent=_spent(output, cost))
    text, n_repaired = repaired(output.text)
    return Reply(
        text=text,
        answered_as=word(output.model),
        finish=word(output.finish),
        tokens_in=output.tokens_in,
        tokens_out=output.tokens_out,
        cost_microusd=cost,
        latency_s=answer.latency_s,
        attempts=answer.attempts,
        repaired=n_repaired,
    )


def _spent(output: ModelOutput, cost: int | None) -> Spending:
    is_unpriced = cost is None and output.tokens_in + output.tokens_out > 0
    return Spending(
        tokens_in=output.tokens_in,
        tokens_out=output.tokens_out,
        cost_microusd=cost or 0,
        unpriced_calls=int(is_unpriced),
    )


def parsed_object(answer: HttpResponse, *, expected: str) -> Mapping[str, Any] | AttemptError:
    """Return the JSON object of an answer, or its content if it is not an object."""
    try:
        payload = _parsed(answer.body)
    except (ValueError, RecursionError):
        return unreadable(
            "the answer is not JSON" + _page(answer.body) if answer.body.strip() else "the answer is empty"
        )
    if not isinstance(payload, Mapping):
        return malformed(f"the answer is a JSON {type(payload).__name__}; expected {expected}")
    return payload


def _parsed(body: bytes) -> Any:
    """Return the value of JSON text; nearly all is UTF-8, so other encodings are tried only if that fails."""
    try:
        return json.loads(body.decode())
    except ValueError:
        return json.loads(body)


def _page(body: bytes) -> str:
    return " but an HTML page" if body.lstrip()[:1] == b"<" else ""


def word(value: Any) -> str:
    """Return a short text that an endpoint states about itself; empty if it is not a text."""
    return repaired(value)[0][:200] if isinstance(value, str) else ""


def token_count(payload: Mapping[str, Any], key: str) -> int:
    """Return a number of an answer's `usage`; 0 if it is missing or impossible."""
    return count_at(payload, "usage", key)


def count_at(payload: Any, *names: str) -> int:
    """Return the count at a path of names; 0 if it is missing or impossible."""
    count = member(payload, *names)
    plausible = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31
    return count if plausible and isinstance(count, int) else 0


MARKS = {"<think>": "</think>", "[THINK]": "[/THINK]"}
"""Start mark of thoughts, to their end mark."""

_END_ALONE = re.compile(r"^[ \t]*(?:</think>|\[/THINK\])[ \t]*$", re.MULTILINE)


def spoken(text: str) -> str:
    r"""Return the text of a reply without the preceding thoughts; empty if nothing follows them.

    Some prompts end with the mark that opens thoughts, so that a reply holds the closing one alone,
    on its own line.

    Example:
        >>> spoken("<think>\nThey greet me.\n</think>\n\nHello!")
        'Hello!'
        >>> spoken("Write <think> and </think> around it.")
        'Write <think> and </think> around it.'
    """
    start = text.lstrip()
    for opens, closes in MARKS.items():
        if start.startswith(opens):
            return start.partition(closes)[2].lstrip()
    if not any(closes in text for closes in MARKS.values()):  # known without looking at each line; most texts are so
        return text
    end = _END_ALONE.search(text)
    return text[end.end() :].lstrip() if end is not None and not _opens(text[: end.start()]) else text


def _opens(text: str) -> bool:
    return any(opens in text for opens in MARKS)


class Speech:
    """Passes the pieces of a reply on and holds back its thoughts."""

    def __init__(self) -> None:
        """Start before the first word."""
        self._blank: list[str] = []
        self._held = ""
        self._closes = ""
        self._has_thought = self._speaks = False

    def feed(self, piece: str) -> str:
        """Add the next piece and return the text that may be passed now; empty while that is unknown."""
        if self._speaks:
            return piece
        if not self._held and not piece.strip():  # a reply may start with a long part of it
            self._blank.append(piece)
            return ""
        self._held += piece
        if not self._closes and not self._has_thought:
            self._begin()
        if self._closes:
            self._think()
        return self._text() if not self._closes else ""

    def _begin(self) -> None:
        start = self._held.lstrip()
        for opens, closes in MARKS.items():
            if start.startswith(opens):
                self._held, self._closes, self._has_thought = start, closes, True

    def _think(self) -> None:
        _, closed, rest = self._held.partition(self._closes)
        if closed:
            self._held, self._closes = rest.lstrip(), ""
        else:  # a mark may be cut in two; the text before it need not be searched again
            self._held = self._held[-len(self._closes) :]

    def _text(self) -> str:
        start = self._held.lstrip()
        if not start or (not self._has_thought and any(opens.startswith(start) for opens in MARKS)):
            return ""
        self._speaks = True
        return start if self._has_thought else "".join((*self._blank, self._held))


EventBody = Mapping[str, Any]
"""One event's JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamForm:
    """The stream format of one dialect.

    Attributes:
        fields: Fields of a request for a stream.
        piece: Returns the text that an event adds; empty if it adds none.
        whole: Builds the answer from all events, in the dialect's format for
            answers in one piece; None if they end before the answer does.
        end: The event represented by a server's end mark; None if only an
            event of the answer itself can end it.
        wishes: Further fields, which request more than the pieces and which some servers refuse.
    """

    fields: Mapping[str, object]
    piece: Callable[[EventBody], str]
    whole: Callable[[Sequence[EventBody]], Mapping[str, Any] | None]
    end: EventBody | None = None
    wishes: Mapping[str, object] = field(default_factory=dict)


class StreamListener:
    """Reads an answer as its bytes arrive and passes its text on, without thoughts before it."""

    def __init__(self, form: StreamForm, on_chunk: OnChunk) -> None:
        """Start without input."""
        self._form = form
        self._on_chunk = on_chunk
        self._reader = EventReader()
        self._speech = Speech()
        self._has_received = False

    @property
    def has_received(self) -> bool:
        """Whether text was passed on, which cannot be undone."""
        return self._has_received

    def feed(self, piece: bytes) -> None:
        """Feed the next bytes; unreadable ones become a failed attempt at the end."""
        for data in self._reader.feed(piece):
            event = _event(data)
            if event is not None and (text := self._speech.feed(self._form.piece(event))):
                self._has_received = True
                self._on_chunk(text)

    def end(self, text: str) -> None:
        """Pass on a reply that arrived in one piece."""
        if not self._has_received:
            self._on_chunk(text)


def in_one_piece(answer: HttpResponse, form: StreamForm) -> HttpResponse | AttemptError:
    """Return a streamed answer in the format of an unstreamed one; an unstreamed one is unchanged."""
    reader = EventReader()
    texts = [*reader.feed(answer.body), *reader.end()]
    if not texts:
        return answer
    events = [_event(text) for text in texts]
    read = [event for event in events if event is not None]
    if len(read) < len(events):
        return unreadable("an event of the answer is not a JSON object")
    whole = form.whole(read)
    if whole is None and reader.has_ended and form.end is not None:
        whole = form.whole([*read, form.end])
    if whole is None:
        return unreadable("the events end before the reply does")
    return replace(answer, body=json.dumps(whole).encode())


def _event(text: str) -> EventBody | None:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, Mapping) else None


def member(payload: Any, *names: str) -> Any:
    """Return the value at a path of names; None if there is none."""
    for name in names:
        payload = payload.get(name) if isinstance(payload, Mapping) else None
    return payload


def text_at(payload: Any, *names: str) -> str:
    """Return the text at a path of names; empty if there is none."""
    text = member(payload, *names)
    return text if isinstance(text, str) else ""


def latest_usage(events: Iterable[EventBody]) -> dict[str, Any]:
    """Return the latest count of each kind of tokens, from any event and dialect."""
    usage: dict[str, Any] = {}
    for event in events:
        for output in (member(event, "message", "usage"), member(event, "response", "usage"), event.get("usage")):
            usage |= {name: n for name, n in output.items() if n is not None} if isinstance(output, Mapping) else {}
    return usage


_TAKEN = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "cache_creation_input_tokens", "output_tokens"),
    ("inputTokens", "cacheWriteInputTokens", "outputTokens"),
    ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"),
)


def expected_tokens(endpoint: ModelEndpoint, body: bytes) -> int:
    """Return the expected number of tokens of a request, estimated generously.

    Three bytes per token are fewer than in English; for the reply only `params` may state
    how long it can become.
    """
    return len(body) // 3 + endpoint.longest_reply


def tokens_taken(body: bytes) -> int | None:
    """Return the tokens that an answer reports, or None if it reports none.

    Works for all dialects: the names differ, and an answer uses one set of them.
    """
    payload = _loaded(body)
    if not isinstance(payload, Mapping):
        payload = {"usage": _streamed_usage(body)}
    elif isinstance(payload.get("usageMetadata"), Mapping):  # Google's name for it
        payload = {"usage": payload["usageMetadata"]}
    return max(sum(token_count(payload, name) for name in names) for names in _TAKEN) or None


def _streamed_usage(body: bytes) -> dict[str, Any]:
    """Return the reply of a streamed answer."""
    lines = (line for line in body.splitlines() if line.startswith(b"data:") and b'"usage' in line)
    events = (_loaded(line.removeprefix(b"data:")) for line in lines)
    return latest_usage(event for event in events if isinstance(event, Mapping))


def _loaded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def passing_error(body: bytes, secret: Secret) -> AttemptError | None:
    """Return the error in a successful answer if a retry may succeed; None otherwise.

    Args:
        body: The answer, in one piece or as events.
        secret: A text that must not be repeated.
    """
    if b'"error"' not in body:  # no key of JSON and no value of it, since quotes inside of texts are escaped
        return None
    for payload in _objects(body):
        api_error = api_error_in(payload) if payload.get("error") else None
        if api_error is None or not api_error.status or api_error.is_filter or api_error.is_quota:
            continue
        attempt_error = of_status(api_error.status, "")
        if attempt_error.again is not Again.NEVER:
            return replace(attempt_error, words=f"200 with an error: {secret.scrub(api_error.words)}")
    return None


def late_words(body: bytes) -> str:
    """Return the error in an answer with a good status, in any format; empty if there is none."""
    if b'"error"' not in body:
        return ""
    complaints = (api_error_in(payload) for payload in _objects(body) if payload.get("error"))
    return "; ".join(api_error.words for api_error in complaints if api_error is not None)


def _objects(body: bytes) -> Iterator[Mapping[str, Any]]:
    whole = _object(body)
    if whole is not None:
        yield whole
        return
    reader = EventReader()
    for data in (*reader.feed(body), *reader.end()):
        event = _object(data)
        if event is not None:
            yield event


def _object(text: str | bytes) -> Mapping[str, Any] | None:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, Mapping) else None
