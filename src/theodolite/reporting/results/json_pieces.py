"""JSON written piece by piece, for lists that are too long for memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from theodolite.domain.identity import Json

Flowing: TypeAlias = "Json | Mapping[str, Flowing] | Iterable[Flowing]"
"""JSON in which an iterable may stand for a list; it is gone through once."""


_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_pieces(value: Flowing, level: int = 0) -> Iterator[str]:
    """Yield a value as JSON text, one space a level; list entries of nothing but words and numbers take one line each.

    Such entries are as many as dialogues; line by line, each would take half as much room again.

    Raises:
        ValueError: If a number is NaN or infinite.
    """
    if value is None or isinstance(value, str | int | float):
        yield _text(value)
    elif isinstance(value, list) and value and all(map(_is_plain, value)):
        space = "\n" + " " * (level + 1)
        yield f"[{space}{f',{space}'.join(map(_text, value))}{space[:-1]}]"
    elif isinstance(value, Mapping):
        entries = ((f"{_text(key)}: ", entry) for key, entry in value.items())
        yield from _enclosed("{}", entries, level)
    else:
        yield from _enclosed("[]", (("", entry) for entry in value), level)


def _enclosed(ends: str, entries: Iterable[tuple[str, Flowing]], level: int) -> Iterator[str]:
    space, opened = "\n" + " " * (level + 1), False
    for name, entry in entries:
        yield f"{',' if opened else ends[0]}{space}{name}"
        if not name and isinstance(entry, dict) and all(map(_is_plain, entry.values())):
            yield _text(entry)
        else:
            yield from json_pieces(entry, level + 1)
        opened = True
    yield f"{space[:-1]}{ends[1]}" if opened else ends


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def collected(value: Flowing) -> Json:
    """Return a value with every iterable in it as a list."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: collected(entry) for key, entry in value.items()}
    return [collected(entry) for entry in value]
