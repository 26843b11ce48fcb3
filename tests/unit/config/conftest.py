"""What the tests of study files share."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

RESOURCES = Path(str(resources.files("theodolite.resources")))


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files into a study's folder and returns the folder."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_csv", ".csv").replace("_yaml", ".yaml")
            path = path.with_name(path.name.replace("_md", ".md").replace("_py", ".py"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


@pytest.fixture
def shipped_folder():
    """Return a function that gives the place of a shipped folder."""
    return lambda name: RESOURCES / name
