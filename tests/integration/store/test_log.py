"""SQLite's write-ahead log is truncated after a withdrawal, also with concurrent readers."""

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
    """A reader with a snapshot older than the last change."""
    with closing(sqlite3.connect(log.with_name("theodolite.db"), isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT word FROM words").fetchall()
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM words")
        yield other


def test_a_log_without_readers_is_truncated_at_once(log):
    assert empty_log(lambda _: pytest.fail("there was no reason to wait"))
    assert not log.stat().st_size


def test_a_busy_log_is_truncated_after_the_last_reader(log, reader):
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            reader.execute("ROLLBACK")

    assert empty_log(pause)
    assert (len(pauses), log.stat().st_size) == (2, 0)


def test_a_permanently_busy_log_is_reported(log, reader, caplog):
    assert not empty_log(lambda _: None)

    assert "deleted texts stay in it" in caplog.text
