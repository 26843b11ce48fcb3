"""Full disks, places one may not write to, and databases from the future."""

import resource
import sqlite3
from contextlib import closing

import pytest

from tests.fakes.terminal import in_a_fresh_process, theodolite

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]


def test_a_full_disk_ends_in_words_and_loses_nothing_that_was_told(study, server):
    study.write(n=400)
    theodolite("run", study.folder, "--first", "1")
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


def test_a_workspace_that_cannot_be_made_is_named(study):
    folder = study.write()
    (folder / ".theodolite").write_text("a file where the folder should be", encoding="utf-8")

    ended = theodolite("run", folder)

    assert ended.code == 3
    assert f"the workspace `{folder}/.theodolite` could not be made" in ended.err


def test_a_report_that_cannot_be_written_costs_nothing_but_the_report(study, server):
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
def test_a_database_of_a_newer_version_is_left_alone(study, command):
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


def test_a_file_that_is_no_database_is_said_and_left_alone(study):
    folder = study.write(n=1)
    (folder / ".theodolite").mkdir()
    database = folder / ".theodolite" / "theodolite.db"
    database.write_bytes(b"these are my notes, not a database " * 40)
    before = database.read_bytes()

    ended = theodolite("run", folder)

    assert (ended.code, database.read_bytes()) == (3, before)
    assert "Traceback" not in ended.said


def test_a_database_server_that_is_away_is_said_without_its_password(study, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hush-hush@127.0.0.1:9/theodolite")

    ended = theodolite("run", study.write(n=1))

    assert ended.code == 3
    assert "hush-hush" not in ended.said
    assert "127.0.0.1" in ended.err
