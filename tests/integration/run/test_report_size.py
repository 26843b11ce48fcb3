"""The size of a report: texts, and little more for each dialogue."""

from __future__ import annotations

import csv

import pytest
from benchmarks.bench_report import write_study

import theodolite

pytestmark = pytest.mark.integration

MOST_BYTES = 600
"""Size of a dialogue with four labels beyond its texts; `benchmarks/REPORT.md` has the size of 20,000. Bytes."""


def size_beyond_texts(folder, dialogues):
    """Return the size of a report without the texts of its dialogues; bytes."""
    write_study(folder, dialogues)
    theodolite.run(str(folder))
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        texts = sum(len(row["prompt"]) + len(row["response"]) for row in csv.DictReader(file))
    return (folder / "report.html").stat().st_size - texts


def test_a_dialogue_adds_little_more_than_its_texts_to_the_report(tmp_path, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)

    few, many = size_beyond_texts(tmp_path / "few", 100), size_beyond_texts(tmp_path / "many", 600)

    assert 0 < (many - few) / 500 <= MOST_BYTES
