"""Databases for tests: fresh workspaces, copied from one whose tables were made once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.postgres import PostgresServer, running_server
from theodolite.bootstrap.database import DATABASE_NAME, configure_django, database_settings, open_store
from theodolite.bootstrap.migration import known_migrations

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

PATIENCE_S = 1.0

# Django's models cannot be imported before this; no test uses this database.
configure_django(database_settings(Path("/nonexistent")))


@dataclass
class Database:
    """One empty database, of which several stores can be opened."""

    workspace: Path
    url: str | None = None
    opened: list[DjangoStore] = field(default_factory=list)

    def open(self) -> DjangoStore:
        store = open_store(self.workspace, self.url, patience_s=PATIENCE_S)
        self.opened.append(store)
        return store

    def close(self) -> None:
        for store in self.opened:
            store.disconnect()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("template")
    open_store(workspace).disconnect()
    return workspace / DATABASE_NAME


@pytest.fixture
def sqlite(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    workspace = tmp_path / ".theodolite"
    workspace.mkdir()
    shutil.copy(sqlite_template, workspace)
    database = Database(workspace)
    yield database
    database.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a database with tables once; emptying it costs less than making it."""
    url = postgres_server.create()
    open_store(tmp_path_factory.mktemp("tables"), url).disconnect()
    return url


@pytest.fixture
def postgresql(postgres_tables: str, tmp_path: Path) -> Iterator[Database]:
    empty_tables(postgres_tables)
    database = Database(tmp_path / ".theodolite", postgres_tables)
    yield database
    database.close()


def empty_tables(url: str) -> None:
    """Empty the tables that something was written to; the others cost more to empty than the test itself."""
    with psycopg.connect(url, options="-c lock_timeout=60000") as connection:
        names = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'store\\_%'"
        tables = [name for (name,) in connection.execute(names).fetchall()]
        rows = " UNION ALL ".join(f"(SELECT '{name}' FROM {name} LIMIT 1)" for name in tables)  # noqa: S608 - our tables
        counted = "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
        used = {name.removesuffix("_id_seq") for (name,) in connection.execute(counted).fetchall()}
        written = sorted({name for (name,) in connection.execute(rows.encode()).fetchall()} | (used & {*tables}))
        if written:
            connection.execute(f"TRUNCATE {', '.join(written)} RESTART IDENTITY CASCADE".encode())
        known = known_migrations()
        connection.execute("DELETE FROM django_migrations WHERE app = 'store' AND name <> ALL(%s)", [known])
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " SELECT 'store', name, now() FROM unnest(%s::text[]) AS name"
            " WHERE name NOT IN (SELECT name FROM django_migrations WHERE app = 'store')",
            [known],
        )


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found
