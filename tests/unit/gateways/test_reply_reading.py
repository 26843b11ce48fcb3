"""A reply is put together from events, however the network cuts them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, InputError, MalformedReply, ServerFault
from theodolite.gateways.errors import AttemptError, TooManyEvents
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.reply_reading import (
    MOST_EVENTS,
    MOST_LINES,
    EventReader,
    EventStream,
    ReplyPlace,
    StreamEvent,
    find_in,
    parse_path,
)
from theodolite.gateways.secret_redaction import Secret

STREAM = (
    ': a comment\n\nevent: start\ndata: {"role": "assistant"}\n\ndata: {"a": "Grüß "}\r\n\r\n'
    'id: 3\ndata:{"a":\ndata: "dich\u2028"}\r\rdata: {"usage": 7}\n\ndata: {"a": "!"}\n\ndata: [DONE]\n\n'
).encode()


def stream_of(heard: list[str] | None = None, seen: list[str] | None = None, path: str = "$.a") -> EventStream:
    look = (lambda _: None) if seen is None else seen.append
    return EventStream(ReplyPlace(path), secret=Secret(), on_chunk=None if heard is None else heard.append, look=look)


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_the_position_of_chunk_boundaries_does_not_matter(cuts: list[int]) -> None:
    heard: list[str] = []
    stream = stream_of(heard)
    ends = [0, *sorted(cuts), len(STREAM)]

    for begin, end in itertools.pairwise(ends):
        stream.feed(STREAM[begin:end])

    assert stream.text() == "Grüß dich\u2028!"
    assert heard == ["Grüß ", "dich\u2028", "!"]


def test_a_last_event_without_an_empty_line_counts() -> None:
    stream = stream_of()
    stream.feed(b'data: {"a": "one"}\n\ndata: {"a": " two"}')

    assert stream.text() == "one two"


@pytest.mark.parametrize(
    ("flood", "most"),
    [(b"data:x\n\n", MOST_EVENTS), (b"\n", MOST_LINES), (b":\r", MOST_LINES)],
    ids=["events", "lines", "comments"],
)
def test_a_flood_of_events_or_lines_is_cut_off(flood: bytes, most: int) -> None:
    reader = EventReader()
    for _ in range(10):
        assert len(list(reader.feed(flood * (most // 10)))) in {0, most // 10}

    with pytest.raises(TooManyEvents):
        list(reader.feed(flood * 2))


def test_the_name_of_an_event_without_data_does_not_apply_to_the_next() -> None:
    stream = stream_of()
    stream.feed(b'event: error\n\ndata: {"a": "one"}\n\n')

    assert stream.text() == "one"


def test_plain_text_events_are_joined_and_every_event_is_shown() -> None:
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
def test_incomplete_replies_are_distinguished(body: bytes, kind: type[GatewayError], words: str) -> None:
    stream = stream_of()
    stream.feed(body)
    attempt_error = stream.text()

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind
    assert words in attempt_error.words


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("text", None),
        ("$", ()),
        ("$.text", ("text",)),
        ("$.a.b[0].c", ("a", "b", 0, "c")),
        ("$[2]", (2,)),
        ("$.a-b_c", ("a-b_c",)),
        ('$["two words"].x', ("two words", "x")),
        ("$['k']", ("k",)),
    ],
)
def test_a_path_is_parsed(path: str, steps: object) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize("path", ["", "text.a", "a.b", "$.", "$..a", "$.a[*]", "$.a[-1]", "$a", "$.a b"])
def test_a_malformed_path_is_reported(path: str) -> None:
    with pytest.raises(InputError, match="must be `text` or a path"):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("$.a[1].b", b'{"a": [0, {"b": "found"}]}', "found"),
        ("$", b'"bare"', "bare"),
        ("text", b"plain \xc3\xa9", "plain é"),
        ("$.a", b'\xef\xbb\xbf{"a": "after a mark"}', "after a mark"),
        ("$.a", b'{"a": "said", "error": "a remark", "success": true}', "said"),
    ],
)
def test_a_reply_is_extracted(path: str, body: bytes, text: str) -> None:
    assert ReplyPlace(path).read(HttpResponse(body=body)) == text


def test_the_encoding_of_the_headers_is_used() -> None:
    assert (
        ReplyPlace("text").read(HttpResponse(body=b"\xe9t\xe9", content_type="text/plain; charset=iso-8859-1")) == "été"
    )


@pytest.mark.parametrize(
    ("path", "body", "charset", "kind", "words"),
    [
        ("$.text", b'{"answer": "x", "id": 1}', "", MalformedReply, "no `$.text`; there are answer, id"),
        ("$.a[3]", b'{"a": [1]}', "", MalformedReply, "no `$.a[3]`"),
        ("$.a.b", b'{"a": "text"}', "", MalformedReply, "no `$.a.b`"),
        ("$.a", b"{}", "", MalformedReply, "is empty"),
        ("$.a", b"<html>\n <p>busy", "", MalformedReply, "is not JSON; it begins with `<html> <p>busy`"),
        ("$.a", b"x" * 200, "", MalformedReply, f"it begins with `{'x' * 60}`"),
        ("$.a", b" \n", "", EmptyReply, "the answer holds nothing"),
        ("$.a", b'{"a": "", "error": "overloaded"}', "", ServerFault, "it says: overloaded"),
        ("$.a", b'{"a": null, "error": {"code": "content_filter"}}', "", ContentRefused, "content_filter"),
        ("$.a", b'{"a": "down", "success": false}', "", ServerFault, "it says that it failed: down"),
        ("$.a", b'{"success": false, "message": "no"}', "", ServerFault, "it says that it failed: no"),
        ("$.a", b'{"a": "", "success": false}', "", ServerFault, "it says that it failed"),
        ("$.a", b"[" * 100_000, "", MalformedReply, "not JSON"),
        ("text", b"\xff\xfe", "", MalformedReply, "not text in UTF-8, and its headers name no other"),
        ("text", b"x", "klingon", MalformedReply, "not text in klingon, as its headers say"),
        ("$.a", b'{"a": 7}', "", MalformedReply, "JSON int"),
        ("$.a", b'{"a": null}', "", EmptyReply, "no text"),
        ("$.a", b'{"a": " "}', "", EmptyReply, "no text"),
        ("text", b"", "", EmptyReply, "the answer holds nothing"),
        ("$.a", b'{"error": "no model"}', "", ServerFault, "it says: no model"),
        ("$.a", b'{"error": {"message": "no", "code": "content_filter"}}', "", ContentRefused, "no"),
    ],
)
def test_invalid_replies_are_distinguished(
    path: str, body: bytes, charset: str, kind: type[GatewayError], words: str
) -> None:
    answer = HttpResponse(body=body, content_type=f"text/plain; charset={charset}" if charset else "text/plain")

    attempt_error = ReplyPlace(path).read(answer)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind
    assert words in attempt_error.words


@pytest.mark.parametrize(
    ("pattern", "body", "text"),
    [
        (r"<answer>(.*?)</answer>", b"<x/><answer>two\nlines</answer>", "two\nlines"),
        (r"\w+!", b"well, hello!", "hello!"),
    ],
)
def test_a_reply_is_extracted_by_a_regular_expression(pattern: str, body: bytes, text: str) -> None:
    assert ReplyPlace("text", pattern).read(HttpResponse(body=body)) == text


def test_a_response_that_does_not_match_is_malformed() -> None:
    attempt_error = ReplyPlace("text", "(x)").read(HttpResponse(body=b"abc"))

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is MalformedReply


def test_a_malformed_regular_expression_is_reported() -> None:
    with pytest.raises(InputError, match="`regex` of `reply` is not a regular expression"):
        ReplyPlace("text", "(")


@pytest.mark.parametrize(
    ("data", "text", "is_fatal"),
    [
        ('{"a": "piece"}', "piece", False),
        ('{"a": ""}', "", False),
        ('{"a": null}', None, False),
        ('{"b": 1}', None, False),
        ('{"error": "overloaded"}', None, True),
        ('{"a": 7}', None, True),
    ],
)
def test_an_event_may_contain_a_chunk_nothing_or_an_error(data: str, text: str | None, is_fatal: bool) -> None:
    event = ReplyPlace("$.a").read_event(data)

    assert isinstance(event, StreamEvent)
    assert (event.text, event.is_fatal) == (text, is_fatal)


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"id": "s1"}', "s1"), ('{"id": 7}', "7"), ('{"id": true}', ""), ("{}", ""), ("no json", ""), ('{"id": {}}', "")],
)
def test_a_session_id_is_a_text_or_a_number(text: str, found: str) -> None:
    assert find_in(text, ("id",)) == found
