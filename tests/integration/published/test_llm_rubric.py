"""LLM-Rubric's overall question: one person a dialogue, a model's most probable and its expected answer."""

from __future__ import annotations

import pytest

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded

pytestmark = pytest.mark.integration

STUDY = """study: llm-rubric
guidelines:
  overall: {ask: "How satisfied is the user, all in all?", scale: 1.0-4.0, orientation: lower_is_worse, defect: "< 2.5"}
annotators:
  person: {who: person, column: score}
  most-probable: {who: model, column: most_probable}
  expected: {who: model, column: expected}
"""
PRINTED = {
    "most-probable": (1.201643, 0.140091, 0.086990, 0.081134),
    "expected": (0.918676, 0.177301, 0.086675, 0.065928),
}


def judged(row):
    shares = [float(row[f"answer{k}"]) for k in (1, 2, 3, 4)]
    return {
        "score": row["score"],
        "most_probable": 1 + max(range(4), key=lambda k: shares[k]),
        "expected": sum((k + 1) * share for k, share in enumerate(shares)),
    }


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return run_recorded(tmp_path_factory.mktemp("llm-rubric"), [judged(row) for row in rows("llm_rubric_q0")], STUDY)


@pytest.mark.parametrize("judge", PRINTED)
def test_the_correlation_of_a_judge_with_people_equals_the_published_value(published, judge):
    for statistic, printed in zip(("rmse", "pearson", "spearman", "kendall"), PRINTED[judge], strict=True):
        value = published.value("score_agreement", "person", judge, statistic=statistic)

        assert value == pytest.approx(printed, abs=5e-7)


def test_scores_between_the_points_of_the_scale_are_valid_labels(published):
    (rate,) = published.estimates("defect_rate", "expected")

    assert (rate["outcomes"]["planned"], rate["outcomes"]["used"], rate["outcomes"]["unparseable"]) == (223, 223, 0)


def test_the_report_shows_the_correlation_of_scores(published):
    assert "Agreement of scores (rmse)" in published.report
    assert "Agreement of scores (kendall)" in published.report
    assert "any number from 1 to 4" in published.report


def test_a_judge_with_scores_only_is_described_by_its_distance_from_people(published):
    """The tile said `Not validated` beside `compared with human labels`, and the terminal `agrees on 0 of 0`."""
    text = " ".join(published.report.split())

    assert "not validated; differs from people by 1.20 points (root mean square, n 223)" in text
    assert "compared with human labels" not in text
    assert "0 of 0" not in text
