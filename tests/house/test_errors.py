"""The tree of errors is the one that is drawn at the top of its file."""

from __future__ import annotations

import re

from theodolite.domain import errors

LINE = re.compile(r"^(?P<indent>[│├└─ ]*)(?P<name>[A-Z]\w+)", re.MULTILINE)


def drawn() -> set[tuple[str, str]]:
    """Return (child, parent) for each branch of the drawing."""
    branches, path = set(), []
    for line in LINE.finditer((errors.__doc__ or "").partition("\n\n")[2]):
        depth = len(line["indent"]) // 4
        path = [*path[:depth], line["name"]]
        if depth:
            branches.add((path[-1], path[-2]))
    return branches


def test_the_diagram_shows_every_error_under_its_parent():
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    real = {(error.__name__, error.__base__.__name__) for error in classes if error is not errors.TheodoliteError}

    assert drawn() == real
