"""SQLite's log of writes is emptied after a withdrawal, also where somebody reads meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from django.db import connection

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.store.event_withdrawal import empty_log


@pytest.fixture
def log(tmp_path):
    """The log of a database that holds one row; this thread's connection waits for nobody."""
    configure_django(database_settings(tmp_path, patience_s=0))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE words (word TEXT)")
        cursor.execute("INSERT INTO words VALUES ('withdrawn')")
    yield tmp_path / "theodolite.db-wal"
    connection.close()


@pytest.fixture
def reader(log):
    """Somebody who holds on to a state of the database that is older than its last change."""
    with closing(sqlite3.connect(log.with_name("theodolite.db"), isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT word FROM words").fetchall()
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM words")
        yield other


def test_a_log_that_nobody_reads_is_emptied_at_once(log):
    assert empty_log(lambda _: pytest.fail("there was no reason to wait"))
    assert not log.stat().st_size


def test_a_busy_log_is_emptied_as_soon_as_nobody_reads(log, reader):
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            reader.execute("ROLLBACK")

    assert empty_log(pause)
    assert (len(pauses), log.stat().st_size) == (2, 0)


def test_a_log_that_stays_busy_is_said(log, reader, caplog):
    assert not empty_log(lambda _: None)

    assert "deleted texts stay in it" in caplog.text
