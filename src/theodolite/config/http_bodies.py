"""Bodies of requests to HTTP applications: what a study file says of them, and the faults of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.applications import HttpSpec
from theodolite.config.yaml_source import typed
from theodolite.domain.application import BodyFormat

Keys = tuple[str | int, ...]
"""Where a value stands, below its entry."""

_NAMES = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false", type(None): "empty"}
_FORM = "application/x-www-form-urlencoded"
_VALUES = "a text, a number, true or false, or a list of such"


def said_body(spec: HttpSpec) -> Any:
    """Return the body that a study file says, with the types of YAML; an empty mapping where it says none."""
    return {} if _is_without(spec) else typed(spec.body)


def texts_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield the texts of a body with the keys that lead to each."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from texts_in(member, (*keys, key))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from texts_in(member, (*keys, place))
    elif isinstance(value, str):
        yield keys, value


def check_body(entry: Entry[Any], spec: HttpSpec, context: LoadContext) -> None:
    """Add faults of a body that cannot be sent as it is to be written, or that a header calls something else."""
    if spec.method == "GET" and not _is_without(spec):
        message = "`method: GET` sends no body; put {{ prompt }} into `url`, or choose POST"
        context.diagnostics.add(entry.fault("body", message=message))
    elif spec.body_as is BodyFormat.FORM:
        for keys, message in _faults_of_form(spec):
            context.diagnostics.add(entry.fault(*keys, message=message))
    if header := next((name for name in spec.headers if name.lower() == "content-type"), ""):
        _check_header(entry, spec, context, header)


def _is_without(spec: HttpSpec) -> bool:
    return spec.body in (None, "")


def _faults_of_form(spec: HttpSpec) -> Iterator[tuple[Keys, str]]:
    body = said_body(spec)
    if _is_without(spec) and spec.method == "GET":
        yield ("body_as",), "`method: GET` sends no body; leave `body_as` out, or choose POST"
    elif _is_without(spec):
        yield ("body_as",), '`body_as: form` needs `body`, field to text; e.g. body: {message: "{{ prompt }}"}'
    elif not isinstance(body, dict):
        message = f"`body` is {_named(body)}; a form is a mapping from field to text, e.g."
        yield ("body",), message + ' body: {message: "{{ prompt }}"}'
    else:
        for field, value in body.items():
            yield from _faults_of_field(str(field), value, ("body", field))


def _faults_of_field(field: str, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, dict):
        inner = next(iter(value), "name")
        remedy = f"fields stand side by side, e.g. `{field}[{inner}]: ...`"
        yield keys, f"field `{field}` of the form is a mapping; expected {_VALUES}; {remedy}"
    elif value is None:
        yield keys, f'field `{field}` of the form is empty; expected {_VALUES}; write "" for a field without text'
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if isinstance(item, dict | list) or item is None:
                message = f"an item of field `{field}` of the form is {_named(item)}; expected a text or a number"
                yield (*keys, place), message


def _check_header(entry: Entry[Any], spec: HttpSpec, context: LoadContext, header: str) -> None:
    """Add a fault where a header says a form is sent and none is, or the other way round."""
    says_form = spec.headers[header].strip().lower().startswith(_FORM)
    if spec.body_as is BodyFormat.FORM and not says_form:
        message = f"`body_as: form` and `{header}` say different things of the body; leave the header out"
    elif spec.body_as is BodyFormat.JSON and says_form and not _is_without(spec):
        message = (
            f"`{header}` announces a form and `body` goes as JSON; write `body_as: form`, and leave the header out"
        )
    else:
        return
    context.diagnostics.add(entry.fault("headers", header, message=message))


def _named(value: Any) -> str:
    return _NAMES.get(type(value), "a number")
