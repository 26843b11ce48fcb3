"""Walking through shapes: which one stands at a place of a file, and which sections know a key."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import Tag

from theodolite.config.shapes.base import KIND, Shape


def keys_of(shape: type[Shape]) -> list[str]:
    """Return the keys that a shape knows, in order."""
    return [field.alias or name for name, field in shape.model_fields.items()]


def sections_with(shape: type[Shape], key: str) -> list[str]:
    """Return the sections of a file whose entries have a key, in the order of the file."""
    return [
        field.alias or name
        for name, field in shape.model_fields.items()
        if any(key in keys_of(entry) for entry in _entries(field.annotation))
    ]


def _entries(annotation: Any) -> Iterator[type[Shape]]:
    """Yield the shapes that a section is, or that its entries may have."""
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        yield annotation
    for arg in get_args(annotation):
        yield from _entries(arg)


def shape_at(annotation: Any, loc: tuple[str | int, ...]) -> type[Shape] | None:
    """Return the shape that an error's location lies in, by walking the annotations."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_at(args[0], loc)
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return _shape_in(annotation, loc)
    if origin in {Union, UnionType}:
        return _shape_of_arm(args, loc)
    if origin in {dict, list} and loc:
        return shape_at(args[-1], loc[1:])
    return None


def _shape_in(shape: type[Shape], loc: tuple[str | int, ...]) -> type[Shape] | None:
    if not loc:
        return shape
    for name, field in shape.model_fields.items():
        if (field.alias or name) == loc[0]:
            return shape_at(field.annotation, loc[1:])
    return None


def _shape_of_arm(arms: tuple[Any, ...], loc: tuple[str | int, ...]) -> type[Shape] | None:
    if loc and str(loc[0]).startswith(KIND):
        tagged = [arm for arm in arms if any(isinstance(arg, Tag) and arg.tag == loc[0] for arg in get_args(arm))]
        if tagged:
            return shape_at(tagged[0], loc[1:])
    return next((found for arm in arms if (found := shape_at(arm, loc)) is not None), None)
