"""Templates: texts with slots, filled inside a sandbox.

A template chooses and repeats words; it does not compute. Nothing random is
left in it, because equal plans must be equal tests. Anything that could grow
without bound (calls, macros, captured blocks, nested loops, powers, padding)
is rejected when the template is read, before memory is exhausted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, meta, nodes
from jinja2 import TemplateError as JinjaError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from theodolite.domain.errors import TemplateError, did_you_mean

MAX_RENDERED = 200_000
"""Characters that a filled template may have."""

FILTERS = (
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
    "int",
    "last",
    "length",
    "list",
    "lower",
    "reverse",
    "sort",
    "string",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "wordcount",
)
"""Filters whose result is at most a small multiple of the text, for all arguments."""

_REFUSED: dict[type[nodes.Node], str] = {
    nodes.Call: "a call",
    nodes.CallBlock: "`call`",
    nodes.Macro: "`macro`",
    nodes.FilterBlock: "`filter`",
    nodes.Assign: "`set`",
    nodes.AssignBlock: "`set`",
    nodes.With: "`with`",
    nodes.Block: "`block`",
    nodes.Extends: "`extends`",
    nodes.Include: "`include`",
    nodes.Import: "`import`",
    nodes.FromImport: "`import`",
    nodes.Pow: "`**`",
}
"""Names that could double a large text, or keep output from being counted."""

_MARKED = re.compile(r"[{\r\n]")
"""Text that Jinja may not read as plain text: a placeholder, or the end of a line."""

_FILLING = (JinjaError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
_TOO_DEEP = (RecursionError, SyntaxError, MemoryError)
"""Error of Python's compiler for a template with a hundred nested conditions."""


