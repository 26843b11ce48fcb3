"""Finds the spec at a location of a file and the sections that have a key."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import Tag

from theodolite.config.specs.base import KIND, Spec


def keys_of(spec: type[Spec]) -> list[str]:
    """Return the keys of a spec, in order."""
    return [field.alias or name for name, field in spec.model_fields.items()]


def sections_with(spec: type[Spec], key: str) -> list[str]:
    """Return the sections of a file whose entries have a key, in the order of the file."""
    return [
        field.alias or name
        for name, field in spec.model_fields.items()
        if any(key in keys_of(entry) for entry in _entries(field.annotation))
    ]


def _entries(annotation: Any) -> Iterator[type[Spec]]:
    """Yield the specs that a section is, or that its entries may have."""
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
    for arg in get_args(annotation):
        yield from _entries(arg)


def spec_at(annotation: Any, loc: tuple[str | int, ...]) -> type[Spec] | None:
    """Return the spec that an error's location lies in, by walking the annotations."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return spec_at(args[0], loc)
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        return _spec_in(annotation, loc)
    if origin in {Union, UnionType}:
        return _spec_of_arm(args, loc)
    if origin in {dict, list} and loc:
        return spec_at(args[-1], loc[1:])
    return None


def _spec_in(spec: type[Spec], loc: tuple[str | int, ...]) -> type[Spec] | None:
    if not loc:
        return spec
    for name, field in spec.model_fields.items():
        if (field.alias or name) == loc[0]:
            return spec_at(field.annotation, loc[1:])
    return None


def _spec_of_arm(arms: tuple[Any, ...], loc: tuple[str | int, ...]) -> type[Spec] | None:
    if loc and str(loc[0]).startswith(KIND):
        tagged = [arm for arm in arms if any(isinstance(arg, Tag) and arg.tag == loc[0] for arg in get_args(arm))]
        if tagged:
            return spec_at(tagged[0], loc[1:])
    return next((found for arm in arms if (found := spec_at(arm, loc)) is not None), None)
