from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways.score_query import is_database, query_rows


@pytest.fixture
def url(tmp_path):
    with closing(sqlite3.connect(tmp_path / "scores 1.db")) as connection:
        connection.execute("CREATE TABLE replies (stars INTEGER, at TEXT)")
        connection.execute("INSERT INTO replies VALUES (5, '2026-01-01'), (NULL, '2026-01-02')")
        connection.commit()
    return f"sqlite:///{tmp_path}/scores 1.db"


def test_rows_come_as_texts(url):
    columns, rows = query_rows(url, "SELECT stars AS score, at FROM replies")

    assert columns == ("score", "at")
    assert rows == [{"score": "5", "at": "2026-01-01"}, {"score": "", "at": "2026-01-02"}]


def test_the_database_is_only_read(url):
    with pytest.raises(InputError, match="readonly"):
        query_rows(url, "DELETE FROM replies")


@pytest.mark.parametrize("query", ["SELECT nothing FROM replies", "SELECT", ""], ids=["column", "syntax", "empty"])
def test_a_query_that_cannot_be_run_says_so(url, query):
    with pytest.raises(InputError, match="the query"):
        query_rows(url, query)


def test_a_missing_file_is_not_made(tmp_path):
    with pytest.raises(InputError, match="there is no database file"):
        query_rows(f"sqlite:///{tmp_path}/none.db", "SELECT 1")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("place", "expected"), [("postgresql://host/db", True), ("stars.csv", False), ("C:/stars.csv", False)]
)
def test_databases_are_told_from_files(place, expected):
    assert is_database(place) is expected
