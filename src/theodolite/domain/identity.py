"""Identity: equality of records, and reproducible random numbers.

A version is the SHA-256 of a record's content, so that equal content has equal identity regardless of its location.
Fields at their defaults are omitted: a field added later with a default leaves all earlier versions unchanged.
Fields that are excluded from the comparison of records are excluded here as well.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache, partial
from json.encoder import encode_basestring
from operator import attrgetter
from types import NoneType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

FORMAT = 1
"""Version of the canonical form; incremented by hand when the encoding changes."""

SHORT = 8
"""Number of characters of a version that are shown to people."""


class FixedJson(dict[str, "Json"]):
    """An immutable JSON object with cached text."""

    __slots__ = ("_as_given", "_text")

    @property
    def text(self) -> str:
        """Its canonical JSON."""
        try:
            return self._text
        except AttributeError:
            self._text: str = _mapping(cast("Mapping[object, object]", self))
            return self._text

    @property
    def as_given(self) -> str:
        """Canonical JSON in ASCII, with keys in their original order, which matters to some readers."""
        try:
            return self._as_given
        except AttributeError:
            self._as_given: str = json.dumps(self, separators=(",", ":"))
            return self._as_given


class Record(Protocol):
    """Any dataclass of ours."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]


TYPE_TAG = "is"
"""Key of the type of a nested record."""

STORED_AS = "stored_as"
"""Key in the metadata of a renamed field with its name in stored records."""


def type_name(kind: type) -> str:
    """Return the name of a type in stored records; a class renamed later keeps the old name as `STORED_AS`."""
    return str(vars(kind).get("STORED_AS", kind.__name__))


def stored_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in stored records; a field renamed later keeps the old name in its metadata."""
    return str(field.metadata.get(STORED_AS, field.name))


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, no NaN.

    Records inside a record carry their type's name: without it two members of a union with equal fields (a Python
    callable and an ARIA class of one name) would have equal texts, hence equal versions, and could not be read back.

    The text is written directly, without a tree of dictionaries in between: every
    request of every dialogue is hashed with it.

    Raises:
        TypeError: If a value has no canonical form.
        ValueError: If a number is not finite.
    """
    schema = _schema_of(type(value))  # type: ignore[arg-type]  # classes are hashable, whatever their instances are
    return _part(value) if schema is None else _record(value, schema, is_tagged=False)


_Write: TypeAlias = Callable[[Any], str]
"""Converts a value of one type to its text."""


class _Shape(NamedTuple):
    """The writer of the records of one type.

    Attributes:
        members: Written key and default of each field that identifies a record, sorted by name.
        values: Returns the values of these fields of a record, all at once.
        tag: The written type.
        whole: The text around the values if no field has an omitted default; else empty.
    """

    members: tuple[tuple[str, object], ...]
    values: Callable[[object], tuple[object, ...]]
    tag: str
    whole: str


@cache
def _schema_of(kind: type) -> _Shape | None:
    """Return the writer of a type's records; None for a type that is not a record."""
    if not dataclasses.is_dataclass(kind):
        return None
    compared = sorted((field for field in dataclasses.fields(kind) if field.compare), key=stored_name)
    members = tuple((f'"{stored_name(field)}":', _default(field)) for field in compared)
    tag = f'"{TYPE_TAG}":"{type_name(kind)}"'
    has_all = compared and all(default is dataclasses.MISSING for _, default in members)
    return _Shape(
        members=members,
        values=_taking([field.name for field in compared]),
        tag=tag,
        whole=f"{{{','.join(sorted([tag, *(f'{key}%s' for key, _ in members)]))}}}" if has_all else "",
    )


def _taking(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)  # the hot path: in one go
    return lambda record: tuple(getattr(record, name) for name in names)


