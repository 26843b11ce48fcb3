"""PandaLM's pairs: three people, and a judge that gave 25 texts that are no label."""

from __future__ import annotations

import pytest

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded

pytestmark = pytest.mark.integration

STUDY = """study: pandalm
guidelines:
  better: {ask: Which response is better?, scale: [tie, first, second], defect: "== second"}
annotators:
  one: {who: person, column: annotator1}
  two: {who: person, column: annotator2}
  three: {who: person, column: annotator3}
  gpt-3.5: {who: model, column: judge}
spelling: {"0": tie, "1": first, "2": second}
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    labels = [
        {name: row[name] for name in ("annotator1", "annotator2", "annotator3")} | {"judge": row["judge"] or "garbage"}
        for row in rows("pandalm_labels")
    ]
    return run_recorded(tmp_path_factory.mktemp("pandalm"), labels, STUDY)


@pytest.mark.parametrize(
    ("first", "second", "kappa"), [("one", "two", 0.85), ("one", "three", 0.88), ("two", "three", 0.86)]
)
def test_people_agree_as_published(published, first, second, kappa):
    assert published.value("cohen_kappa", first=first, second=second) == pytest.approx(kappa, abs=5e-3)


def test_garbage_is_counted_and_agrees_with_nobody(published):
    (rate,) = published.estimates("defect_rate", annotator="gpt-3.5")
    (agreement,) = published.estimates("exact_agreement", first="one", second="gpt-3.5")

    assert rate["outcomes"]["unparseable"] == 25
    assert rate["n"] == 999 - 25
    assert agreement["n"] == 999


def test_the_report_shows_the_unparseable_ones(published):
    assert "25 unparseable" in published.report
