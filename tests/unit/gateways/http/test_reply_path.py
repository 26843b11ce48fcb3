"""The reply is found where the study says, or the study learns what is there."""

import pytest

from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, InputError, MalformedReply, ServerFault
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.http.reply_path import ReplyPlace, StreamEvent, find_in, parse_path


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
def test_what_is_no_path_is_said(path: str) -> None:
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
def test_a_reply_is_read(path: str, body: bytes, text: str) -> None:
    assert ReplyPlace(path).read(HttpResponse(body=body)) == text


def test_the_encoding_that_the_headers_name_is_used() -> None:
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
        ("text", b"\xff\xfe", "", MalformedReply, "no text in UTF-8, and its headers name no other"),
        ("text", b"x", "klingon", MalformedReply, "no text in klingon, as its headers say"),
        ("$.a", b'{"a": 7}', "", MalformedReply, "JSON int"),
        ("$.a", b'{"a": null}', "", EmptyReply, "no text"),
        ("$.a", b'{"a": " "}', "", EmptyReply, "no text"),
        ("text", b"", "", EmptyReply, "the answer holds nothing"),
        ("$.a", b'{"error": "no model"}', "", ServerFault, "it says: no model"),
        ("$.a", b'{"error": {"message": "no", "code": "content_filter"}}', "", ContentRefused, "no"),
    ],
)
def test_what_is_no_reply_is_told_apart(
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
def test_a_reply_is_found_by_a_regular_expression(pattern: str, body: bytes, text: str) -> None:
    assert ReplyPlace("text", pattern).read(HttpResponse(body=body)) == text


def test_an_answer_that_does_not_match_is_malformed() -> None:
    attempt_error = ReplyPlace("text", "(x)").read(HttpResponse(body=b"abc"))

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is MalformedReply


def test_what_is_no_regular_expression_is_said() -> None:
    with pytest.raises(InputError, match="`regex` of `reply` is no regular expression"):
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
def test_an_event_may_hold_a_piece_or_nothing_or_an_error(data: str, text: str | None, is_fatal: bool) -> None:
    event = ReplyPlace("$.a").read_event(data)

    assert isinstance(event, StreamEvent)
    assert (event.text, event.is_fatal) == (text, is_fatal)


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"id": "s1"}', "s1"), ('{"id": 7}', "7"), ('{"id": true}', ""), ("{}", ""), ("no json", ""), ('{"id": {}}', "")],
)
def test_a_session_id_is_a_text_or_a_number(text: str, found: str) -> None:
    assert find_in(text, ("id",)) == found
