from __future__ import annotations

import io
import sqlite3
from contextlib import closing

import pyarrow.parquet as pq
import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways import tables
from theodolite.gateways.tables import is_database, query_rows


@pytest.fixture
def url(tmp_path):
    with closing(sqlite3.connect(tmp_path / "scores 1.db")) as connection:
        connection.execute("CREATE TABLE replies (stars INTEGER, at TEXT)")
        connection.execute("INSERT INTO replies VALUES (5, '2026-01-01'), (NULL, '2026-01-02')")
        connection.commit()
    return f"sqlite:///{tmp_path}/scores 1.db"


def test_rows_are_returned_as_texts(url):
    columns, rows = query_rows(url, "SELECT stars AS score, at FROM replies")

    assert columns == ("score", "at")
    assert rows == [{"score": "5", "at": "2026-01-01"}, {"score": "", "at": "2026-01-02"}]


def test_the_database_is_opened_read_only(url):
    with pytest.raises(InputError, match="readonly"):
        query_rows(url, "DELETE FROM replies")


@pytest.mark.parametrize("query", ["SELECT nothing FROM replies", "SELECT", ""], ids=["column", "syntax", "empty"])
def test_an_invalid_query_is_reported(url, query):
    with pytest.raises(InputError, match="the query"):
        query_rows(url, query)


def test_a_missing_file_is_not_created(tmp_path):
    with pytest.raises(InputError, match="there is no database file"):
        query_rows(f"sqlite:///{tmp_path}/none.db", "SELECT 1")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("place", "expected"), [("postgresql://host/db", True), ("stars.csv", False), ("C:/stars.csv", False)]
)
def test_databases_are_distinguished_from_files(place, expected):
    assert is_database(place) is expected


COLUMNS = {"question": str, "turn": int}


def read(rows):
    stored = tables.parquet_bytes(COLUMNS, rows, about={"study": "s"})
    return pq.read_table(io.BytesIO(stored))


def test_missing_values_are_null_and_formula_like_texts_are_unchanged():
    table = read([("=a", 2), ("b", None), ("", "3"), (None, "")])

    assert table.to_pylist() == [
        {"question": "=a", "turn": 2},
        {"question": "b", "turn": None},
        {"question": "", "turn": 3},
        {"question": None, "turn": None},
    ]


@pytest.mark.parametrize("rows", [[], [(None, None)], [("a", 1)]], ids=["no row", "nothing", "one"])
def test_types_depend_on_the_names_of_columns_only(rows):
    assert [str(field.type) for field in read(rows).schema] == ["string", "int64"]


def test_numbers_and_booleans_keep_their_type():
    columns = {"score": float, "defect": bool}
    stored = tables.parquet_bytes(columns, [(2.5, True), (None, None), (3, False)], about={})

    assert pq.read_table(io.BytesIO(stored)).to_pylist() == [
        {"score": 2.5, "defect": True},
        {"score": None, "defect": None},
        {"score": 3.0, "defect": False},
    ]


def test_many_rows_are_written_in_batches(monkeypatch):
    monkeypatch.setattr(tables, "_GROUP", 2)

    assert read([(str(number), number) for number in range(5)]).num_rows == 5


def test_a_file_states_its_study():
    assert read([]).schema.metadata[b"study"] == b"s"


def test_without_arrow_the_install_command_is_shown(monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _: None)

    with pytest.raises(InputError, match=r"pip install 'theodolite\[parquet\]'"):
        tables.require_parquet()
