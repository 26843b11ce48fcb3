"""Migrations of a workspace."""

from __future__ import annotations

import io
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command
from filelock import FileLock

from tests.contract.given import a_plan, a_study
from tests.databases import Database
from tests.postgres import PostgresServer
from theodolite.bootstrap import migration
from theodolite.bootstrap.database import DATABASE_NAME, database_settings, open_store
from theodolite.domain.errors import WrongSchema
from theodolite.store.executor import database_thread

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def test_the_migrations_match_the_models(sqlite: Database) -> None:
    sqlite.open()
    said = io.StringIO()

    with database_thread(database_settings(sqlite.workspace)) as desk:
        desk.call(lambda: call_command("makemigrations", "--check", "--dry-run", stdout=said, stderr=said))

    assert "No changes detected" in said.getvalue()


def test_a_database_of_a_newer_program_is_refused(database: Database) -> None:
    store = database.open()
    store._executor.write(lambda: _pretend("0999_from_the_future"))

    with pytest.raises(WrongSchema, match=r"newer version.*0999_from_the_future"):
        database.open()


def test_a_database_between_two_migrations_is_refused(database: Database) -> None:
    last = migration.known_migrations()[-1]
    store = database.open()
    store._executor.write(lambda: _forget(last))
    store._executor.write(lambda: _pretend("0023_turn_context"))

    with pytest.raises(WrongSchema, match=rf"unreleased version.*0023_turn_context.*{last}"):
        database.open()


def _forget(name: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'store' AND name = %s", [name])


def _pretend(name: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('store', %s, '2030-01-01 00:00:00+00:00')",
            [name],
        )


def test_an_existing_database_is_copied_before_it_is_changed(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite.open().open_run(a_study(), a_plan())
    known = migration.known_migrations()
    with monkeypatch.context() as patch:
        patch.setattr(migration, "known_migrations", lambda: [*known, "0998_of_tomorrow"])
        open_store(sqlite.workspace).disconnect()

    copy = sqlite.workspace / "backups" / f"theodolite-{known[-1]}.db"
    with closing(sqlite3.connect(copy)) as backup:
        assert backup.execute("SELECT study FROM store_run").fetchall() == [("support",)]


def test_a_new_database_is_not_copied(tmp_path: Path) -> None:
    open_store(tmp_path).disconnect()

    assert (tmp_path / DATABASE_NAME).exists()
    assert not (tmp_path / "backups").exists()


def test_an_empty_file_waits_for_the_process_that_creates_its_tables(tmp_path: Path) -> None:
    """SQLite gives a new file its write-ahead log by one connection alone, and lets no second one wait for that."""
    with ThreadPoolExecutor(1) as threads:
        with FileLock(tmp_path / "migrate.lock"):
            opening = threads.submit(open_store, tmp_path)

            assert wait([opening], timeout=1).not_done
            assert not (tmp_path / DATABASE_NAME).exists()
        opening.result().disconnect()


def test_processes_that_open_a_new_workspace_together_all_succeed(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: open_store(tmp_path), range(4)))

    assert {store.open_run(a_study(), a_plan()).number for store in stores} == {1}
    for store in stores:
        store.disconnect()


def test_processes_that_open_a_new_server_database_together_all_succeed(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create()
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda n: open_store(tmp_path / str(n), url), range(4)))

    assert {store.open_run(a_study(), a_plan()).number for store in stores} == {1}
    for store in stores:
        store.disconnect()