class _BoundedEnvironment(SandboxedEnvironment):
    """A sandbox in which repeating a text cannot exhaust the memory."""

    intercepted_binops = frozenset({"*", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return the product or remainder of two numbers, or a short text repeated."""
        if operator == "%" and isinstance(left, str):
            message = "`%` on a text can pad it without bound"
            raise SecurityError(message)
        if operator == "*" and not _is_small_product(left, right):
            message = "`*` could grow without bound"
            raise SecurityError(message)
        return super().call_binop(context, operator, left, right)


def _is_small_product(left: Any, right: Any) -> bool:
    """Return whether a product multiplies numbers or repeats a text within the bound; lists are refused."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return True
    text, times = (left, right) if isinstance(left, str) else (right, left)
    return isinstance(text, str) and isinstance(times, int) and len(text) * times <= MAX_RENDERED


def _environment() -> SandboxedEnvironment:
    environment = _BoundedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
    environment.globals.clear()
    environment.filters = {name: act for name, act in environment.filters.items() if name in FILTERS}
    return environment


_ENVIRONMENT = _environment()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a text cannot be used as a template, before anything is filled.

    Attributes:
        line: Affected line of the template, from 1; 0 for the whole template.
        words: What the template does and what is permitted; continues the sentence "the template".
        malformed: Whether the text is not a template at all; false if it uses something forbidden.
    """

    line: int
    words: str
    malformed: bool = False


def refusal_of(text: str) -> Refusal | None:
    """Return why a text can never be filled; None if only the values decide."""
    read = _read(text)
    return read if isinstance(read, Refusal) else None


def variables_of(text: str) -> frozenset[str]:
    """Return the names of the placeholders of a template.

    Raises:
        TemplateError: If the text is no template, or uses something forbidden; states the line.
    """
    read = _read(text)
    if isinstance(read, Refusal):
        raise _error(read)
    return read


def fill(
    text: str,
    values: Mapping[str, object],
    *,
    largest: int = MAX_RENDERED,
    finalize: Callable[[Any], str] | None = None,
) -> str:
    """Return a template with its slots filled.

    Args:
        text: The template.
        values: Slot to value.
        largest: Characters that the result may have; count.
        finalize: Conversion of each value before it is inserted, e.g. to
            encode it for a URL; None inserts it unchanged.

    Raises:
        TemplateError: If a slot has no value, the text is no template, or the
            result is longer than `largest` characters.
    """
    if len(text) <= largest and not _MARKED.search(text):
        return text  # many are empty or plain words
    template = _compiled(text, finalize)
    if isinstance(template, Refusal):
        raise _error(template)
    plain = _spliced(text, values) if finalize is None else None
    return plain if plain is not None and len(plain) <= largest else _rendered(template, values, largest)


def _rendered(template: Template, values: Mapping[str, object], largest: int) -> str:
    """Return a template filled by Jinja, which stops if the text becomes too long."""
    pieces: list[str] = []
    size = 0
    try:
        for piece in template.generate(values):
            size += len(piece)
            if size > largest:
                break
            pieces.append(piece)
    except _FILLING as error:
        message = f"the template cannot be filled: {error}"
        raise TemplateError(message) from error
    except RecursionError as error:
        raise _error(_NESTED) from error
    if size > largest:
        message = f"the filled template is longer than {largest} characters"
        raise TemplateError(message)
    return "".join(pieces)


def _spliced(text: str, values: Mapping[str, object]) -> str | None:
    """Return a filled template of plain text and placeholders; None if it uses other syntax or a value is missing."""
    pieces = []
    for words, slot in _spans(text):
        pieces.append(words)
        value = values.get(slot) if slot else ""
        if type(value) is not str:
            return None
        pieces.append(value)
    return "".join(pieces) if pieces else None


@lru_cache(maxsize=512)
def _spans(text: str) -> tuple[tuple[str, str], ...]:
    """Return the alternating texts and placeholders; empty for a template with other syntax."""
    output_nodes = [node for part in _ENVIRONMENT.parse(text).body for node in _outputs(part)]
    spans = [_span(node) for node in output_nodes]
    return tuple(span for span in spans if span is not None) if None not in spans else ()


def _outputs(part: nodes.Node) -> Sequence[nodes.Node]:
    return part.nodes if isinstance(part, nodes.Output) else [part]


def _span(node: nodes.Node) -> tuple[str, str] | None:
    """Return a text, or the name of a placeholder; None for anything else."""
    if isinstance(node, nodes.TemplateData):
        return node.data, ""
    return ("", node.name) if isinstance(node, nodes.Name) and node.name != "self" else None  # which is Jinja's own


_NESTED = Refusal(line=0, words="is nested too deeply; write it flatter")


def _error(refusal: Refusal) -> TemplateError:
    where = f"line {refusal.line} of the template" if refusal.line else "the template"
    return TemplateError(f"{where} {refusal.words}")


@lru_cache(maxsize=512)
def _read(text: str) -> frozenset[str] | Refusal:
    """Return the slots of a template that can be filled once they all have values."""
    compiled = _compiled(text, None)
    if isinstance(compiled, Refusal):
        return compiled
    return frozenset(meta.find_undeclared_variables(_ENVIRONMENT.parse(text)))


@lru_cache(maxsize=512)
def _compiled(text: str, finalize: Callable[[Any], str] | None) -> Template | Refusal:
    environment = _ENVIRONMENT if finalize is None else _ENVIRONMENT.overlay(finalize=finalize)
    try:
        tree = environment.parse(text)
        return next(_refusals(tree), None) or environment.from_string(tree)
    except TemplateSyntaxError as error:
        return Refusal(line=error.lineno, words=f"cannot be read: {error.message}", malformed=True)
    except _TOO_DEEP:
        return _NESTED


def _refusals(tree: nodes.Template) -> Iterator[Refusal]:
    """Yield the variables that a template uses but may not."""
    for kind, words in _REFUSED.items():
        for node in tree.find_all(kind):
            yield Refusal(line=node.lineno, words=f"uses {words}; a template only names, chooses and repeats words")
    yield from _unknown(tree, nodes.Filter, "filter", FILTERS)
    yield from _unknown(tree, nodes.Test, "test", sorted(_ENVIRONMENT.tests))
    for loop in tree.find_all(nodes.For):
        if next(loop.find_all(nodes.For), None):
            yield Refusal(line=loop.lineno, words="has a loop inside this loop; one is enough for words")


def _unknown(
    tree: nodes.Template, kind: type[nodes.Filter | nodes.Test], noun: str, known: Sequence[str]
) -> Iterator[Refusal]:
    """Yield filters or tests that are not permitted."""
    for node in tree.find_all(kind):
        if node.name not in known:
            tail = did_you_mean(node.name, known) or f"; those that may be used are {', '.join(known)}"
            yield Refusal(line=node.lineno, words=f"uses the {noun} `{node.name}`{tail}")
