"""A workspace is copied to PostgreSQL and back without a difference."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from tests.fakes.terminal import theodolite
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"


@pytest.fixture
def url(postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database of its own: pages have tables too."""
    address = postgres_server.create()
    monkeypatch.setenv("DATABASE_URL", address)
    return address


def _study(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> Path:
    shutil.copytree(str(TOY), folder)
    monkeypatch.delenv("DATABASE_URL")
    assert theodolite("run", folder).code == 0
    monkeypatch.setenv("DATABASE_URL", url)
    return folder


def _tables(folder: Path, side: str) -> list[object]:
    copied = theodolite("copy-database", folder, "--to", side, "--json")
    assert copied.code == 0, copied.said
    return json.loads(copied.out)["tables"]


def test_a_copy_of_a_copy_equals_the_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    folder = _study(tmp_path / "toy", monkeypatch, url)
    before = json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]

    there = _tables(folder, "postgresql")
    report = theodolite("report", folder, "--json")
    (folder / ".theodolite" / "theodolite.db").rename(folder / "before.db")
    back = _tables(folder, "sqlite")
    monkeypatch.delenv("DATABASE_URL")
    again = theodolite("run", folder, "--json")

    assert report.code == 0, report.said
    assert {"store_run", "store_unit", "store_journalentry", "store_annotation"} <= {table["name"] for table in there}
    assert [table for table in back if table["name"].startswith("store_")] == [
        table for table in there if table["name"].startswith("store_")
    ]
    assert again.code == 0, again.said
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"] == before


def test_new_rows_are_numbered_after_the_copied_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    folder = _study(tmp_path / "toy", monkeypatch, url)
    _tables(folder, "postgresql")

    assert theodolite("run", folder, "--new-run").code == 0

    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT array_agg(number ORDER BY number) FROM store_run").fetchone() == ([1, 2],)


def test_a_database_with_runs_is_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    folder = _study(tmp_path / "toy", monkeypatch, url)
    _tables(folder, "postgresql")

    again = theodolite("copy-database", folder, "--to", "postgresql")

    assert again.code == 2
    assert "has 1 runs already" in again.said


def test_a_table_that_differs_rolls_the_copy_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from theodolite.bootstrap import backup

    folder = _study(tmp_path / "toy", monkeypatch, url)
    insert = backup._insert
    monkeypatch.setattr(backup, "_insert", lambda model, objects, fields: insert(model, objects[1:] or objects, fields))

    copied = theodolite("copy-database", folder, "--to", "postgresql")

    assert copied.code == 3
    assert "nothing was copied" in copied.said
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM store_run").fetchone() == (0,)


def test_a_copy_includes_large_texts_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from theodolite.store import contents

    monkeypatch.setattr(contents, "BLOB_BYTES", 200)
    folder = _study(tmp_path / "toy", monkeypatch, url)
    blobs = folder / ".theodolite" / "blobs"
    assert [*blobs.rglob("*.z")]

    _tables(folder, "postgresql")
    shutil.rmtree(blobs)

    report = theodolite("report", folder, "--json")
    assert report.code == 0, report.said
