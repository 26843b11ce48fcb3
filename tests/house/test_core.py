"""What the import contracts cannot see: builtins, and words that promise later work."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.house.tree import CORE, ROOT, modules, parsed

TOUCHING_THE_WORLD = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")


def builtin_calls(path: Path) -> list[str]:
    calls = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    return [
        f"{path.relative_to(ROOT)}:{call.lineno} {call.func.id}()"
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in TOUCHING_THE_WORLD
    ]


@pytest.mark.parametrize("package", CORE)
def test_the_core_calls_no_builtin_with_side_effects(package):
    assert [call for path in modules(package) for call in builtin_calls(path)] == []


def test_no_marker_of_unfinished_work_remains():
    found = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in modules()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]

    assert found == []


def test_assertions_in_the_package_do_not_validate_input():
    asserts = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Assert)
    ]

    assert asserts == []
