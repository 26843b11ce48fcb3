"""Descriptions of keys, taken from the docstrings under them when somebody asks for a schema.

pydantic can do so while it makes the classes (`use_attribute_docstrings`), but
then every command reads and parses the source of all specs before it starts.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from theodolite.config.specs.base import Spec


@cache
def describe_specs() -> None:
    """Give the keys of all specs that were loaded their descriptions; a second call has nothing to do."""
    specs = list(_below(Spec))
    for spec in specs:
        for parent in reversed(spec.__mro__):
            if issubclass(parent, Spec) and parent is not Spec:
                for name, words in _docstrings_of(parent).items():
                    spec.model_fields[name].description = words
    for spec in (*specs, *specs):  # twice, since those that hold others may come before them
        spec.model_rebuild(force=True)


def _below(spec: type[Spec]) -> Iterator[type[Spec]]:
    for child in spec.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _docstrings_of(spec: type[Spec]) -> dict[str, str]:
    """Return field to the text that stands under it."""
    tree = ast.parse(inspect.getsource(spec))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: inspect.cleandoc(words)
        for field, said in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
        if isinstance(words := said.value.value, str)
    }
