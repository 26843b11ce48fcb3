"""Full disks, read-only folders, and databases of newer versions."""

import resource
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from tests.fakes.terminal import in_a_fresh_process, started, theodolite
from tests.integration.run.conftest import asked
from theodolite.bootstrap.connections import SystemClock

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

CALLS_A_DIALOGUE = 3
"""A prompt of the simulated user, a reply and a verdict; count."""


def test_a_full_disk_ends_with_a_message_and_loses_no_acknowledged_result(study, server):
    study.write(n=400)
    theodolite("run", study.folder, "--limit", "1")
    full = (study.folder / ".theodolite" / "theodolite.db").stat().st_size + 16_384

    ended = in_a_fresh_process(
        "run", study.folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))
    )

    assert ended.code == 3
    assert "Traceback" not in ended.said
    assert "theodolite.db" in ended.err

    again = theodolite("run", study.folder)

    assert again.code == 0, again.said
    assert study.rate()["n"] == 400


def test_a_workspace_that_cannot_be_created_is_named(study):
    folder = study.write()
    (folder / ".theodolite").write_text("a file where the folder should be", encoding="utf-8")

    ended = theodolite("run", folder)

    assert ended.code == 3
    assert f"the workspace `{folder}/.theodolite` could not be made" in ended.err


def test_a_report_that_cannot_be_written_affects_no_other_file(study, server):
    folder = study.write(n=2)
    (folder / "report.html").mkdir()

    ended = theodolite("run", folder)
    elsewhere = theodolite("report", folder, "--out", folder / "elsewhere")

    assert ended.code == 3
    assert "report.html` cannot be written" in ended.err
    assert "Name another place with --out" in ended.err
    assert elsewhere.code == 0
    assert (folder / "elsewhere" / "report.html").exists()


@pytest.mark.parametrize("command", ["run", "report", "show"])
def test_a_database_of_a_newer_version_is_not_changed(study, command):
    theodolite("run", study.write(n=1))
    with closing(sqlite3.connect(study.folder / ".theodolite" / "theodolite.db")) as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('store', '9999_new', '2030-01-01')"
        )
        database.commit()

    ended = theodolite(command, study.folder, *(["d001"] if command == "show" else []))

    assert ended.code == 3
    assert "was written by a newer version of Theodolite" in ended.err
    assert "Install the newer version, or use another folder" in ended.err


def test_a_file_that_is_no_database_is_reported_and_not_changed(study):
    folder = study.write(n=1)
    (folder / ".theodolite").mkdir()
    database = folder / ".theodolite" / "theodolite.db"
    database.write_bytes(b"these are my notes, not a database " * 40)
    before = database.read_bytes()

    ended = theodolite("run", folder)

    assert (ended.code, database.read_bytes()) == (3, before)
    assert "Traceback" not in ended.said


def _cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _overwrite(file, start, n=4096):
    whole = bytearray(file.read_bytes())
    whole[start : start + n] = b"\xff" * len(whole[start : start + n])
    file.write_bytes(bytes(whole))


def _replace_by_folder(file):
    file.unlink()
    file.mkdir()


DAMAGES = {
    "cut": _cut,
    "head overwritten": lambda file: _overwrite(file, 0, 100),
    "a page overwritten": lambda file: _overwrite(file, 4096),
    "pages overwritten": lambda file: [_overwrite(file, 4096 * page) for page in (2, 5, 9, 14)],
    "a folder in its place": _replace_by_folder,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("command", ["run", "status", "report"])
def test_a_damaged_database_is_reported_with_a_message(study, damage, command):
    theodolite("run", study.write(n=2))
    DAMAGES[damage](study.folder / ".theodolite" / "theodolite.db")

    ended = theodolite(command, study.folder)

    # 0 where the damage lies in pages that the command does not read, 2 where nothing was ever run
    assert ended.code in ({0, 2, 3} if command == "status" else {0, 3}), ended.said
    assert "Traceback" not in ended.said


def test_a_folder_may_have_any_name(study, server, tmp_path):
    study.write(n=2)
    folder = tmp_path / "Prüfung 1 試験 %20 ?mode=ro #x"
    study.folder.rename(folder)

    assert theodolite("run", folder).code == 0
    assert theodolite("report", folder).code == 0
    assert (folder / ".theodolite" / "theodolite.db").is_file()


def test_a_clock_change_between_two_parts_of_a_run_repeats_no_call(study, server, monkeypatch):
    study.write(n=6)
    theodolite("run", study.folder, "--limit", "3")
    before, now = asked(server), SystemClock.now

    for days in (-1, 100):
        monkeypatch.setattr(SystemClock, "now", lambda self, days=days: now(self) + timedelta(days=days))
        assert theodolite("run", study.folder).code == 0

    assert study.rate()["n"] == 6
    assert asked(server) == 2 * before


def test_two_processes_of_one_run_repeat_no_call(study, server):
    study.write(n=20)

    with started("run", study.folder) as first, started("run", study.folder) as second:
        first.wait(), second.wait()
    again = theodolite("run", study.folder)

    assert again.code == 0, again.said
    assert study.rate()["n"] == 20
    assert asked(server) == 20 * CALLS_A_DIALOGUE


def test_an_unreachable_database_server_is_reported_without_its_password(study, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hush-hush@127.0.0.1:9/theodolite")

    ended = theodolite("run", study.write(n=1))

    assert ended.code == 3
    assert "hush-hush" not in ended.said
    assert "127.0.0.1" in ended.err
