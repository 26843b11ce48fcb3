from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

from theodolite.config import tables
from theodolite.config.tables import delimiter_of, read_table

ROWS = [{"name": "Zoë", "wish": "a refund; now, please"}, {"name": "Bo", "wish": 'the "blue"\none'}]


def text(delimiter):
    quoted = ['"' + value.replace('"', '""') + '"' for row in ROWS for value in row.values()]
    return delimiter.join(ROWS[0]) + "\n" + "\n".join(delimiter.join(quoted[i : i + 2]) for i in (0, 2)) + "\n"


@pytest.mark.parametrize(("delimiter", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab")])
@pytest.mark.parametrize(
    ("codec", "encoding"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252"),
    ],
)
def test_a_table_is_read_regardless_of_the_program_that_wrote_it(tmp_path, delimiter, name, codec, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes(text(delimiter).encode(codec))

    table = read_table(path, "rows.csv")

    assert (list(table.rows), table.encoding, table.delimiter) == (ROWS, encoding, name)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_compressed_file_is_read_like_a_plain_one(tmp_path, packed, ending):
    lines = "\n".join(json.dumps(row) for row in ROWS) if ending == "jsonl" else text(",")
    path = tmp_path / f"rows.{ending}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(lines.encode()) if packed else lines.encode())

    assert list(read_table(path, path.name).rows) == ROWS


def test_a_compressed_file_that_expands_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_UNPACKED", 1_000_000)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + bytes(50_000_000)))
    tracemalloc.start()

    table = read_table(path, "rows.csv.gz")

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "unpacks to more than 1 MB" in table.faults[0].message
    assert peak < 10_000_000


def test_line_numbers_are_those_of_the_file_even_after_quoted_line_breaks(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,b\n1,"x\ny"\n\n2,z\n3\n')

    table = read_table(path, "rows.csv")

    assert (table.lines, [fault.line for fault in table.faults]) == ((2, 5), [6])


def test_a_long_field_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1," + "x" * 300_000 + "\n")

    assert len(read_table(path, "rows.csv").rows[0]["b"]) == 300_000


def test_lines_of_json_may_have_missing_keys_and_other_types(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": null}\n{"a": "x", "c": [1]}\nnot json\n')

    table = read_table(path, "rows.jsonl")

    assert list(table.rows) == [{"a": "1", "b": "", "c": ""}, {"a": "x", "b": "", "c": "[1]"}]
    assert [fault.place for fault in table.faults] == ["rows.jsonl:3"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"\x1f\x8bnonsense", "cut off"),
        (b"a,a\n1,2\n", "stands twice"),
        (b"a,\n1,2\n", "column 2 has no name"),
        (b'a,b\n1,"2\n', "not closed well"),
    ],
)
def test_a_file_that_is_not_a_table_is_an_error(tmp_path, raw, words):
    path = tmp_path / "rows.csv"
    path.write_bytes(raw)

    assert words in read_table(path, "rows.csv").faults[0].message


def test_a_missing_file_is_an_error(tmp_path):
    (fault,) = read_table(tmp_path / "none.csv", "none.csv").faults

    assert fault.message == "cannot be read: there is no such file"


@pytest.mark.parametrize(("header", "mark"), [("a,b;c", ","), ("a;b,c;d", ";"), ("a", ","), ('"a;b","c"', ",")])
def test_the_delimiter_that_splits_the_header_most_is_used(header, mark):
    assert delimiter_of(header + "\n") == mark


def test_the_detected_format_is_stated_in_one_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text(","))

    assert read_table(path, "rows.csv").described == "2 rows, UTF-8, comma"
