"""The command has the same results on a real PostgreSQL server and on SQLite."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from tests.databases import Database
from tests.fakes.terminal import theodolite

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"


def _toy(folder: Path) -> Path:
    shutil.copytree(str(TOY), folder)
    return folder


def _estimates(folder: Path) -> list[object]:
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]


def test_results_on_postgresql_equal_those_on_sqlite(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Database,
) -> None:
    on_file, on_server = _toy(tmp_path / "file"), _toy(tmp_path / "server")
    assert theodolite("run", on_file).code == 0
    monkeypatch.setenv("DATABASE_URL", postgresql.url)

    first, again = theodolite("run", on_server, "--limit", "3"), theodolite("run", on_server)

    assert (first.code, again.code) == (0, 0), first.said + again.said
    assert _estimates(on_server) == _estimates(on_file)
    assert not (on_server / ".theodolite" / "theodolite.db").exists()
