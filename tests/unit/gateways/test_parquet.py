"""Tables as Parquet files."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways import parquet

COLUMNS = ("question", "turn")


def read(rows):
    stored = parquet.parquet_bytes(COLUMNS, rows, whole_numbers={"turn"}, about={"study": "s"})
    return pq.read_table(io.BytesIO(stored))


def test_what_is_not_there_is_null_and_what_looks_like_a_formula_stays():
    table = read([("=a", 2), ("b", None), ("", "3"), (None, "")])

    assert table.to_pylist() == [
        {"question": "=a", "turn": 2},
        {"question": "b", "turn": None},
        {"question": "", "turn": 3},
        {"question": None, "turn": None},
    ]


@pytest.mark.parametrize("rows", [[], [(None, None)], [("a", 1)]], ids=["no row", "nothing", "one"])
def test_types_hang_on_the_names_of_columns_alone(rows):
    assert [str(field.type) for field in read(rows).schema] == ["string", "int64"]


def test_a_file_tells_what_it_is_of():
    assert read([]).schema.metadata[b"study"] == b"s"


def test_without_arrow_one_is_told_what_to_type(monkeypatch):
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)

    with pytest.raises(InputError, match=r"pip install 'theodolite\[parquet\]'"):
        parquet.require_parquet()
