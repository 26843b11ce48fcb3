"""The package's doors: every name that is offered exists, and is explained."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from tests.house.tree import PACKAGE, modules

NOT_DOORS = ("store",)
"""Packages that Django loads in its own order; nobody imports from them but `bootstrap`."""


def offers() -> Iterator[tuple[str, str, object]]:
    """Yield (door, name, value) for every name that a package offers; a missing value is None."""
    for path in modules():
        if path.relative_to(PACKAGE).parts[0] in NOT_DOORS:
            continue
        if path.name == "__init__.py" and "__all__" in path.read_text(encoding="utf-8"):
            door = ".".join(("theodolite", *path.parent.relative_to(PACKAGE).parts))
            module = importlib.import_module(door)
            yield from ((door, name, getattr(module, name, None)) for name in module.__all__)


def test_every_exported_name_exists():
    assert [(door, name) for door, name, value in offers() if value is None] == []


def test_every_exported_function_and_class_has_a_docstring():
    unexplained = [
        (door, name) for door, name, value in offers() if callable(value) and not (value.__doc__ or "").strip()
    ]

    assert unexplained == []


def test_no_name_is_exported_twice_by_one_package():
    names = [(door, name) for door, name, _ in offers()]

    assert sorted({name for name in names if names.count(name) > 1}) == []
