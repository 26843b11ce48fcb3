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


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, no NaN.

    Records inside a record carry their type's name: without it two members of a union
    with equal fields (a Python callable and an ARIA class of one name) would be
    equal texts, hence equal versions, and could not be read back.

    The text is written at once, without a tree of dictionaries in between: every
    request of every dialogue is hashed by it.

    Raises:
        TypeError: If a value has no canonical form.
        ValueError: If a number is none.
    """
    members = _members(type(value))  # type: ignore[arg-type]  # classes are hashable, whatever their instances are
    return _part(value) if members is None else _record(value, members, tagged=False)


_Member: TypeAlias = tuple[str, str, object]
"""Name of a field, its key as it is written, and its default; the type's tag has no name."""


@cache
def _members(kind: type) -> tuple[_Member, ...] | None:
    """Return the fields that identify a record, sorted; None for what is no record."""
    if not dataclasses.is_dataclass(kind):
        return None
    found = {
        field.name: (field.name, f'"{field.name}":', _default(field))
        for field in dataclasses.fields(kind)
        if field.compare
    }
    found[TYPE_TAG] = ("", f'"{TYPE_TAG}":"{kind.__name__}"', None)
    return tuple(found[name] for name in sorted(found))


def _default(field: dataclasses.Field[object]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _record(record: object, members: tuple[_Member, ...], *, tagged: bool) -> str:
    kept: list[str] = []
    for name, key, default in members:
        if not name:
            if tagged:
                kept.append(key)
            continue
        value = getattr(record, name)
        if type(value) is str:  # most fields are texts, and this path is the hot one
            if value != default:
                kept.append(key + _WRITE(value))
        elif value != default or isinstance(value, bool) != isinstance(default, bool):
            # `1 == True` in Python but not in JSON; `60 == 60.0` in both.
            kept.append(key + _part(value))
    return "{" + ",".join(kept) + "}"


def _part(value: object) -> str:
    kind = type(value)
    if kind is str:
        return _WRITE(value)
    members = _members(kind)  # type: ignore[arg-type]  # as above
    if members is not None:
        return _record(value, members, tagged=True)
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(_part, value)) + "]"
    if isinstance(value, Mapping):
        entries = {str(key): value[key] for key in sorted(value, key=str)}
        return "{" + ",".join(f"{_WRITE(key)}:{_part(entry)}" for key, entry in entries.items()) + "}"
    if isinstance(value, frozenset):
        return "[" + ",".join(sorted(map(_part, value))) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, Enum):
        return _part(value.value)
    if isinstance(value, datetime):
        return _WRITE(value.isoformat())
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if value is None or isinstance(value, bool | int | float | str):
        return _WRITE(value)
    message = f"`{type(value).__name__}` has no canonical form"
    raise TypeError(message)


_WRITE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


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
