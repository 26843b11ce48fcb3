"""Pages keep accounts and studies of their own; everything else they ask of services, which own the store."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.house.tree import PACKAGE, modules, parsed

OWN = ("theodolite.web.models", "allauth.")
"""Models of the web application, and those of the sign-in library: second factors of accounts."""
RAW = {"connection", "connections"}
"""What gives pages SQL of their own."""

PAGES = [path for path in modules() if path.is_relative_to(PACKAGE / "web") and "migrations" not in path.parts]


def imported(tree: ast.Module) -> dict[str, str]:
    """Return the module that each imported name comes from."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
    return {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}


def queried(tree: ast.Module) -> Iterator[str]:
    """Yield the names whose `objects` a module uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "objects":
            yield ast.unparse(node.value)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pages_query_only_the_models_of_the_web_application(path):
    tree = parsed(path)
    own = imported(tree)
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)} if "models" in path.parts else {}

    assert [name for name in queried(tree) if not own.get(name, "").startswith(OWN) and name not in classes] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pages_write_no_sql_and_import_no_store(path):
    own = imported(parsed(path))

    assert [name for name, module in own.items() if module == "django.db" and name in RAW] == []
    assert [name for name, module in own.items() if module.startswith("theodolite.store")] == []
