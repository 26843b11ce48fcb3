"""Templates: texts with slots, filled inside a sandbox.

A template chooses and repeats words; it does not compute. Nothing random is
left in it, since the same plan must be the same test, and whatever could grow
without bound (calls, macros, captured blocks, nested loops, powers, padding)
is refused when it is read, not when memory is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, meta, nodes
from jinja2 import TemplateError as JinjaError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from theodolite.domain.errors import TemplateError

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
"""Filters that make no more of a text than a small multiple of it, whatever their arguments."""

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
"""What could name a large text and double it, or hide output from the bound."""

_FILLING = (JinjaError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
_TOO_DEEP = (RecursionError, SyntaxError, MemoryError)
"""What Python's own compiler says to a template of a hundred nested conditions."""


class _BoundedEnvironment(SandboxedEnvironment):
    """A sandbox in which a product of texts cannot eat the memory."""

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
    """Tell whether a product is one of numbers, or a text repeated within the bound; lists hide what they hold."""
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


def variables_of(text: str) -> frozenset[str]:
    """Return the names of the slots of a template.

    Raises:
        TemplateError: If the text is no template, or wants what no template may; says the line.
    """
    return frozenset(meta.find_undeclared_variables(_parsed(text)))


def fill(text: str, values: Mapping[str, object]) -> str:
    """Return a template with its slots filled.

    Args:
        text: The template.
        values: Slot to value.

    Raises:
        TemplateError: If a slot has no value, the text is no template, or the
            result is longer than `MAX_RENDERED` characters.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in _compiled(text).generate(values):
            size += len(piece)
            if size > MAX_RENDERED:
                break
            pieces.append(piece)
    except _FILLING as error:
        message = f"the template cannot be filled: {error}"
        raise TemplateError(message) from error
    except RecursionError as error:
        raise TemplateError(_NESTED) from error
    if size > MAX_RENDERED:
        message = f"the filled template is longer than {MAX_RENDERED} characters"
        raise TemplateError(message)
    return "".join(pieces)


_NESTED = "the template is nested too deeply; write it flatter"


@lru_cache(maxsize=512)
def _compiled(text: str) -> Template:
    try:
        return _ENVIRONMENT.from_string(_parsed(text))
    except _TOO_DEEP as error:
        raise TemplateError(_NESTED) from error


def _parsed(text: str) -> nodes.Template:
    try:
        tree = _ENVIRONMENT.parse(text)
        refusal = next(_refusals(tree), "")
    except TemplateSyntaxError as error:
        message = f"line {error.lineno} of the template cannot be read: {error.message}"
        raise TemplateError(message) from error
    except _TOO_DEEP as error:
        raise TemplateError(_NESTED) from error
    if refusal:
        raise TemplateError(refusal)
    return tree


def _refusals(tree: nodes.Template) -> Iterator[str]:
    """Yield what a template wants and may not have."""
    for kind, words in _REFUSED.items():
        for node in tree.find_all(kind):
            yield f"line {node.lineno} of the template uses {words}; a template only names, chooses and repeats words"
    for wanted in tree.find_all(nodes.Filter):
        if wanted.name not in FILTERS:
            yield (
                f"line {wanted.lineno} of the template uses the filter `{wanted.name}`; "
                f"those that may be used are {', '.join(FILTERS)}"
            )
    for loop in tree.find_all(nodes.For):
        if next(loop.find_all(nodes.For), None):
            yield f"line {loop.lineno} of the template has a loop inside this loop; one is enough for words"
