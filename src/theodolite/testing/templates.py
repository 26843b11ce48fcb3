"""Templates: texts with slots, filled inside a sandbox.

Nothing random is left in the sandbox (`random`, `lipsum`), since the same plan
must be the same test, and neither a loop nor a product can grow without bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, UndefinedError, meta
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from theodolite.domain.errors import TemplateError

MAX_RENDERED = 200_000
"""Characters that a filled template may have."""


class _BoundedEnvironment(SandboxedEnvironment):
    """A sandbox in which a product of texts cannot eat the memory."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sizes = [
            side if isinstance(side, int) else len(side) for side in (left, right) if isinstance(side, int | str | list)
        ]
        if operator == "**" or any(size > MAX_RENDERED for size in sizes):
            message = f"`{operator}` could grow without bound"
            raise SecurityError(message)
        return super().call_binop(context, operator, left, right)


def _environment() -> SandboxedEnvironment:
    environment = _BoundedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
    environment.globals.pop("lipsum")
    environment.filters.pop("random")
    return environment


_ENVIRONMENT = _environment()


@lru_cache(maxsize=512)
def _compiled(text: str) -> Template:
    return _ENVIRONMENT.from_string(text)


def variables_of(text: str) -> frozenset[str]:
    """Return the names of the slots of a template.

    Raises:
        TemplateError: If the text is no template; says the line.
    """
    try:
        return frozenset(meta.find_undeclared_variables(_ENVIRONMENT.parse(text)))
    except TemplateSyntaxError as error:
        message = f"line {error.lineno} of the template cannot be read: {error.message}"
        raise TemplateError(message) from error


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
    except (TemplateSyntaxError, UndefinedError, SecurityError, TypeError, ValueError, ArithmeticError) as error:
        message = f"the template cannot be filled: {error}"
        raise TemplateError(message) from error
    if size > MAX_RENDERED:
        message = f"the filled template is longer than {MAX_RENDERED} characters"
        raise TemplateError(message)
    return "".join(pieces)
