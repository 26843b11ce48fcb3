"""The notebook of the documents does what it shows."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.house.tree import ROOT
from tools import notebook


@pytest.mark.integration
def test_the_notebook_its_page_and_its_figure_equal_the_output_of_its_cells():
    stored = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    made = notebook.files_of(asyncio.run(notebook.executed(stored)))

    assert {name: notebook.NOTEBOOK.with_name(name).read_text(encoding="utf-8") for name in made} == made
    assert {name.rpartition(".")[2] for name in made} == {"ipynb", "md", "svg"}


def test_the_notebook_has_ten_lines():
    cells = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    lines = [line for cell in cells if cell["cell_type"] == "code" for line in cell["source"] if line.strip()]

    assert len(lines) == 10
    assert (ROOT / "docs" / "README.md").read_text(encoding="utf-8").count(notebook.PAGE.name) == 1
