"""The reply is found where the study says, or the study learns what is there."""

import pytest

from theodolite.domain.errors import EmptyReply, GatewayError, InputError, MalformedReply
from theodolite.gateways.reply_path import parse_path, read_text
from theodolite.gateways.trouble import Trouble
from theodolite.gateways.wire import Answer


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
    ],
)
def test_a_reply_is_read(path: str, body: bytes, text: str) -> None:
    assert read_text(Answer(body=body), parse_path(path)) == text


def test_the_encoding_that_the_headers_name_is_used() -> None:
    assert read_text(Answer(body=b"\xe9t\xe9", charset="iso-8859-1"), None) == "été"


@pytest.mark.parametrize(
    ("path", "body", "charset", "kind", "words"),
    [
        ("$.text", b'{"answer": "x", "id": 1}', "", MalformedReply, "no `$.text`; there are answer, id"),
        ("$.a[3]", b'{"a": [1]}', "", MalformedReply, "no `$.a[3]`"),
        ("$.a.b", b'{"a": "text"}', "", MalformedReply, "no `$.a.b`"),
        ("$.a", b"{}", "", MalformedReply, "is empty"),
        ("$.a", b"<html>", "", MalformedReply, "not JSON"),
        ("$.a", b"[" * 100_000, "", MalformedReply, "not JSON"),
        ("text", b"\xff\xfe", "", MalformedReply, "not text"),
        ("text", b"x", "klingon", MalformedReply, "not text"),
        ("$.a", b'{"a": 7}', "", MalformedReply, "JSON int"),
        ("$.a", b'{"a": null}', "", EmptyReply, "no text"),
        ("$.a", b'{"a": " "}', "", EmptyReply, "no text"),
        ("text", b"", "", EmptyReply, "no text"),
    ],
)
def test_what_is_no_reply_is_told_apart(
    path: str, body: bytes, charset: str, kind: type[GatewayError], words: str
) -> None:
    trouble = read_text(Answer(body=body, charset=charset), parse_path(path))

    assert isinstance(trouble, Trouble)
    assert trouble.kind is kind
    assert words in trouble.words
