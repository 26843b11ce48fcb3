"""Descriptions of keys, taken from the docstrings under them when somebody asks for a schema.

pydantic can do so while it makes the classes (`use_attribute_docstrings`), but
then every command reads and parses the source of all shapes before it starts.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from theodolite.config.shapes.base import Shape


@cache
def describe_shapes() -> None:
    """Give the keys of all shapes that were loaded their descriptions; a second call has nothing to do."""
    shapes = list(_below(Shape))
    for shape in shapes:
        for parent in reversed(shape.__mro__):
            if issubclass(parent, Shape) and parent is not Shape:
                for name, words in _docstrings_of(parent).items():
                    shape.model_fields[name].description = words
    for shape in (*shapes, *shapes):  # twice, since those that hold others may come before them
        shape.model_rebuild(force=True)


def _below(shape: type[Shape]) -> Iterator[type[Shape]]:
    for child in shape.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _docstrings_of(shape: type[Shape]) -> dict[str, str]:
    """Return field to the text that stands under it."""
    tree = ast.parse(inspect.getsource(shape))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: inspect.cleandoc(words)
        for field, said in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
        if isinstance(words := said.value.value, str)
    }
