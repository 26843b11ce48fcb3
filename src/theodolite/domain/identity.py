"""Identity: what makes two records the same, and chance that can be drawn again.

A version is the SHA-256 of a record's content, so that equal content has equal
identity wherever it was written. Fields at their defaults are left out: a field
added later with a default leaves all earlier versions as they were. Fields that
do not count when two records are compared do not count here either.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import ClassVar, Protocol, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

FORMAT = 1
"""Number of the canonical form; raised by hand when the encoding changes."""

SHORT = 8
"""Characters of a version that people are shown."""


class Record(Protocol):
    """Any dataclass of ours."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]


TYPE_TAG = "is"
"""Key under which a record inside another one says what type it is."""


def plain(value: object) -> Json:
    """Return the JSON form of a record, fields at their defaults left out.

    Records inside it carry their type's name: without it two members of a union
    with equal fields (a Python callable and an ARIA class of one name) would be
    equal texts, hence equal versions, and could not be read back.

    Raises:
        TypeError: If a value has no canonical form.
    """
    fields = _fields(type(value))  # type: ignore[arg-type]  # classes are hashable, whatever their instances are
    return _plain_part(value) if fields is None else _plain_record(value, fields)


def _plain_part(value: object) -> Json:
    kind = type(value)
    if kind is str:
        return value  # type: ignore[return-value]  # the line above says so
    fields = _fields(kind)  # type: ignore[arg-type]  # as above
    if fields is not None:
        return {TYPE_TAG: kind.__name__, **_plain_record(value, fields)}
    if isinstance(value, tuple | list):
        return [_plain_part(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain_part(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, frozenset):
        return sorted((_plain_part(item) for item in value), key=repr)
    return _plain_scalar(value)


def _plain_record(record: object, fields: _Fields) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for name, default in fields:
        value = getattr(record, name)
        if type(value) is str:  # most fields are texts, and this path is the hot one
            if value != default:
                kept[name] = value
        elif value != default or isinstance(value, bool) != isinstance(default, bool):
            # `1 == True` in Python but not in JSON; `60 == 60.0` in both.
            kept[name] = _plain_part(value)
    return kept


_Fields: TypeAlias = tuple[tuple[str, object], ...]


@cache
def _fields(kind: type) -> _Fields | None:
    """Return the fields that identify a record, with their defaults; `MISSING` without one, None for no record."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple(
        (field.name, field.default if field.default_factory is dataclasses.MISSING else field.default_factory())
        for field in dataclasses.fields(kind)
        if field.compare
    )


def _plain_scalar(value: object) -> Json:
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = f"`{type(value).__name__}` has no canonical form"
    raise TypeError(message)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(plain(value))


def version_of(record: Record) -> str:
    """Return the content hash of a record: 64 hexadecimal digits.

    The hash covers a type tag and the number of the canonical form beside the
    content, so that an empty persona and an empty scenario differ.
    """
    return digest(type(record).__name__, str(FORMAT), canonical_json(record))


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, kept apart by their lengths; 64 hex digits."""
    state = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        state.update(f"{len(encoded)}:".encode())
        state.update(encoded)
    return state.hexdigest()


def keyed_draw(seed: int, purpose: str, key: str) -> float:
    """Return a number in [0, 1) that depends on nothing but its arguments.

    Drawing by key and not from a stream keeps draws apart: adding a persona
    changes no other persona's draws.
    """
    return int(digest(str(seed), purpose, key)[:13], 16) / float(1 << 52)
