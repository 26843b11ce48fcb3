"""Event streams: replies that are sent piece by piece (server-sent events)."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.errors import ContentRefused, InputError, ServerFault
from theodolite.gateways.errors import (
    AttemptError,
    TooManyEvents,
    api_error_in,
    empty,
    malformed,
    read_api_error,
    withheld,
)
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.secret_redaction import Secret, StruckPieces
from theodolite.ports.application import OnChunk

END = "[DONE]"
"""Last event of many servers."""

FAILED = "error"
"""Name of events with which servers end a reply that they cannot continue."""

MOST_EVENTS = 200_000
"""Maximum number of events of one answer; count. Models send one event per token, and write fewer tokens."""

MOST_LINES = 5 * MOST_EVENTS
"""Maximum number of lines of one answer, including comments and empty ones; count."""

_LINE_END = re.compile(r"[\r\n]")


class EventReader:
    """Splits the bytes of one answer into events, for any division into pieces.

    Attributes:
        has_ended: Whether the server has sent its last event.
        name: Name of the latest event; empty if it has no name.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.name = self._named = ""
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest: list[str] = []
        self._data: list[str] = []
        self._n_lines = self._n_events = 0
        self.has_ended = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """Take the next bytes and yield the data of each complete event.

        Raises:
            TooManyEvents: If the answer has more lines or events than are read.
        """
        lines = self._lines(self._decoder.decode(piece))
        self._n_lines += len(lines)
        if self._n_lines > MOST_LINES:
            raise TooManyEvents
        for line in lines:
            yield from self._take(line)

    def end(self) -> Iterator[str]:
        """Yield the rest at the end of the answer; some servers leave out the last empty line."""
        rest, self._rest = "".join([*self._rest, self._decoder.decode(b"", final=True)]), []
        for line in (rest.rstrip("\r"), ""):
            yield from self._take(line)

    def _lines(self, text: str) -> list[str]:
        """Return the complete lines; a long line is not read again with every piece of it."""
        is_half_ended = bool(self._rest) and self._rest[-1].endswith("\r")
        self._rest.append(text)
        if not is_half_ended and not _LINE_END.search(text):
            return []
        whole = "".join(self._rest)
        half = "\r" if whole.endswith("\r") else ""  # the line feed may be in the next chunk
        lines = whole.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = [lines.pop() + half]
        return lines

    def _take(self, line: str) -> Iterator[str]:
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name == "event":
            self._named = value.strip()
        elif not line:
            data, self._data = self._data, []
            self.name, self._named = self._named, ""
            if not data:
                return
            self._n_events += 1
            if self._n_events > MOST_EVENTS:
                raise TooManyEvents
            whole = "\n".join(data)
            if whole.strip() == END:
                self.has_ended = True
            else:
                yield whole


class EventStream:
    """Assembles a reply from the events of one answer, however they are split into pieces."""

    def __init__(
        self, place: ReplyPlace, *, secret: Secret, on_chunk: OnChunk | None = None, look: Callable[[str], None]
    ) -> None:
        """Start empty.

        Args:
            place: Position of the piece of the reply in each event.
            secret: A text that no received piece may repeat.
            on_chunk: Receives the pieces.
            look: Receives the data of each event.
        """
        self._place = place
        self._redacted = StruckPieces(secret, on_chunk) if on_chunk is not None else None
        self._look = look
        self._reader = EventReader()
        self._pieces: list[str] = []
        self._attempt_error: AttemptError | None = None
        self._without: AttemptError | None = None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the answer."""
        for data in self._reader.feed(piece):
            self._hear(data)

    def text(self) -> str | AttemptError:
        """Return the whole reply at the end of the answer, or its error."""
        for data in self._reader.end():
            self._hear(data)
        if self._redacted is not None:
            self._redacted.end()
        whole = "".join(self._pieces)
        if self._attempt_error is not None:
            return self._attempt_error
        if whole.strip():
            return whole
        return empty("the events hold no text") if self._pieces else self._without or _no_stream()

    def _hear(self, data: str) -> None:
        self._look(data)
        match self._read(data):
            case StreamEvent(text=str(text)):
                self._pieces.append(text)
                if text and self._redacted is not None:
                    self._redacted.feed(text)
            case StreamEvent(attempt_error=attempt_error, is_fatal=True):
                self._attempt_error = self._attempt_error or attempt_error
            case StreamEvent(attempt_error=attempt_error):
                self._without = self._without or attempt_error

    def _read(self, data: str) -> StreamEvent:
        if self._reader.name == FAILED:
            return StreamEvent(attempt_error=failure_in(data), is_fatal=True)
        return self._place.read_event(data)


def _no_stream() -> AttemptError:
    return malformed("the answer holds no events; leave `stream` out where the reply comes in one piece")


_STEP = re.compile(r"""\.([\w-]+)|\[(\d+)\]|\[(?:"([^"\]]+)"|'([^'\]]+)')\]""")

SHOWN = 60
"""Number of characters that are shown of an unreadable answer."""

