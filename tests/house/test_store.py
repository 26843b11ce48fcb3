"""The store keeps no state of its own, and what shows or rehearses an event is in no runtime package."""

from __future__ import annotations

import ast

import pytest
from tests.house.tree import PACKAGE, modules, parsed

CACHES = {"cache", "lru_cache"}

PREPARED = {"statements.py"}
"""Where texts of SQL statements are kept: they depend on the classes of rows alone, never on rows."""

STORE = [path for path in modules("store") if path.name not in PREPARED]

OUTSIDE = ("demo", "dry_run")
"""Packages of the seeded event and of bots; only commands load them."""


@pytest.mark.parametrize("path", STORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_store_caches_no_rows_in_the_process(path):
    names = {node.id for node in ast.walk(parsed(path)) if isinstance(node, ast.Name)}
    changed = [name for node in ast.walk(parsed(path)) if isinstance(node, ast.Global) for name in node.names]

    assert sorted(names & CACHES) + changed == []


@pytest.mark.parametrize("path", STORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_store_has_no_global_collection_that_grows(path):
    empty = [
        ast.unparse(node)
        for node in parsed(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and (
            (isinstance(node.value, ast.Dict | ast.List) and not ast.unparse(node.value).strip("{}[]"))
            or (
                isinstance(node.value, ast.Call)
                and ast.unparse(node.value.func) in {"dict", "list", "set", "defaultdict"}
            )
        )
    ]

    assert empty == []


def test_bots_are_in_no_runtime_package():
    found = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in modules()
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Bot", "Bots"))
    ]

    assert [one for one in found if not one.startswith("dry_run/")] == []
    assert found != []


def test_only_commands_load_the_seeded_event_and_the_bots():
    found = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules()
        if any(f"theodolite.{name}" in path.read_text(encoding="utf-8") for name in OUTSIDE)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(tuple(f"theodolite.{n}" for n in OUTSIDE))
    }

    assert found - set(OUTSIDE) == {"cli"}
