"""Documents of the design name files and folders that exist.

A superseded decision is a record of its time, and so is the section `Context` of every decision.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest
from tests.house.tree import PACKAGE, ROOT

DOCUMENTS = sorted([*(ROOT / "docs" / "adr").glob("[0-9]*.md"), *(ROOT / "docs" / "explanation").glob("*.md")])
ROOTS = {path.name for folder in (PACKAGE, ROOT) for path in folder.iterdir() if not path.name.startswith(".")}
"""First parts of the paths that are checked: packages, and folders of the repository."""

FOLDERS = (PACKAGE, ROOT, PACKAGE / "web" / "templates")
"""Folders in which paths begin."""

NAMED = re.compile(r"`([\w.-]+(?:/[\w.*-]+)+)/?`")
CONTEXT = re.compile(r"^## Context\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
HISTORY = re.compile(r"^(?:Status: superseded|Supersedes|Replaces).*$", re.MULTILINE)


@cache
def exists(name: str) -> bool:
    """Tell whether a path with `*` or an upper-case part, as in `config/SECTION.py`, leads to a file or folder."""
    parts = [f"*{PurePosixPath(part).suffix}" if part.split(".")[0].isupper() else part for part in name.split("/")]
    return any(next(folder.glob("/".join(parts)), None) for folder in FOLDERS)


def named_paths(text: str) -> list[str]:
    """Return the paths that a document states as present."""
    if re.search(r"^Status: superseded by", text, re.MULTILINE):
        return []
    history = {name for line in HISTORY.findall(text) for name in NAMED.findall(line)}
    names = NAMED.findall(CONTEXT.sub("", text))
    return [name for name in names if name.split("/")[0] in ROOTS and name not in history]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_every_named_path_exists(document: Path):
    gone = [name for name in named_paths(document.read_text(encoding="utf-8")) if not exists(name)]

    assert gone == []


def test_paths_outside_history_are_checked():
    text = "Status: accepted.\nSupersedes `store/a`.\n## Context\n`store/b`\n## Decision\n`store/c.py`, `s/NAME`\n"

    assert named_paths(text) == ["store/c.py"]
    assert named_paths(f"Status: superseded by 9.\n{text}") == []
    assert (exists("config/SECTION.py"), exists("store/event_*.py"), exists("store/gone.py")) == (True, True, False)
