"""One table has all reasons for undefined numbers, and one function makes text of them."""

from __future__ import annotations

import ast
import string
from typing import TYPE_CHECKING

import pytest
from tests.house.tree import ROOT

from theodolite.domain import undefined_reasons
from theodolite.domain.estimate import Undefined
from theodolite.domain.undefined_reasons import SAME_ANSWER, reason_text, undefined_text

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = ROOT / "src" / "theodolite"
TABLE = SOURCE / "domain" / "undefined_reasons.py"
WORDS = {"UNDEFINED", "NO_DATA"}
REASONS = {name: text for name, text in vars(undefined_reasons).items() if name.isupper() and name not in WORDS}


@pytest.mark.parametrize("name", sorted(REASONS))
def test_a_reason_is_a_sentence_with_named_fields(name):
    text = REASONS[name]
    fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]

    assert text.endswith(".")
    assert text[0].isupper() or text.startswith("{")
    assert all(field.isidentifier() for field in fields)


def test_no_two_reasons_have_the_same_words():
    assert len(set(REASONS.values())) == len(REASONS)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("No label.", "undefined: no label"),
        ("PEN needs 8 scores.", "undefined: PEN needs 8 scores"),
        ("`a` is empty.", "undefined: `a` is empty"),
        ("3 materialised without a grade.", "undefined: 3 materialised without a grade"),
    ],
)
def test_an_undefined_number_can_be_shown_inline(reason, text):
    assert undefined_text(Undefined(reason=reason)) == text
    assert reason_text(SAME_ANSWER).startswith("all labels are the same")


def literal_reasons() -> Iterator[str]:
    """Yield where source outside the table writes a reason, or the start of an undefined number, itself."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path == TABLE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_made = isinstance(node, ast.Call) and ast.unparse(node.func) == "Undefined"
            values = [word.value for word in node.keywords if word.arg == "reason"] if is_made else []
            if any(isinstance(value, (ast.Constant, ast.JoinedStr)) for value in values):
                yield f"{path.relative_to(ROOT)}:{node.lineno}"
            if isinstance(node, ast.JoinedStr) and str(getattr(node.values[0], "value", "")).startswith("undefined: "):
                yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_reasons_are_defined_in_the_table_only():
    assert list(literal_reasons()) == []
