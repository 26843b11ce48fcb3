"""Tables as Parquet files."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways import parquet

COLUMNS = {"question": str, "turn": int}


def read(rows):
    stored = parquet.parquet_bytes(COLUMNS, rows, about={"study": "s"})
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


def test_numbers_and_truth_values_keep_their_type():
    columns = {"score": float, "defect": bool}
    stored = parquet.parquet_bytes(columns, [(2.5, True), (None, None), (3, False)], about={})

    assert pq.read_table(io.BytesIO(stored)).to_pylist() == [
        {"score": 2.5, "defect": True},
        {"score": None, "defect": None},
        {"score": 3.0, "defect": False},
    ]


def test_many_rows_are_written_in_groups(monkeypatch):
    monkeypatch.setattr(parquet, "_GROUP", 2)

    assert read([(str(number), number) for number in range(5)]).num_rows == 5


def test_a_file_tells_what_it_is_of():
    assert read([]).schema.metadata[b"study"] == b"s"


def test_without_arrow_one_is_told_what_to_type(monkeypatch):
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)

    with pytest.raises(InputError, match=r"pip install 'theodolite\[parquet\]'"):
        parquet.require_parquet()
