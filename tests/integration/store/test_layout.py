"""Direct creation of an empty database and step-by-step migration produce the same tables."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module

import pytest
from django.core.management import call_command
from django.db.migrations import RunPython, RunSQL

from tests.house.tree import ROOT
from tests.postgres import PostgresServer
from theodolite.bootstrap import migration
from theodolite.bootstrap.database import DATABASE_NAME, open_store

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

OLD_DATABASE = ROOT / "tests" / "data" / "upgrade" / "theodolite-0022.db.gz"

_ON_A_SERVER = """
SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
UNION ALL SELECT 'index', tablename::text, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'column', table_name, column_name, concat(data_type, is_nullable, column_default, is_identity)
    FROM information_schema.columns WHERE table_schema = 'public'
"""


WHOLE = """
import sys
from pathlib import Path
from theodolite.bootstrap import serving
from theodolite.config.serving import load_serving
folder, how = Path(sys.argv[1]), sys.argv[2]
configure = serving.configure_django
def configure_for_steps(*settings):
    configure(*settings)
    from theodolite.bootstrap import migration  # loads models, which need the settings
    migration._without_tables = lambda *, whole: []
if how == "step by step":
    serving.configure_django = configure_for_steps
serving.open_server(serving.Serving(workspace=folder, settings=load_serving({}, folder=folder)))
"""
STORE = """
import sys
from pathlib import Path
from theodolite.bootstrap.database import open_store
open_store(Path(sys.argv[1]))
"""
"""Makes all tables of a server, and the store's alone; in processes of their own, since Django is set up once."""


def step_by_step(*_, **__):
    call_command("migrate", "store", verbosity=0)


def parts(text):
    """Return the definitions of a CREATE TABLE, split at commas outside of parentheses."""
    depth, found = 0, [""]
    for letter in text[text.index("(") + 1 : text.rindex(")")]:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return sorted(part.strip() for part in found)


def tables(workspace):
    with closing(sqlite3.connect(workspace / DATABASE_NAME)) as database:
        rows = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        applied = database.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    return {(kind, name): parts(sql) if kind == "table" else sql for kind, name, sql in rows}, applied


def test_direct_creation_and_migrations_produce_the_same_tables(tmp_path, monkeypatch):
    open_store(tmp_path / "at-once")
    monkeypatch.setattr(migration, "_lay_out", step_by_step)
    open_store(tmp_path / "step-by-step")

    assert tables(tmp_path / "at-once") == tables(tmp_path / "step-by-step")


def test_direct_creation_and_migrations_produce_the_same_web_tables(tmp_path):
    found = []
    for how in ("step by step", "at once", "the store first"):
        folder = tmp_path / how
        folder.mkdir()
        if how == "the store first":
            subprocess.run([sys.executable, "-c", STORE, folder], check=True)
        subprocess.run([sys.executable, "-c", WHOLE, folder, how], check=True)
        found.append((*tables(folder), rows(folder)))

    assert len(found[0][2]) > 100
    assert found[1] == found[0]
    assert found[2] == found[0]


def rows(workspace):
    """Return Django's rows about its tables, and the constraints of the database."""
    with closing(sqlite3.connect(workspace / DATABASE_NAME)) as database:
        kinds = database.execute("SELECT app_label, model FROM django_content_type").fetchall()
        rights = database.execute("SELECT codename FROM auth_permission").fetchall()
    return sorted(kinds) + sorted(rights)


def test_direct_creation_and_migrations_produce_the_same_tables_on_postgresql(
    tmp_path, monkeypatch, postgres_server: PostgresServer
):
    urls = [postgres_server.create(), postgres_server.create()]
    open_store(tmp_path, urls[0]).disconnect()
    monkeypatch.setattr(migration, "_lay_out", step_by_step)
    open_store(tmp_path, urls[1]).disconnect()
    found = [tables_on_a_server(url) for url in urls]

    assert len(found[0]) > 500
    assert found[0] == found[1]


def tables_on_a_server(url):
    import psycopg

    with psycopg.connect(url) as database:
        return sorted(database.execute(_ON_A_SERVER).fetchall())


def test_an_upgraded_database_has_the_tables_of_a_new_one(tmp_path):
    open_store(tmp_path / "new")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / DATABASE_NAME).write_bytes(gzip.decompress(OLD_DATABASE.read_bytes()))
    open_store(tmp_path / "old")

    assert tables(tmp_path / "old")[0] == tables(tmp_path / "new")[0]


def test_migrations_only_change_tables():
    steps = [import_module(f"theodolite.store.migrations.{name}").Migration for name in migration.known_migrations()]

    assert [step for step in steps if any(isinstance(one, RunPython | RunSQL) for one in step.operations)] == []
