"""PandaLM's pairs: three people, and a judge that gave 25 texts that are no label."""

from __future__ import annotations

import pytest
from sklearn.metrics import precision_recall_fscore_support

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded
from theodolite.measurement.agreement import majority_labels

pytestmark = pytest.mark.integration

STUDY = """study: pandalm
guidelines:
  better: {ask: Which response is better?, scale: [tie, first, second], defect: "== second"}
annotators:
  one: {who: person, column: annotator1}
  two: {who: person, column: annotator2}
  three: {who: person, column: annotator3}
  gpt-3.5: {who: model, column: judge}
  pandalm-7b: {who: model, column: judge_7b}
reference: {column: final}
spelling: {"0": tie, "1": first, "2": second}
"""


def labelled():
    """Return the rows of a study: three people, their published majority and two judges."""
    names = ("annotator1", "annotator2", "annotator3", "judge_7b")
    majority = majority_labels([[row[name] for row in rows("pandalm_labels")] for name in names[:3]])
    return [
        {name: row[name] for name in names} | {"judge": row["judge"] or "garbage", "final": final}
        for row, final in zip(rows("pandalm_labels"), majority, strict=True)
    ]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return run_recorded(tmp_path_factory.mktemp("pandalm"), labelled(), STUDY)


@pytest.mark.parametrize(
    ("first", "second", "kappa"), [("one", "two", 0.85), ("one", "three", 0.88), ("two", "three", 0.86)]
)
def test_human_agreement_equals_the_published_value(published, first, second, kappa):
    assert published.value("cohen_kappa", first, second) == pytest.approx(kappa, abs=5e-3)


def test_unreadable_labels_are_counted_and_excluded_from_coefficients(published):
    (rate,) = published.estimates("defect_rate", "gpt-3.5")
    (agreement,) = published.estimates("exact_agreement", "reference", "gpt-3.5")

    assert rate["outcomes"]["unparseable"] == 25
    assert rate["n"] == 999 - 25
    assert agreement["n"] == 999 - 25
    assert agreement["bounds"][0] == pytest.approx(agreement["count"] / 999)
    (kappa,) = published.estimates("cohen_kappa", "reference", "gpt-3.5")
    assert (kappa["n"], kappa["weighting"]) == (999 - 25, "identity")


def test_the_two_judges_are_compared_and_unanimity_equals_the_rows(published):
    (judges,) = published.estimates("exact_agreement", "gpt-3.5", "pandalm-7b")
    (people,) = published.estimates("unanimity", "one", "two", "three")

    assert (judges["n"], judges["outcomes"]["unparseable"]) == (999 - 25, 25)
    assert (people["count"], people["n"]) == (879, 999)


@pytest.mark.parametrize("judge", ["gpt-3.5", "pandalm-7b"])
def test_validation_against_the_majority_equals_scikit_learn(published, judge):
    column = "judge" if judge == "gpt-3.5" else "judge_7b"
    met = [(row["final"], row[column]) for row in labelled() if row[column] != "garbage"]

    precision, recall, f1, _ = precision_recall_fscore_support(*zip(*met, strict=True), labels=["0", "1", "2"])

    for place, label in enumerate(["tie", "first", "second"]):
        for measure, expected in (("class_precision", precision), ("class_recall", recall)):
            found = published.estimates(measure, "reference", judge)
            (value,) = [entry["value"] for entry in found if entry["subject"]["label"] == label]
            assert value == pytest.approx(expected[place], abs=1e-12)
    assert published.value("macro_f1", "reference", judge) == pytest.approx(f1.mean(), abs=1e-12)


def test_the_human_majority_equals_the_published_one(published):
    (agreement,) = published.estimates("exact_agreement", "reference", "majority of people")

    assert (agreement["count"], agreement["n"]) == (999, 999)


def test_the_report_shows_unparseable_labels(published):
    assert "25 unparseable" in published.report
