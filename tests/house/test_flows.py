"""The flows in architecture.md name functions that exist, and each one is used by an earlier file."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

import pytest
from tests.house.tree import PACKAGE, ROOT, parsed

ARCHITECTURE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"^(?P<file>[\w/]+\.py) +(?P<name>\w+) ", re.MULTILINE)
FLOWS = ("From a persona's row to results.json", "From an annotator's answer to the report")
MOST_FILES = 30
"""Files of one flow at most: as many as a newcomer reads in a morning."""


def drawing(flow: str) -> str:
    """Return the drawing of a flow; an empty line stands between its requests or commands."""
    return ARCHITECTURE.partition(f"## {flow}\n")[2].partition("\n## ")[0]


def steps(flow: str) -> list[tuple[str, str]]:
    """Return file and function of each step."""
    return STEP.findall(drawing(flow))


def used_in(file: str) -> set[str]:
    """Return the names that a file uses: variables, attributes and what it imports."""
    nodes = list(ast.walk(parsed(PACKAGE / file)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names | {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def defined_in(file: str) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(parsed(PACKAGE / file)) if isinstance(node, kinds)}


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_has_few_files_and_each_exists_with_its_functions(flow):
    drawn = steps(flow)

    assert 15 <= len({file for file, _ in drawn}) <= MOST_FILES
    assert [file for file, _ in drawn if not (PACKAGE / file).is_file()] == []
    assert [f"{file}: {name}" for file, name in drawn if name not in defined_in(file)] == []


@pytest.mark.parametrize("flow", FLOWS)
def test_each_step_is_used_by_an_earlier_one(flow):
    for part in drawing(flow).split("\n\n"):
        drawn = STEP.findall(part)
        known: set[str] = set()
        for (file, _), (_, name) in pairwise(drawn):
            known |= used_in(file)
            assert name in known, f"draw the step that calls `{name}`, or the function that is called"
