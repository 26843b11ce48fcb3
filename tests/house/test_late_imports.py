"""Imports inside functions and imports for type checkers: each has a reason, and their number only falls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.house.tree import PACKAGE, modules, parsed

OPTIONAL = {
    "azure",
    "botocore",
    "google",
    "inspect_ai",
    "marshmallow",
    "mcp",
    "mcp_types",
    "mlflow",
    "opentelemetry",
    "pandas",
    "psycopg",
    "pyarrow",
    "ray",
    "resvg_py",
}
"""Modules that extras install."""

TABLES = ("django", "theodolite.store", "theodolite.annotation", "theodolite.events", "theodolite.bootstrap.migration")
"""What can be imported after Django is set up."""

DOORS = ("__init__.py", "measurement/__init__.py", "plugins/__init__.py")
"""Packages that import an exported name at its first use."""

BOUNDS = {"optional": 41, "command": 40, "door": 3, "tables": 32, "library": 19, "start": 80}
"""Largest number of imports inside functions by reason; count.

- `optional`: a package that an extra installs.
- `command`: what only one command uses; see `test_start.py`.
- `door`: an exported name of a lazy package.
- `tables`: a module that needs Django to be set up.
- `library`: a library, or a part of the standard library, that few runs use.
- `start`: a module of ours that the smallest run does not load; see `test_start.py`.
"""

MOST_BLOCKS = 59
"""Largest number of blocks of imports for type checkers; count."""


def imported(node: ast.Import | ast.ImportFrom) -> str:
    """Return the module that an import names."""
    return node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name


def in_functions(node: ast.AST, *, is_inside: bool = False) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports within functions below a node; imports are statements, so expressions are left out."""
    for child in ast.iter_child_nodes(node):
        if is_inside and isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            within = is_inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from in_functions(child, is_inside=within)


LATE = [(path, imported(node)) for path in modules() for node in in_functions(parsed(path))]
"""The files with imports inside functions, and what they import."""


def reason(path: Path, module: str) -> str:
    """Return the reason for which a file may import a module late; empty if there is none."""
    where, top = path.relative_to(PACKAGE), module.partition(".")[0]
    if str(where) in DOORS:
        return "door"
    if where.parts[0] == "cli":
        return "command"
    if top in OPTIONAL:
        return "optional"
    if where.parts[0] in {"bootstrap", "web"} and module.startswith(TABLES):
        return "tables"
    if top != "theodolite":
        return "library"
    return "" if where.parts[0] in {"annotation", "demo", "dry_run", "events", "reporting", "testing"} else "start"


COUNTS = Counter(reason(path, module) for path, module in LATE)


def n_blocks() -> int:
    """Return the number of blocks that only type checkers read."""
    tests = (node.test for path in modules() for node in parsed(path).body if isinstance(node, ast.If))
    return sum(ast.unparse(test).endswith("TYPE_CHECKING") for test in tests)


def test_each_late_import_has_a_reason():
    assert [(str(path.relative_to(PACKAGE)), name) for path, name in LATE if not reason(path, name)] == []


@pytest.mark.parametrize("why", BOUNDS)
def test_late_imports_only_become_fewer(why):
    assert COUNTS[why] <= BOUNDS[why], "import at the top, or move the function to the module that it needs"


def test_imports_for_type_checkers_only_become_fewer():
    assert n_blocks() <= MOST_BLOCKS, "import at the top, unless tests/house/test_start.py forbids it"


def test_the_bounds_are_minimal():
    assert {why: COUNTS[why] for why in BOUNDS} == BOUNDS
    assert n_blocks() == MOST_BLOCKS


def test_no_module_imports_itself():
    own = {path: ".".join(("theodolite", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in modules()}

    assert [name for path, name in LATE if name == own[path]] == []


def test_the_list_of_optional_modules_is_minimal():
    used = {name.partition(".")[0] for _, name in LATE}

    assert sorted(OPTIONAL - used) == []
