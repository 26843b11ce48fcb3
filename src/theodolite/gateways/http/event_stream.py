"""Event streams: replies that are sent piece by piece (server-sent events)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator

from theodolite.gateways.attempt_error import AttemptError, TooManyEvents, empty, malformed
from theodolite.gateways.http.reply_path import ReplyPlace, StreamEvent, failure_in
from theodolite.gateways.secret_redaction import Secret, StruckPieces
from theodolite.ports.application import OnChunk

END = "[DONE]"
"""What many servers send as their last event."""

FAILED = "error"
"""Name of events with which servers end a reply that they cannot go on with."""

MOST_EVENTS = 200_000
"""Events of one answer that are read at most; count. Models send one event a token, and write fewer tokens."""

MOST_LINES = 5 * MOST_EVENTS
"""Lines of one answer that are read at most, comments and empty ones included; count."""

_LINE_END = re.compile(r"[\r\n]")


class EventReader:
    """Tells the events of one answer apart, however its bytes are cut into pieces.

    Attributes:
        has_ended: Whether the server has said that nothing follows.
        name: What the event that was yielded last is called; empty where it has no name.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.name = self._named = ""
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest: list[str] = []
        self._data: list[str] = []
        self._n_lines = self._n_events = 0
        self.has_ended = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """Take the next bytes and yield the data of each event that is whole now.

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
        """Yield what is left at the end of the answer; some servers leave out the last empty line."""
        rest, self._rest = "".join([*self._rest, self._decoder.decode(b"", final=True)]), []
        for line in (rest.rstrip("\r"), ""):
            yield from self._take(line)

    def _lines(self, text: str) -> list[str]:
        """Return the lines that are whole; a long one is not read anew with every piece of it."""
        is_half_ended = bool(self._rest) and self._rest[-1].endswith("\r")
        self._rest.append(text)
        if not is_half_ended and not _LINE_END.search(text):
            return []
        whole = "".join(self._rest)
        half = "\r" if whole.endswith("\r") else ""  # the line feed may come with the next piece
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
    """Puts a reply together from the events of one answer, however they are cut into pieces."""

    def __init__(
        self, place: ReplyPlace, *, secret: Secret, on_chunk: OnChunk | None = None, look: Callable[[str], None]
    ) -> None:
        """Begin with nothing.

        Args:
            place: Where each event holds its piece of the reply.
            secret: What no piece that is received may repeat.
            on_chunk: Receives the pieces.
            look: Sees the data of each event.
        """
        self._place = place
        self._heard = StruckPieces(secret, on_chunk) if on_chunk is not None else None
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
        """Return the whole reply at the end of the answer, or what is wrong with it."""
        for data in self._reader.end():
            self._hear(data)
        if self._heard is not None:
            self._heard.end()
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
                if text and self._heard is not None:
                    self._heard.feed(text)
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
