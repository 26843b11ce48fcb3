"""Execute the notebook of the documents and write its outputs, its page and its figures.

python tools/notebook.py           executes it and writes everything
python tools/notebook.py --check   exits with 1 if a file is out of date

The notebook is JSON (nbformat 4). A cell is executed as Jupyter does: in a thread with a
running event loop, with its source known to `inspect`; the value of its last expression is shown.
"""

from __future__ import annotations

import ast
import asyncio
import json
import linecache
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = DOCS / "tutorial" / "notebook.ipynb"
PAGE = NOTEBOOK.with_suffix(".md")
NOTE = """
This page is made by `make docs` from [notebook.ipynb](notebook.ipynb), which the tests execute.
"""

_SVG = re.compile(r"<svg.*?</svg>\n?", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


@contextmanager
def working_folder() -> Iterator[None]:
    """Work in an empty folder; it is deleted at the end."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def shown_by(source: str, names: dict[str, Any], place: str) -> object:
    """Execute a cell and return the value of its last expression; None if it ends with a statement."""
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, place, "exec"), names)  # noqa: S102 - our own notebook
    return eval(compile(ast.Expression(last.value), place, "eval"), names) if isinstance(last, ast.Expr) else None  # noqa: S307 - our own notebook


async def executed(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[dict[str, Any]] = []
    with working_folder():
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            number = sum(one["cell_type"] == "code" for one in cells) + 1
            value = shown_by("".join(cell["source"]), names, f"<cell {number}>")
            cells.append({**cell, "execution_count": number, "outputs": outputs_of(value, number)})
    return {**notebook, "cells": cells}


def outputs_of(value: object, number: int) -> list[dict[str, Any]]:
    """Return the output of a cell: the text of its value, and its rich form where it has one."""
    if value is None:
        return []
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return [{"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}]


def page_of(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Return the page of an executed notebook and its figures, by file name."""
    files: dict[str, str] = {}
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```\n" if cell["cell_type"] == "code" else f"{source}\n")
        if len(parts) == 1:
            parts.append(NOTE.lstrip())
        for output in cell.get("outputs", ()):
            parts += _shown(output["data"], files)
    return {PAGE.name: "\n".join(parts), **files}


def _shown(data: Mapping[str, Sequence[str]], files: dict[str, str]) -> Iterator[str]:
    """Yield an output as Markdown; its figures are added to the files."""
    html = "".join(data.get("text/html", ()))
    for figure in _SVG.findall(html):
        name = f"{NOTEBOOK.stem}-{len(files) + 1}.svg"
        files[name] = figure
        title = _TAG.sub("", figure[figure.index("<title>") : figure.index("</title>")])
        yield f"![Rates with intervals: {title}]({name})\n"
    yield f"```text\n{''.join(data['text/plain'])}\n```\n"


def files_of(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Return all files of a notebook that has been executed, by name."""
    return {NOTEBOOK.name: json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", **page_of(notebook)}


def main(arguments: list[str]) -> None:
    """Write the files, or compare them."""
    notebook = asyncio.run(executed(json.loads(NOTEBOOK.read_text(encoding="utf-8"))))
    for name, text in files_of(notebook).items():
        file = NOTEBOOK.with_name(name)
        if "--check" not in arguments:
            file.write_text(text, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            sys.exit(f"{name} is out of date; type  make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
