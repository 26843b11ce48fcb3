"""The source tree as the house tests see it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "theodolite"
CORE = ("domain", "testing", "assessment", "measurement", "reporting")
NOT_OURS_TO_SIZE = ("migrations", "resources")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def modules(*packages: str) -> list[Path]:
    """Return our Python files, of some packages or of all."""
    folders = [PACKAGE / name for name in packages] or [PACKAGE]
    found = (path for folder in folders for path in sorted(folder.rglob("*.py")))
    return [path for path in found if not set(path.relative_to(PACKAGE).parts) & set(NOT_OURS_TO_SIZE)]


def functions(path: Path) -> Iterator[FunctionNode]:
    """Yield every function of a file."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, FunctionNode):
            yield node


def body_lines(node: FunctionNode) -> int:
    """Return the lines of a function's body, its docstring not counted."""
    statements = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def place(path: Path, node: FunctionNode | ast.ClassDef) -> str:
    """Return where something stands, for messages."""
    return f"{path.relative_to(ROOT)}: {node.name}"


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return the files under version control, or all of a plain copy without it."""
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        names = listing.stdout.decode().rstrip("\0").split("\0")
        return tuple(path for name in names if (path := ROOT / name).is_file())
    hidden = {".venv", ".git", "dist", "theodolite-demo"}
    return tuple(path for path in ROOT.rglob("*") if path.is_file() and not hidden & set(path.parts))
