"""Templates of a request: Jinja2 in its sandbox, filled strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from jinja2 import StrictUndefined, Template
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from theodolite.domain.errors import InputError, TemplateError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.identity import Json

LARGEST_TEXT = 1_000_000
"""Characters that one template may grow to."""

_WHOLE = re.compile(r"\s*\{\{([^{}]*)\}\}\s*")

Fill = Callable[[Mapping[str, Any]], Json]
"""From the variables of a request to a filled part of it."""


def variables_of(request: SayToApplication, *, session: str) -> dict[str, Any]:
    """Return what the templates of a request may name."""
    history = [{"prompt": exchange.prompt, "response": exchange.response} for exchange in request.history]
    return {
        "prompt": request.prompt,
        "session": session,
        "turn": request.turn,
        "context": request.context,
        "history": history,
    }


def _sandbox(finalize: Callable[[Any], Any] | None = None) -> ImmutableSandboxedEnvironment:
    # Request bodies are no HTML: escaping would change what the application is told.
    sandbox = ImmutableSandboxedEnvironment(undefined=StrictUndefined, finalize=finalize, autoescape=False)
    sandbox.globals.clear()
    sandbox.filters.pop("random")
    return sandbox


def _in_address(value: Any) -> str:
    # An undefined value complains when it becomes text, so it must become text here.
    return quote(str(value), safe="")


_PLAIN = _sandbox()
_ADDRESS = _sandbox(_in_address)


def text_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills one text."""
    return _filled(_compiled(_PLAIN, source, what), what)


def address_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills an address; values are percent-encoded."""
    return _filled(_compiled(_ADDRESS, source, what), what)


def body_template(source: str, *, what: str) -> Fill:
    """Return a function that fills a JSON body.

    The body is parsed first and its texts are filled inside the parsed document,
    so that no quote or brace of a prompt can break or change its form.

    Raises:
        InputError: If the body is no JSON document or a template is malformed.
    """
    try:
        document = json.loads(source)
    except ValueError:
        document = InputError
    if document is InputError:
        message = f"{what} must be a JSON document; it cannot be read as one"
        raise InputError(message)
    return _part(document, what)


def _part(value: Any, what: str) -> Fill:
    if isinstance(value, str):
        return _value_template(value, what) if "{" in value else lambda _: value
    if isinstance(value, dict):
        members = {key: _part(member, what) for key, member in value.items()}
        return lambda variables: {key: member(variables) for key, member in members.items()}
    if isinstance(value, list):
        items = [_part(item, what) for item in value]
        return lambda variables: [item(variables) for item in items]
    return lambda _: value


def _value_template(source: str, what: str) -> Fill:
    """Return a function that fills one text; a lone `{{ history }}` or `{{ turn }}` keeps its type."""
    whole = _WHOLE.fullmatch(source)
    if whole is None or whole[1].strip() not in {"history", "turn"}:
        return text_template(source, what=what)
    name = whole[1].strip()
    return lambda variables: variables[name]


def _compiled(sandbox: ImmutableSandboxedEnvironment, source: str, what: str) -> Template:
    try:
        return sandbox.from_string(source)
    except JinjaError as error:
        message = f"{what} is not a template that can be filled: {error.message}"
        raise InputError(message) from error


def _filled(template: Template, what: str) -> Callable[[Mapping[str, Any]], str]:
    def fill(variables: Mapping[str, Any]) -> str:
        pieces: list[str] = []
        size = 0
        try:
            for piece in template.generate(variables):
                size += len(piece)
                if size > LARGEST_TEXT:
                    break
                pieces.append(piece)
        except (JinjaError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            message = f"{what} cannot be filled: {error}; it may name prompt, session, turn, context and history"
            raise TemplateError(message) from error
        if size > LARGEST_TEXT:
            message = f"{what} grew beyond {LARGEST_TEXT:,} characters when filled; shorten it"
            raise TemplateError(message)
        return "".join(pieces)

    return fill
