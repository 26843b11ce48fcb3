"""Templates of a request: the one template engine, on the slots that a request fills."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from theodolite.domain.application import HTTP_SLOTS
from theodolite.domain.errors import InputError, TemplateError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.identity import Json
from theodolite.testing import templates

LARGEST_TEXT = 1_000_000
"""Characters that one template may grow to; source material and a long dialogue have to fit in."""

_WHOLE = re.compile(r"\s*\{\{([^{}]*)\}\}\s*")

Fill = Callable[[Mapping[str, Any]], Json]
"""From the variables of a request to a filled part of it."""


def variables_of(request: SayToApplication, *, session: str) -> dict[str, Any]:
    """Return what the templates of a request may name."""
    history = [{"prompt": exchange.prompt, "response": exchange.response} for exchange in request.history]
    return {
        "prompt": request.prompt,
        "session": session,
        "turn": request.known_turn,
        "context": request.context,
        "history": history,
    }


def text_template(
    source: str,
    *,
    what: str,
    slots: Iterable[str] = HTTP_SLOTS,
    encode: Callable[[Any], str] | None = None,
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills one text.

    Args:
        source: The template.
        what: What messages call it.
        slots: What it may name.
        encode: What each value goes through before it is put in.

    Raises:
        InputError: If it is no template, or names what nothing fills.
    """
    known = tuple(slots)
    try:
        unknown = sorted(templates.variables_of(source).difference(known))
    except TemplateError as error:
        message = f"{what} is not a template that can be filled: {error}"
        raise InputError(message) from error
    if unknown:
        message = f"{what} names `{unknown[0]}`, which nothing fills; it may name {', '.join(known)}"
        raise InputError(message)

    def fill(variables: Mapping[str, Any]) -> str:
        try:
            return templates.fill(source, variables, largest=LARGEST_TEXT, finalize=encode)
        except TemplateError as error:
            message = f"{what}: {error}"
            raise TemplateError(message) from error

    return fill


def address_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills an address; values are percent-encoded.

    Raises:
        InputError: If it is no template, or names what nothing fills.
    """
    return text_template(source, what=what, encode=_in_address)


def _in_address(value: Any) -> str:
    # An undefined value complains when it becomes text, so it must become text here.
    return quote(str(value), safe="")


def body_template(source: str, *, what: str) -> Fill:
    """Return a function that fills a JSON body.

    The body is parsed first and its texts are filled inside the parsed document,
    so that no quote or brace of a prompt can break or change its form.

    Raises:
        InputError: If the body is no JSON document or a template is malformed.
    """
    return _part(_document(source, what), what)


def form_template(source: str, *, what: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills the fields of a form and writes them as one text.

    Values are percent-encoded after they are filled in, so that no `&` or `=` of a prompt
    can add a field. A list is its field several times; what is no text is written as JSON.

    Raises:
        InputError: If the body is no JSON object of texts, or a template is malformed.
    """
    document = _document(source, what)
    if not isinstance(document, dict):
        message = f"{what} must be an object of texts, since it is sent as a form"
        raise InputError(message)
    listed = [(name, value if isinstance(value, list) else [value]) for name, value in document.items()]
    fields = [(name, _part(item, what)) for name, items in listed for item in items]

    def fill(variables: Mapping[str, Any]) -> str:
        return urlencode([(name, _in_form(item(variables))) for name, item in fields], errors="replace")

    return fill


def _in_form(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _document(source: str, what: str) -> Any:
    try:
        return json.loads(source)
    except ValueError:
        message = f"{what} must be a JSON document; it cannot be read as one"
        raise InputError(message) from None


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
