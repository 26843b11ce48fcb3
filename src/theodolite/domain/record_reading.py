"""Records read back from their canonical JSON, which `identity` writes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from theodolite.domain.identity import TYPE_TAG, stored_name, type_name
from theodolite.domain.study import Study

R = TypeVar("R")


def record_from(kind: type[R], text: str) -> R:
    """Return the record in a JSON text.

    Raises:
        KeyError: If another version of the record wrote the text.
        TypeError: Likewise.
        ValueError: If the text is not JSON, or contains an unknown word.
    """
    record: R = _reader(kind)(json.loads(text))  # type: ignore[arg-type]  # classes are hashable
    return record


_Read: TypeAlias = Callable[[Any], Any]
"""Converts a JSON value to the value that it represents."""


@cache
def _reader(hint: Any) -> _Read:
    """Return the reader for values of a type hint; cached, since the look-up takes longer than reading."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _member(parts)
    if origin is tuple:
        item = _reader(parts[0])
        return lambda part: None if part is None else tuple(map(item, part))
    if origin is not None and issubclass(origin, Mapping):
        entry = _reader(parts[1])
        return lambda part: None if part is None else {key: entry(one) for key, one in part.items()}
    return _single(hint)


def _single(hint: Any) -> _Read:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda part: None if part is None else hint(part)
    if hint is datetime:
        return lambda part: None if part is None else datetime.fromisoformat(part)
    if hint is float:
        return lambda part: None if part is None else float(part)
    return _as_it_is


def _as_it_is(part: Any) -> Any:
    return part


def _record(kind: type) -> _Read:
    hints = _hints(kind)
    fields = dataclasses.fields(kind)
    names = {stored_name(field): field.name for field in fields if stored_name(field) != field.name}
    readers: dict[str, _Read] = {}

    def read(members: Mapping[str, Any] | None) -> Any:
        if members is None:
            return None
        if not readers:  # only when the first one is read, because a record may contain others of its kind
            readers.update({field.name: _reader(hints[field.name]) for field in fields})
        present = {names.get(key, key): part for key, part in members.items() if key != TYPE_TAG}
        return kind(**{name: readers[name](part) for name, part in present.items()})

    return read


def _hints(kind: type) -> dict[str, Any]:
    """Return the types of a record's fields."""
    if kind is not Study:
        return get_type_hints(kind)
    # A study imports them only for type checks.
    from theodolite.domain import event, gate, schema, study_parts, tree

    modules = (event, gate, schema, study_parts, tree)
    names = {name: part for module in modules for name, part in vars(module).items()}
    return get_type_hints(kind, localns=names)


def _member(members: tuple[Any, ...]) -> _Read:
    candidates = [member for member in members if member is not NoneType]

    def read(part: Any) -> Any:
        if part is None:
            return None
        tag = part.get(TYPE_TAG) if isinstance(part, Mapping) else None
        meant = candidates if tag is None else [member for member in candidates if type_name(member) == tag]
        return _reader(meant[0])(part) if len(meant) == 1 else part

    return read