def _default(field: dataclasses.Field[object]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _record(record: object, schema: _Shape, *, is_tagged: bool = True) -> str:
    entries: list[str] = []
    for (key, default), value in zip(schema.members, schema.values(record)):  # noqa: B905  # made for each other
        if value is default:
            continue
        if type(value) is str:  # most fields are texts
            if value != default:
                entries.append(key + _string(value))
        elif default is dataclasses.MISSING or value != default or isinstance(value, bool) != isinstance(default, bool):
            # `1 == True` in Python but not in JSON; `60 == 60.0` in both.
            entries.append(key + _writer(type(value))(value))  # type: ignore[arg-type]  # as above
    if is_tagged:
        entries.append(schema.tag)
        entries.sort()  # a quotation mark sorts before every letter, so this is the order of names
    return "{" + ",".join(entries) + "}"


def _whole(template: str, values: Callable[[object], tuple[object, ...]], record: object) -> str:
    """Return a nested record with all fields written, as in messages."""
    return template % tuple(map(_part, values(record)))


def _part(value: object) -> str:
    return _writer(type(value))(value)  # type: ignore[arg-type]  # as above


@cache
def _writer(kind: type) -> _Write:
    """Return the writer for values of a type; cached, since the look-up takes longer than writing."""
    schema = _schema_of(kind)
    if schema is not None:
        return partial(_whole, schema.whole, schema.values) if schema.whole else partial(_record, schema=schema)
    if issubclass(kind, Enum) and not issubclass(kind, str):
        return lambda value: _part(value.value)
    for base, write in _WRITERS:
        if issubclass(kind, base):
            return write
    message = f"`{kind.__name__}` has no canonical form"
    raise TypeError(message)


_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_string = encode_basestring  # its operation on a text, without looking it up


def _list(items: Iterable[object]) -> str:
    return "[" + ",".join(map(_part, items)) + "]"


def _set(items: frozenset[object]) -> str:
    return "[" + ",".join(sorted(map(_part, items))) + "]"


def _mapping(entries: Mapping[object, object]) -> str:
    named = {str(key): entries[key] for key in sorted(entries, key=str)}
    return "{" + ",".join(f"{_string(key)}:{_part(entry)}" for key, entry in named.items()) + "}"


def _float(number: float) -> str:
    return str(int(number)) if number.is_integer() else _text(number)


_WRITERS: tuple[tuple[type | tuple[type, ...], _Write], ...] = (  # the first that fits
    (str, _string),
    ((tuple, list), _list),
    (FixedJson, lambda fixed: fixed.text),
    (Mapping, _mapping),
    (frozenset, _set),
    (datetime, lambda moment: _text(moment.isoformat())),
    (float, _float),
    ((bool, int, NoneType), _text),
)


def version_of(record: Record) -> str:
    """Return the content hash of a record: 64 hexadecimal digits.

    The hash covers a type tag and the number of the canonical form beside the
    content, so that an empty persona and an empty scenario differ.
    """
    return version_and_text(record)[0]


def version_and_text(record: Record) -> tuple[str, str]:
    """Return the content hash of a record, and its canonical JSON."""
    text = canonical_json(record)
    encoded = text.encode("utf-8", "surrogatepass")
    content = b"%b%d:%b" % (_beginning(type(record)), len(encoded), encoded)
    return hashlib.sha256(content).hexdigest(), text


@cache
def _beginning(kind: type) -> bytes:
    """Return the text before the content of a hashed record, in the format of `digest`."""
    return _apart(type_name(kind), str(FORMAT))


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, separated by their lengths; 64 hex digits."""
    return hashlib.sha256(_apart(*parts)).hexdigest()


def _apart(*parts: str) -> bytes:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([b"%d:%b" % (len(part), part) for part in encoded])


def keyed_draw(seed: int, purpose: str, key: str) -> float:
    """Return a number in [0, 1) that depends only on its arguments.

    Keyed draws, unlike draws from a stream, are independent: adding a persona changes no other persona's draws.
    """
    return int(digest(str(seed), purpose, key)[:13], 16) / float(1 << 52)
