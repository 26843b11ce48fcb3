"""`theodolite monitor` queries a real PostgreSQL server and only reads."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import psycopg
import pytest

from tests.databases import Database
from tests.fakes.terminal import theodolite
from tests.integration.run.test_monitor import COLUMNS, rows, watch

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
TABLE = "CREATE TABLE replies (stars int, at timestamptz, item text, run text, human int, anchor boolean)"
INSERT = "INSERT INTO replies VALUES (%s, %s, %s, %s, %s, %s)"
QUERY = "SELECT stars AS score, at, item, run, human, CASE WHEN anchor THEN 'y' ELSE 'n' END AS anchor FROM replies"


@pytest.fixture
def scores(postgresql: Database) -> Iterator[str]:
    """The address of a server with the series, in PostgreSQL's own types."""
    assert postgresql.url
    with psycopg.connect(postgresql.url) as connection:
        connection.execute(TABLE)
        told = [(*row[:4], row[4] if row[4] != "" else None, row[5]) for row in rows("slip")]
        connection.cursor().executemany(INSERT, told)
    yield postgresql.url
    with psycopg.connect(postgresql.url) as connection:
        connection.execute("DROP TABLE replies")


def test_a_query_of_a_server_equals_the_same_table(scores, tmp_path):
    with (tmp_path / "slip.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows("slip")])

    table, server = watch(tmp_path / "slip.csv", out=tmp_path), watch(scores, "--query", QUERY, out=tmp_path)

    assert server.code == 1, server.said
    assert server.out.partition("ALERT")[2] == table.out.partition("ALERT")[2]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DELETE FROM replies", "read-only transaction"),
        ("SELECT nothing FROM replies", 'column "nothing" does not exist'),
        ("SET search_path = public", "finds no columns"),
    ],
    ids=["write", "column", "no rows"],
)
def test_a_query_that_does_not_read_is_an_input_error(scores, query, said):
    ended = theodolite("monitor", scores, "--query", query)

    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    with psycopg.connect(scores) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone()[0] > 100


def test_an_unreachable_server_is_reported_without_its_password():
    ended = theodolite("monitor", "postgresql://ana:s3cret@127.0.0.1:1/scores", "--query", QUERY)

    assert ended.code == 3
    assert "cannot be reached" in ended.err
    assert "s3cret" not in ended.said
