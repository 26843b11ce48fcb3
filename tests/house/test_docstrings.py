"""Docstrings that say what a record holds, or a function takes, say it of everything and of nothing else."""

from __future__ import annotations

import ast
import re

import pytest
from tests.house.tree import FunctionNode, functions, modules, parsed, place

NAMED = re.compile(r"^ {4}\*{0,2}(?P<name>\w+):", re.MULTILINE)


def named(node: ast.ClassDef | FunctionNode, section: str) -> list[str]:
    """Return what a section of a docstring names; nothing where there is no such section."""
    lines = re.search(rf"^{section}:\n((?: {{4}}.*(?:\n|$)|\n)+)", ast.get_docstring(node) or "", re.MULTILINE)
    return NAMED.findall(lines[1]) if lines else []


def fields(record: ast.ClassDef) -> list[str]:
    """Return the public fields of a record, without class variables."""
    annotated = (line for line in record.body if isinstance(line, ast.AnnAssign))
    found = (line.target for line in annotated if not ast.unparse(line.annotation).startswith("ClassVar"))
    return [target.id for target in found if isinstance(target, ast.Name) and not target.id.startswith("_")]


def arguments(function: FunctionNode) -> list[str]:
    """Return the arguments of a function, the object that it belongs to left out."""
    given = function.args
    rest = [one for one in (given.vararg, given.kwarg) if one is not None]
    every = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *rest)]
    return [name for name in every if name not in {"self", "cls"} and not name.startswith("_")]


def is_record(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(mark) for mark in node.decorator_list)


def test_a_section_on_attributes_names_every_field_and_no_other():
    records = [(path, node) for path in modules() for node in ast.walk(parsed(path)) if is_record(node)]
    told = ((place(path, node), named(node, "Attributes"), fields(node)) for path, node in records)

    assert {where: sorted({*names} ^ {*held}) for where, names, held in told if names and {*names} != {*held}} == {}


def test_a_section_on_arguments_names_every_argument_and_no_other():
    every = ((path, node) for path in modules() for node in functions(path))
    told = ((place(path, node), named(node, "Args"), arguments(node)) for path, node in every)

    assert {where: sorted({*names} ^ {*taken}) for where, names, taken in told if names and {*names} != {*taken}} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A record.", []),
        ("A record.\n\nAttributes:\n    one: It.\n        That: two lines.\n    two: Both.\n", ["one", "two"]),
        ("A record.\n\nAttributes:\n    one: It.\n\nRaises:\n    Other: Never.\n", ["one"]),
    ],
    ids=["no section", "longer lines", "another section"],
)
def test_a_section_is_parsed_as_rendered(text, names):
    record = ast.parse(f"class Record:\n    {text!r}").body[0]

    assert named(record, "Attributes") == names
