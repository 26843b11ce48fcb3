"""Published tables and figures, as the files beside this one hold them."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SYSTEMS = ("llama2orig", "llama2new", "mistralinstruct", "mistralguard", "gpt4")


@cache
def proportions():
    return json.loads((HERE / "proportions.json").read_text(encoding="utf-8"))


@cache
def agreement():
    return json.loads((HERE / "agreement.json").read_text(encoding="utf-8"))


@cache
def order():
    return json.loads((HERE / "order.json").read_text(encoding="utf-8"))


@cache
def monitoring():
    return json.loads((HERE / "monitoring.json").read_text(encoding="utf-8"))


@cache
def xstest_rows():
    with gzip.open(HERE / "xstest_labels.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def units_of(table):
    """Return the labels of two annotators that give this confusion matrix."""
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return [i for i, _ in cells], [j for _, j in cells]


def counts_of(ratings):
    """Return how many annotators gave each unit each value, from ratings by annotator."""
    values = sorted({value for row in ratings for value in row if value is not None})
    return [[list(unit).count(value) for value in values] for unit in zip(*ratings, strict=True)]
