"""Rows of the recorded labels beside this file."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


def rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(HERE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
