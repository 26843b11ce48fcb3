"""The size budgets of the house."""

from __future__ import annotations

import ast

import pytest
from tests.house.tree import PACKAGE, ROOT, body_lines, functions, modules, parsed, place

LONGEST_BODY = 40
LONGEST_FILE = 700
LONGEST_CLASS = 300
WHOLE = {"worker.py": 800}
"""Files that must be one: the worker runs on interpreters that have nothing of ours, and imports nothing (ADR-0052)."""
LONGEST_INIT = 40
LONGEST_TEST = 40
DOORS = ("measurement",)
"""Packages whose `__init__` is a public door and may name as much as it opens."""


def length(path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_function_body_is_longer_than_the_limit():
    long = {place(path, node): body_lines(node) for path in modules() for node in functions(path)}

    assert {where: lines for where, lines in long.items() if lines > LONGEST_BODY} == {}


def test_no_file_is_longer_than_the_limit():
    lengths = {path: length(path) for path in modules()}

    assert {
        str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > WHOLE.get(path.name, LONGEST_FILE)
    } == {}


def test_no_class_is_both_a_record_and_a_service():
    classes = ((path, node) for path in modules() for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef))
    sizes = {place(path, node): (node.end_lineno or 0) - node.lineno + 1 for path, node in classes}

    assert {where: lines for where, lines in sizes.items() if lines > LONGEST_CLASS} == {}


def test_package_files_only_import_names():
    inits = [path for path in modules() if path.name == "__init__.py" and path.parent.name not in DOORS]

    assert {str(path.relative_to(ROOT)): length(path) for path in inits if length(path) > LONGEST_INIT} == {}


def test_no_test_is_longer_than_the_limit():
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    sizes = {place(path, node): body_lines(node) for path in tests for node in functions(path)}

    assert {where: lines for where, lines in sizes.items() if lines > LONGEST_TEST} == {}


@pytest.mark.parametrize("name", ["utils", "util", "helpers", "common", "core", "misc", "tools"])
def test_no_module_has_a_generic_name(name):
    assert [path for path in PACKAGE.rglob("*") if path.stem == name] == []
