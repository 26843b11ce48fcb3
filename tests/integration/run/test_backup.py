"""A workspace is backed up to one file while it is in use, and restored to either database."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study that has run, with a text beside its database."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    folder = tmp_path / "toy"
    shutil.copytree(str(TOY), folder)
    assert theodolite("run", folder).code == 0
    blob = folder / ".theodolite" / "blobs" / "ab" / "abcd.z"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"a large text")
    (folder / ".theodolite" / "secret.key").write_text("secret", encoding="utf-8")
    return folder


def _backup(folder: Path, target: Path) -> dict[str, object]:
    made = theodolite("backup", folder, "--out", target, "--json")
    assert made.code == 0, made.said
    return json.loads(made.out)


def _another(folder: Path, name: str) -> Path:
    """Return the same study without a workspace, as on another machine."""
    other = folder.with_name(name)
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns(".theodolite"))
    return other


def _estimates(folder: Path) -> object:
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]


def test_a_restored_workspace_repeats_no_call_and_has_the_same_results(folder: Path, tmp_path: Path) -> None:
    made = _backup(folder, tmp_path / "one.backup")
    other = _another(folder, "other")

    restored = theodolite("restore", other, tmp_path / "one.backup", "--json")
    again = theodolite("run", other, "--json")

    assert restored.code == 0, restored.said
    assert json.loads(restored.out) == made
    assert again.code == 0, again.said
    assert "nothing to run" in again.said
    assert _estimates(other) == _estimates(folder)
    assert (other / ".theodolite" / "blobs" / "ab" / "abcd.z").read_bytes() == b"a large text"
    assert (other / ".theodolite" / "secret.key").read_text(encoding="utf-8") == "secret"
    assert stat.S_IMODE((tmp_path / "one.backup").stat().st_mode) == 0o600


def test_backups_move_between_the_databases(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgres_server: PostgresServer,
) -> None:
    of_file = _backup(folder, tmp_path / "file.backup")
    on_postgresql, back = _another(folder, "there"), _another(folder, "back")
    monkeypatch.setenv("DATABASE_URL", postgres_server.create())

    there = theodolite("restore", on_postgresql, tmp_path / "file.backup")
    report = theodolite("report", on_postgresql, "--json")
    of_server = _backup(on_postgresql, tmp_path / "server.backup")
    twice = theodolite("restore", _another(folder, "twice"), tmp_path / "file.backup")
    monkeypatch.delenv("DATABASE_URL")
    here = theodolite("restore", back, tmp_path / "server.backup")
    again = theodolite("run", back)

    assert (there.code, report.code, here.code, again.code) == (0, 0, 0, 0), there.said + here.said + again.said
    assert twice.code == 2
    assert "has 1 runs already" in twice.said
    assert {file["path"] for file in of_server["files"]} == {file["path"] for file in of_file["files"]}
    assert "nothing to run" in again.said
    assert _estimates(back) == _estimates(folder)


def test_a_backup_is_consistent_during_concurrent_writes(folder: Path, tmp_path: Path) -> None:
    file = folder / ".theodolite" / "theodolite.db"
    with sqlite3.connect(file) as writer:
        writer.execute("CREATE TABLE extra (n INTEGER)")
        writer.execute("INSERT INTO extra VALUES (1)")
        writer.commit()
        writer.execute("INSERT INTO extra VALUES (2)")  # not committed

        _backup(folder, tmp_path / "one.backup")

    with zipfile.ZipFile(tmp_path / "one.backup") as archive:
        archive.extract("theodolite.db", tmp_path)
    with sqlite3.connect(tmp_path / "theodolite.db") as copy:
        assert copy.execute("SELECT n FROM extra").fetchall() == [(1,)]


def test_an_existing_database_and_a_different_key_are_never_replaced(folder: Path, tmp_path: Path) -> None:
    _backup(folder, tmp_path / "one.backup")
    other = _another(folder, "other")
    (other / ".theodolite").mkdir()
    (other / ".theodolite" / "secret.key").write_text("another", encoding="utf-8")

    over = theodolite("restore", folder, tmp_path / "one.backup")
    beside = theodolite("restore", other, tmp_path / "one.backup")
    twice = theodolite("backup", folder, "--out", tmp_path / "one.backup")

    assert (over.code, beside.code, twice.code) == (2, 2, 2)
    assert "has a database already" in over.said
    assert "secret.key" in beside.said
    assert "exists" in twice.said
    assert sorted(path.name for path in (other / ".theodolite").iterdir()) == [".gitignore", "secret.key"]


def _damaged(source: Path, target: Path, changes: dict[str, bytes]) -> Path:
    """Return a copy of a backup with other contents of some files, stored under the same hashes."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, old.read(name)))
    return target


def test_a_damaged_backup_restores_nothing(folder: Path, tmp_path: Path) -> None:
    _backup(folder, tmp_path / "one.backup")
    with zipfile.ZipFile(tmp_path / "one.backup") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    outside = {**manifest, "files": [*manifest["files"], {"path": "../evil", "size": 1, "sha256": "00"}]}
    later = {**manifest, "format": 2}
    files = {
        "changed": {"blobs/ab/abcd.z": b"another text"},
        "outside": {"manifest.json": json.dumps(outside).encode()},
        "later": {"manifest.json": json.dumps(later).encode()},
        "nothing": {"manifest.json": b"{}"},
    }
    (tmp_path / "text.backup").write_text("no archive", encoding="utf-8")
    paths = [_damaged(tmp_path / "one.backup", tmp_path / f"{name}.backup", what) for name, what in files.items()]
    other = _another(folder, "other")

    for path in [*paths, tmp_path / "text.backup", tmp_path / "missing.backup"]:
        restored = theodolite("restore", other, path)

        assert restored.code == 2, path
        assert path.name in restored.said
        assert [file.name for file in (other / ".theodolite").iterdir()] == [".gitignore"], path
    assert not (other / "evil").exists()


def test_a_study_without_a_run_has_nothing_to_back_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    shutil.copytree(str(TOY), tmp_path / "toy")

    made = theodolite("backup", tmp_path / "toy", "--out", tmp_path / "one.backup")

    assert made.code == 2
    assert "no database to back up" in made.said
    assert not (tmp_path / "one.backup").exists()
