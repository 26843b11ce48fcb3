"""Rows that stay in their file's bytes are the rows that mappings would hold, and take little more than the file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.config import tables
from theodolite.config.calls import estimate_calls
from theodolite.config.loading import load_study
from theodolite.config.tables import EVERY, StoredRows, table_of

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)
STUDY = """study: big
applications: {rec: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}
guidelines: {g: {ask: Fine?, defect: "== no"}}
annotators: {ann: {who: person, guideline: g, column: ann}}
groups: [kind]
"""
HEAD = "id,kind,prompt,response,ann\n"


@pytest.fixture
def in_bytes(monkeypatch):
    """Keep every table in its bytes, however small."""
    monkeypatch.setattr(tables, "HELD_WHOLE", 0)


def both(stored: bytes, name: str):
    """Return a table as mappings, and from its bytes."""
    held = tables.HELD_WHOLE
    try:
        tables.HELD_WHOLE = len(stored) + 1
        plain = table_of(stored, name)
        tables.HELD_WHOLE = -1
        return plain, table_of(stored, name)
    finally:
        tables.HELD_WHOLE = held


def written(rows, **form) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, **form).writerows([("a", "b", "c"), *rows])
    return text.getvalue().encode()


class TestRowsInBytes:
    """The law: however a table is held, it has the same rows, lines, columns and faults."""

    @given(rows=ROWS, end=st.sampled_from(["\n", "\r\n"]))
    def test_offsets_of_rows_in_delimited_files_are_exact(self, rows, end):
        plain, stored = both(written(rows, lineterminator=end), "rows.csv")

        assert isinstance(stored.rows, StoredRows)
        assert [*stored.rows] == [*plain.rows]
        assert ([*stored.lines], stored.columns, stored.faults) == ([*plain.lines], plain.columns, plain.faults)

    @given(rows=st.lists(st.dictionaries(CELLS, CELLS | st.integers() | st.none(), max_size=4), min_size=1, max_size=6))
    def test_offsets_of_rows_in_json_lines_are_exact(self, rows):
        plain, stored = both("".join(f"{json.dumps(row)}\n" for row in rows).encode(), "rows.jsonl")

        assert [*stored.rows] == [*plain.rows]
        assert ([*stored.lines], stored.columns, stored.faults) == ([*plain.lines], plain.columns, plain.faults)


@pytest.mark.parametrize(
    "stored",
    [
        b'a,b\n1,"x\ny"\n\n  ,\n2,z\n3\n',
        "a;b\nä;ö\n".encode("cp1252"),
        "a,b\n1,ä\n".encode("utf-16"),
        b"\xef\xbb\xbfa,b\n1,2\n",
        gzip.compress(b"a,b\n1,2\n", mtime=0),
        b"a,a\n1,2\n",
    ],
)
def test_encodings_blank_lines_and_errors_are_equal(stored):
    plain, kept = both(stored, "rows.csv")

    assert (kept.columns, kept.faults, kept.encoding, kept.delimiter, kept.sha256) == (
        plain.columns, plain.faults, plain.encoding, plain.delimiter, plain.sha256,
    )  # fmt: skip
    assert [*kept.lines] == [*plain.lines]
    if len(set(kept.columns)) == len(kept.columns):
        assert [*kept.rows] == [*plain.rows]


def test_slices_and_negative_positions_work(in_bytes):
    rows = table_of(b"a\n1\n2\n3\n", "rows.csv").rows

    assert (rows[-1], [*rows[1:]]) == ({"a": "3"}, [{"a": "2"}, {"a": "3"}])
    with pytest.raises(IndexError):
        rows[3]


def test_recordings_are_equal_from_bytes(folder, monkeypatch):
    study = STUDY.replace("id: id,", "id: id, turn: n, application: bot,")
    rows = "id,n,bot,kind,prompt,response,ann\n" + "".join(
        f"q{n % 7},{n // 14 + 1},{'ab'[n % 2]},safe,prompt {n},{'' if n == 5 else f'response {n}'},yes\n"
        for n in range(40)
    )
    place = folder(study_yaml=study, rows_csv=rows)
    plain = load_study(place).recordings
    monkeypatch.setattr(tables, "HELD_WHOLE", 0)

    stored = load_study(place).recordings

    assert [*stored] == [*plain]
    assert [stored[at] for at in range(len(stored))] == [*plain]


def test_validation_uses_little_more_memory_than_the_file(folder, in_bytes):
    n_rows, text = 20_000, "x" * 200
    rows = "".join(f"q{n},safe,{text},{text},yes\n" for n in range(n_rows))
    place = folder(study_yaml=STUDY, rows_csv=HEAD + rows)
    load_study(place)
    tracemalloc.start()

    loaded = load_study(place)
    estimate = estimate_calls(loaded)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert estimate.dialogues == n_rows
    assert most < len(rows) + 220 * n_rows


def test_progress_of_reading_a_table_is_reported(folder):
    told = []
    rows = "".join(f"q{n},safe,a,b,yes\n" for n in range(EVERY + 5))

    load_study(folder(study_yaml=STUDY, rows_csv=HEAD + rows), on_rows=lambda *step: told.append(step))

    assert [step for step in told if step[1]] == [
        ("Reading rows.csv", EVERY),
        ("Comparing ids of rows.csv", EVERY),
        ("Grouping rows of rows.csv", EVERY),
        ("Checking labels", EVERY),
    ]
