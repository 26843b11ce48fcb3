"""Public annotations, taken in as if they had been given here."""

from __future__ import annotations

import csv
import gzip

import pytest

from tests.fakes.evidence_variants import GivenAnswer
from tests.golden.published import HERE
from theodolite.config.label_imports import AskedItem, ImportColumns, LabelKey, read_import
from theodolite.domain.annotation import NON_RESPONSE_OPTIONS
from theodolite.domain.instrument import Label, Question, Scale, ScaleKind
from theodolite.measurement.annotator_agreement import question_agreement, self_agreement
from theodolite.measurement.answer_arrays import answer_arrays

SEVERITY = Scale(
    kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=value) for value in ("-3", "-2", "-1", "0", "1")), ordered=True
)
SAFETY = Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=value) for value in "NUY"))


def rows(name):
    with gzip.open(HERE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def imported(tmp_path, table, scale, **options):
    """Write a table of item, annotator and label, and read it in; return question and answers."""
    path = tmp_path / "labels.csv"
    path.write_text("".join(f"{item},{who},{label}\n" for item, who, label in [("item", "who", "label"), *table]))
    question = Question(name="q", text="?", scale=scale)
    items = {str(item) for item, _, _ in table}
    key = LabelKey(
        items={(item, "g"): AskedItem(guideline="g", version="1", questions={"q": (None,)}) for item in items},
        questions={("g", "q"): question},
        own_words=NON_RESPONSE_OPTIONS,
    )
    columns = ImportColumns(dialogue="item", annotator="who", answers={"q": "label"})
    read = read_import(path, key, {item: item for item in items}, columns, **options)
    assert read.faults == ()
    return question, [
        GivenAnswer(one.annotator, one.item, one.item, one.value) for one in read.labels if one.replicate <= 2
    ]


def test_dices_350_has_its_published_alpha(tmp_path):
    table = [
        (row["dialogue"], f"r{place}", letter)
        for row in rows("dices_labels")
        if row["set"] == "350"
        for place, letter in enumerate(row["labels"])
    ]

    question, given = imported(tmp_path, table, SAFETY)
    found = question_agreement("safety", question, answer_arrays(given))

    assert found.alpha.value == pytest.approx(0.160860, abs=5e-7)
    assert (found.n_annotators, found.n_units) == (123, 350)


def test_self_agreement_of_convabuse_annotators_equals_the_earlier_analysis(tmp_path):
    table = [
        (row["item"], f"a{row['annotator']}", row["severity"]) for row in rows("convabuse_labels") if row["severity"]
    ]
    question, given = imported(tmp_path, table, SEVERITY, repeats=True)
    itself = self_agreement("abuse", question, answer_arrays(given))

    assert len({one.unit for one in given}) == 4185
    assert (itself.alpha.value, itself.n_shared) == (pytest.approx(0.901, abs=5e-4), 345)
    assert itself.alike.value == pytest.approx(0.922, abs=5e-4)
    first = {(one.annotator, one.unit): one for one in reversed(given)}
    between = question_agreement("abuse", question, answer_arrays(first.values()))
    assert (between.alpha.value, between.n_annotators) == (pytest.approx(0.660, abs=5e-4), 8)
