"""A reply is put together from events, however the network cuts them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, MalformedReply, ServerFault
from theodolite.gateways.attempt_error import AttemptError, TooManyEvents
from theodolite.gateways.http.event_stream import MOST_EVENTS, MOST_LINES, EventReader, EventStream
from theodolite.gateways.http.reply_path import ReplyPlace
from theodolite.gateways.secret_redaction import Secret

STREAM = (
    ': a comment\n\nevent: start\ndata: {"role": "assistant"}\n\ndata: {"a": "Grüß "}\r\n\r\n'
    'id: 3\ndata:{"a":\ndata: "dich\u2028"}\r\rdata: {"usage": 7}\n\ndata: {"a": "!"}\n\ndata: [DONE]\n\n'
).encode()


def stream_of(heard: list[str] | None = None, seen: list[str] | None = None, path: str = "$.a") -> EventStream:
    look = (lambda _: None) if seen is None else seen.append
    return EventStream(ReplyPlace(path), secret=Secret(), on_chunk=None if heard is None else heard.append, look=look)


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    heard: list[str] = []
    stream = stream_of(heard)
    ends = [0, *sorted(cuts), len(STREAM)]

    for begin, end in itertools.pairwise(ends):
        stream.feed(STREAM[begin:end])

    assert stream.text() == "Grüß dich\u2028!"
    assert heard == ["Grüß ", "dich\u2028", "!"]


def test_a_last_event_without_its_empty_line_counts() -> None:
    stream = stream_of()
    stream.feed(b'data: {"a": "one"}\n\ndata: {"a": " two"}')

    assert stream.text() == "one two"


@pytest.mark.parametrize(
    ("flood", "most"),
    [(b"data:x\n\n", MOST_EVENTS), (b"\n", MOST_LINES), (b":\r", MOST_LINES)],
    ids=["events", "lines", "comments"],
)
def test_a_flood_of_events_or_lines_is_given_up(flood: bytes, most: int) -> None:
    reader = EventReader()
    for _ in range(10):
        assert len(list(reader.feed(flood * (most // 10)))) in {0, most // 10}

    with pytest.raises(TooManyEvents):
        list(reader.feed(flood * 2))


def test_the_name_of_an_event_without_data_is_not_the_next_one_s() -> None:
    stream = stream_of()
    stream.feed(b'event: error\n\ndata: {"a": "one"}\n\n')

    assert stream.text() == "one"


def test_events_of_plain_text_are_joined_and_every_event_is_shown() -> None:
    seen: list[str] = []
    stream = stream_of(seen=seen, path="text")
    stream.feed(b"data: one\n\ndata:  two\n\ndata: [DONE]\n\n")

    assert (stream.text(), seen) == ("one two", ["one", " two"])


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b'{"a": "all at once"}', MalformedReply, "holds no events; leave `stream` out"),
        (b"", MalformedReply, "holds no events"),
        (b'data: {"b": 1}\n\n', MalformedReply, "has no `$.a`; there are b"),
        (b'data: {"a": ""}\n\n', EmptyReply, "no text"),
        (b'data: {"a": "x"}\n\ndata: {"error": {"message": "overloaded"}}\n\n', ServerFault, "it says: overloaded"),
        (b'data: {"error": {"code": "content_filter", "message": "no"}}\n\n', ContentRefused, "no"),
        (b"data: no json\n\n", MalformedReply, "not JSON"),
        (b'data: {"a": 7}\n\n', MalformedReply, "JSON int"),
        (b'data: {"a": "x"}\n\nevent: error\ndata: upstream died\n\n', ServerFault, "it says: upstream died"),
        (b'event: error\ndata: {"message": "busy"}\n\ndata: {"a": "x"}\n\n', ServerFault, "it says: busy"),
        (b'data: {"a": "x"}\n\nevent: error\ndata: {"code": "content_filter"}\n\n', ContentRefused, "content_filter"),
        (b'data: {"a": "x"}\n\ndata: {"a": "", "success": false}\n\n', ServerFault, "it says that it failed"),
    ],
)
def test_what_is_no_whole_reply_is_told_apart(body: bytes, kind: type[GatewayError], words: str) -> None:
    stream = stream_of()
    stream.feed(body)
    attempt_error = stream.text()

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind
    assert words in attempt_error.words
