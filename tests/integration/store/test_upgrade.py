"""A database of an earlier release is migrated with its rows, and its run can be measured."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite
from tests.house.tree import ROOT
from theodolite.bootstrap import migration
from theodolite.bootstrap.database import DATABASE_NAME

pytestmark = pytest.mark.integration

DATA = ROOT / "tests" / "data" / "upgrade"
OLD = "0022"
"""The newest migration of the earlier program; count."""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with the workspace of an earlier version."""
    for name in ("study.yaml", "answers.csv"):
        shutil.copy(DATA / name, tmp_path / name)
    workspace = tmp_path / ".theodolite"
    workspace.mkdir()
    (workspace / DATABASE_NAME).write_bytes(gzip.decompress((DATA / f"theodolite-{OLD}.db.gz").read_bytes()))
    return tmp_path


def applied(study: Path, name: str = DATABASE_NAME) -> list[str]:
    with closing(sqlite3.connect(study / ".theodolite" / name)) as database:
        rows = database.execute("SELECT name FROM django_migrations WHERE app = 'store' ORDER BY name").fetchall()
    return [str(row[0]) for row in rows]


def test_the_shipped_database_is_of_an_earlier_schema(study: Path) -> None:
    before = applied(study)

    assert before[-1].startswith(OLD)
    assert before[-1] < migration.known_migrations()[-1]


def test_a_run_of_an_earlier_version_has_the_same_counts(study: Path) -> None:
    """The earlier program printed: 1 of 3 dialogues has a defect, none failed, none is missing."""
    before = applied(study)

    assert theodolite("report", study).code == 0

    [rate] = [
        estimate
        for estimate in json.loads((study / "results.json").read_text(encoding="utf-8"))["estimates"]
        if estimate["measure"] == "defect_rate"
    ]
    assert (rate["count"], rate["n"], rate["outcomes"]["planned"]) == (1, 3, 3)
    assert applied(study) == sorted({*before, *migration.known_migrations()})


def test_the_database_is_copied_before_it_is_changed(study: Path) -> None:
    before = applied(study)

    assert theodolite("runs", study).code == 0

    [copy] = (study / ".theodolite" / "backups").glob("*.db")
    assert applied(study, f"backups/{copy.name}") == before


def test_dialogues_keep_their_texts_and_labels(study: Path) -> None:
    shown = theodolite("show", study, "bot/2")

    assert shown.code == 0
    said = " ".join(shown.out.split())
    assert "Open?" in said
    assert "polite" in said
