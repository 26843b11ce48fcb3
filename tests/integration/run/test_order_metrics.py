"""The order of scores over several runs of one study."""

from __future__ import annotations

import json

import pytest

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

STUDY = """\
study: ads
applications:
  writer: {kind: recorded, file: rows.csv, prompt: ask, response: text}
guidelines:
  relevance: {ask: "How relevant is it?", scale: 1-5, defect: "<= 3"}
annotators:
  ann: {who: person, guideline: relevance, column: human}
judges:
  counter: {guideline: relevance, python: "stars.py:stars", version: "VERSION"}
"""
STARS = """\
def stars(turns):
    return {"score": str(1 + int(turns[-1]["prompt"].split()[1]) % 5)}
"""


@pytest.fixture
def study(tmp_path):
    rows = ["ask,text,human", *(f"number {number},text,{1 + number % 4}" for number in range(12))]
    (tmp_path / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "stars.py").write_text(STARS, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.replace("VERSION", "1"), encoding="utf-8")
    return tmp_path


def results(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["order_metrics"]


def test_one_run_has_no_history(study):
    ended = theodolite("run", study)

    assert "Order" in ended.out
    assert [one["runs"] for one in results(study)["sequences"]] == [[]]
    assert results(study)["rankings"][0]["n"] == 12


def test_later_runs_report_repeated_scores_and_another_version_of_the_judge(study):
    theodolite("run", study)
    theodolite("run", study, "--new-run")
    (study / "study.yaml").write_text(STUDY.replace("VERSION", "2"), encoding="utf-8")
    theodolite("run", study)

    (sequence,) = results(study)["sequences"]
    assert [(run["run"], run["n"], run["same_annotator"]) for run in sequence["runs"]] == [
        (1, 12, False),
        (2, 12, False),
        (3, 12, True),
    ]
    assert {run["mean"] for run in sequence["runs"]} == {sequence["mean"]}
