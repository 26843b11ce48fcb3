"""Records: reading back what `domain.identity.canonical_json` wrote.

Done by the records' own type hints, with the type's name wherever a record stands
inside another one. A general validator would have to guess which member of a union
was meant, and two of them may have equal fields.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from theodolite.domain.identity import TYPE_TAG, Record, canonical_json

R = TypeVar("R")

_SURROGATE = re.compile("[\ud800-\udfff]")


def record_text(record: Record) -> str:
    """Return the JSON text of a record; lone surrogates are escaped, so nothing is lost."""
    return storable_json(canonical_json(record))


def storable_json(text: str) -> str:
    """Return a JSON text with lone surrogates escaped; NUL always is."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def record_from(kind: type[R], text: str) -> R:
    """Return the record that a JSON text holds.

    Raises:
        KeyError: If the text was written by another version of the record.
        TypeError: Likewise.
        ValueError: If the text is no JSON, or a word of it is unknown.
    """
    record: R = _record(kind, json.loads(text))
    return record


@lru_cache(maxsize=256)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _record(kind: type, members: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    return kind(**{name: _value(hints[name], part) for name, part in members.items() if name != TYPE_TAG})


def _value(hint: Any, part: Any) -> Any:
    if part is None:
        return None
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return _member(get_args(hint), part)
    if origin is tuple:
        return tuple(_value(get_args(hint)[0], item) for item in part)
    if origin is not None and issubclass(origin, Mapping):
        return {key: _value(get_args(hint)[1], item) for key, item in part.items()}
    return _single(hint, part)


def _single(hint: Any, part: Any) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, part)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(part)
    if hint is datetime:
        return datetime.fromisoformat(part)
    if hint is float:
        return float(part)
    return part


def _member(members: tuple[Any, ...], part: Any) -> Any:
    candidates = [member for member in members if member is not NoneType]
    if isinstance(part, Mapping) and TYPE_TAG in part:
        candidates = [member for member in candidates if member.__name__ == part[TYPE_TAG]]
    return _value(candidates[0], part) if len(candidates) == 1 else part
