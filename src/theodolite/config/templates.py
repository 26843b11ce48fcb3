"""Checks of templates and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from theodolite.domain.errors import TemplateError
from theodolite.testing.templates import Refusal, refusal_of, variables_of

_NOT_CLOSED = "is not closed well: each `{{` needs its `}}`, each `{%` its `%}` and its end"

_SLOT = re.compile(r"\{\{\s*[A-Za-z_]\w*\s*\}\}")

_UNKNOWN_TAG = re.compile(r"unknown tag '(?!end|el)(\w+)'")


def variables(text: str) -> frozenset[str]:
    """Return the names that the template wants filled; empty for one that will never be filled."""
    try:
        return variables_of(text)
    except TemplateError:
        return frozenset()


def syntax_problem(text: str, *, with_line: bool = True) -> str:
    """Return what is wrong with the text as a template; empty where nothing is.

    Args:
        text: The template.
        with_line: Whether to name its line; not where the place of the fault does so.
    """
    refusal = refusal_of(text)
    if refusal is None:
        return ""
    where = f"line {refusal.line} of the template" if with_line and refusal.line > 1 else "the template"
    return f"{where} {_words(refusal)}"


def line_of_problem(text: str) -> int:
    """Return the line of the template that cannot be used, from 1; 1 where all of it is meant."""
    refusal = refusal_of(text)
    return max(1, refusal.line) if refusal else 1


def _words(refusal: Refusal) -> str:
    """Return a refusal in words for people who write no parsers."""
    if not refusal.malformed:
        return refusal.words
    tag = _UNKNOWN_TAG.search(refusal.words)
    return f"holds `{{% {tag[1]} %}}`, which means nothing; use `if`, `for` or `raw`" if tag else _NOT_CLOSED


def place_of(variable: str, text: str) -> str:
    """Return the words of the text in which the template wants the variable, e.g. `{{ wish }}`."""
    found = re.search(r"\{[{%][^{}%]*\b" + re.escape(variable) + r"\b[^{}%]*[%}]\}", text)
    return found.group() if found else ""


def first_slot(text: str) -> str:
    """Return what looks like a slot in words that are said as they stand, e.g. `{{ wish }}`; empty for nothing."""
    found = _SLOT.search(text)
    return found.group() if found else ""


def unfilled(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables that nothing fills, in order of their names."""
    return sorted(variables(text) - set(known))


def expression_problem(pattern: str) -> str:
    """Return what is wrong with a regular expression; empty where nothing is."""
    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        return f"`{pattern}` is no regular expression: {error.msg}{at}"
    return ""