Path = tuple[str | int, ...]
"""Keys and positions from the root of a JSON document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """Content of one event: a piece of the reply, or the reason why there is none.

    Attributes:
        text: The piece; None if there is none.
        attempt_error: Why there is none.
        is_fatal: Whether the whole reply is unusable; events without a piece are common.
    """

    text: str | None = None
    attempt_error: AttemptError | None = None
    is_fatal: bool = False


def parse_path(path: str) -> Path | None:
    """Return the steps of a path such as `$.a.b[0]`, or None for `text`, the whole body.

    Raises:
        InputError: If it is neither.

    Example:
        >>> parse_path("$.choices[0].text")
        ('choices', 0, 'text')
    """
    if path == "text":
        return None
    steps = list(_STEP.finditer(path, 1))
    if not path.startswith("$") or "$" + "".join(step[0] for step in steps) != path:
        message = f"`reply` must be `text` or a path such as `$.a.b[0]`; got `{path}`"
        raise InputError(message)
    return tuple(int(step[2]) if step[2] else step[1] or step[3] or step[4] for step in steps)


class ReplyPlace:
    """Finds the reply in an answer."""

    def __init__(self, path: str, pattern: str = "") -> None:
        """Parse where to look.

        Args:
            path: A path into JSON, or `text`.
            pattern: A regular expression over the whole body, in place of the path;
                its first group is the reply, or all of it if it has no group.

        Raises:
            InputError: If one of them cannot be used.
        """
        self._path = None if pattern else parse_path(path)
        self._pattern = _compiled(pattern) if pattern else None

    def read(self, answer: HttpResponse) -> str | AttemptError:
        """Return the reply in an answer, or its error."""
        try:
            text = answer.body.decode(answer.charset or "utf-8").removeprefix("\ufeff")
        except (ValueError, LookupError):
            charset_note = "as its headers say" if answer.charset else "and its headers name no other encoding"
            return malformed(f"the answer is not text in {answer.charset or 'UTF-8'}, {charset_note}")
        return _checked(self._find(text)) if text.strip() else empty("the answer holds nothing")

    def read_event(self, data: str) -> StreamEvent:
        """Return the content of one event of a stream."""
        result = self._find(data)
        if isinstance(result, AttemptError):
            return StreamEvent(attempt_error=result, is_fatal=result.kind in {ServerFault, ContentRefused})
        if result is None:
            return StreamEvent(attempt_error=empty())
        if isinstance(result, str):
            return StreamEvent(text=result)
        return StreamEvent(attempt_error=_no_text(result), is_fatal=True)

    def _find(self, text: str) -> Any:
        if self._pattern is not None:
            match = self._pattern.search(text)
            return match[match.re.groups and 1] if match else _unread("does not match `regex` of `reply`", text)
        if self._path is None:
            return text
        try:
            result = json.loads(text)
        except (ValueError, RecursionError):
            return _unread("is not JSON", text)
        reply = _walk(result, self._path)
        return _failure(result, reply) or reply


def failure_in(data: str) -> AttemptError:
    """Return the failure that an event reports by its name, whatever its content."""
    api_error = read_api_error(data.encode())
    words = api_error.words or api_error.code
    return withheld(words) if api_error.is_filter else _error(words)


def find_in(text: str, path: Path) -> str:
    """Return the text or number at a path of a JSON document; empty if there is none."""
    try:
        result = _walk(json.loads(text), path)
    except (ValueError, RecursionError):
        return ""
    return str(result) if isinstance(result, str | int) and not isinstance(result, bool) else ""


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        message = f"`regex` of `reply` is not a regular expression: {error}"
        raise InputError(message) from error


def _walk(payload: Any, path: Path) -> Any:
    """Follow the path; a step without a value becomes a failed attempt."""
    root = payload
    for position, step in enumerate(path):
        try:
            payload = _member(payload, step)
        except LookupError:
            return _api_error(root) or malformed(
                f"the answer has no `{_written(path[: position + 1])}`{_alternatives(payload)}"
            )
    return payload


def _failure(payload: Any, reply: Any) -> AttemptError | None:
    """Return the failure that an application reports beside its reply; an error beside a text may be only a remark."""
    is_blank = reply is None or (isinstance(reply, str) and not reply.strip())
    if is_blank and (api_error := _api_error(payload)) is not None:
        return api_error
    if not isinstance(payload, Mapping) or payload.get("success") is not False:
        return None
    error_text = api_error_in(payload)
    words = reply if isinstance(reply, str) and not is_blank else error_text.words if error_text is not None else ""
    return AttemptError(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))


def _unread(why: str, text: str) -> AttemptError:
    """Return the failed attempt of an answer without a reply, with its first words."""
    begins = " ".join(text[: 2 * SHOWN].split())[:SHOWN]
    return malformed(f"the answer {why}; it begins with `{begins}`")


def _api_error(payload: Any) -> AttemptError | None:
    """Return the error that an application reports in place of a reply, although its status is 200."""
    api_error = api_error_in(payload) if isinstance(payload, Mapping) and payload.get("error") else None
    if api_error is None:
        return None
    words = api_error.words or api_error.code
    return withheld(words) if api_error.is_filter else _error(words)


def _error(words: str) -> AttemptError:
    return AttemptError(kind=ServerFault, words=f"it says: {words}" if words else "it does not say which")


def _member(payload: Any, step: str | int) -> Any:
    if isinstance(step, str) and isinstance(payload, Mapping):
        return payload[step]
    if isinstance(step, int) and isinstance(payload, list):
        return payload[step]
    raise LookupError(step)


def _written(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _alternatives(payload: Any) -> str:
    if not isinstance(payload, Mapping):
        return ""
    return f"; there are {', '.join(sorted(map(str, payload))[:6])}" if payload else "; the object there is empty"


def _checked(payload: Any) -> str | AttemptError:
    if isinstance(payload, AttemptError):
        return payload
    if payload is None or (isinstance(payload, str) and not payload.strip()):
        return empty()
    return payload if isinstance(payload, str) else _no_text(payload)


def _no_text(payload: Any) -> AttemptError:
    return malformed(f"the reply is a JSON {type(payload).__name__}; expected text")
