from __future__ import annotations

import pytest

from theodolite.config.yaml_source import read_yaml, typed
from theodolite.domain.errors import Diagnostic


def content(text):
    return read_yaml(text.encode(), "study.yaml").content


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "1.10", "0x1f", "true", "2026-03-02T09:00", "~", "007"])
def test_every_scalar_is_read_as_the_written_text(word):
    assert content(f"a: {word}\n") == {"a": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("0.5", 0.5),
        ("true", True),
        ("yes", "yes"),
        ('"0"', "0"),
        ("null", None),
        ("[1, a]", [1, "a"]),
        ("{x: {y: 1e3}}", {"x": {"y": 1000.0}}),
    ],
)
def test_free_values_have_the_types_of_yaml_1_2(text, value):
    assert typed(content(f"a: {text}\n")["a"]) == value


def test_folded_and_literal_texts_contain_only_their_words():
    assert content("a: >-\n  one\n  two\nb: |-\n  one\n  two\n") == {"a": "one two", "b": "one\ntwo"}


def test_an_anchor_may_be_used_twice():
    assert content("a: &x {b: 1}\nc: *x\n") == {"a": {"b": "1"}, "c": {"b": "1"}}


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        (Diagnostic(path=("a", "b"), message="m"), (2, 6, 5)),
        (Diagnostic(path=("a", "b"), message="m", at_key=True), (2, 3, 1)),
        (Diagnostic(path=("a", "b", "c"), message="m"), (2, 3, 1)),
        (Diagnostic(path=("a", "d", 1), message="m"), (3, 10, 3)),
        (Diagnostic(path=("a", "e"), message="m", words="{{ x }}"), (4, 12, 7)),
        (Diagnostic(path=("a", "f"), message="m", words="{{ y }}"), (6, 9, 7)),
    ],
)
def test_a_path_becomes_line_column_and_width(fault, place):
    text = 'a:\n  b: hello\n  d: [a, "b"]\n  e: "with {{ x }}"\n  f: |\n    and {{ y }}\n'

    placed = read_yaml(text.encode(), "study.yaml").place(fault)

    assert (placed.line, placed.column, placed.width) == place


@pytest.mark.parametrize("mark", ["\r\n", "\n"])
def test_lines_are_counted_equally_on_all_systems(mark):
    source = read_yaml(f"a: 1{mark}b: x\u2028y{mark}c: 2{mark}".encode(), "study.yaml")

    placed = source.place(Diagnostic(path=("c",), message="m"))

    assert (placed.line, placed.excerpt) == (3, "c: 2")


def test_a_byte_order_mark_is_not_part_of_the_first_key():
    assert read_yaml(b"\xef\xbb\xbfa: 1\n", "study.yaml").content == {"a": "1"}


def test_another_encoding_is_reported_with_its_line():
    (fault,) = read_yaml("a: 1\nb: \xe9\n".encode("latin-1"), "study.yaml").faults

    assert (fault.line, fault.message) == (2, "is not UTF-8: byte 0xe9; save the file as UTF-8")


def test_exponentially_nested_anchors_are_an_error():
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 9))

    source = read_yaml(f"l0: &l0 [x]\n{levels}".encode(), "study.yaml")

    assert any("grows without end" in fault.message for fault in source.faults)


@pytest.mark.parametrize("text", ["a: \x00", "[" * 4000, "? [x]\n: y\n", "a: 'x\n", "a: @b\n", "\x07"])
def test_malformed_yaml_is_an_error_and_not_an_exception(text):
    assert read_yaml(text.encode(), "study.yaml").faults
