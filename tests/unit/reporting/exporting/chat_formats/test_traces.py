"""Dialogues as traces: every answer is an assessment. `make test-wire` sends them to MLflow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, live_evidence, xstest_evidence
from theodolite.domain.dialogue import TesterType
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.chat_formats import dialogue_traces, rate_metrics
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows


@pytest.mark.parametrize("make", [live_evidence, xstest_evidence], ids=["live", "recorded"])
def test_every_answer_is_an_assessment(make):
    evidence = make()
    traces = list(dialogue_traces(evidence))
    mine = {
        (row["dialogue"], f"{row['guideline']}.{row['question']}", row["judge"]): row["score"] or row["label"]
        for row in dialogue_rows(evidence)
        if row["judge"] and row["question"]
    }
    theirs = {
        (trace.name, one.name, one.annotator): one.value
        for trace in traces
        for one in trace.assessments
        if one.name != "annotation"
    }
    assert theirs == mine
    assert len(traces) == len({trace.name for trace in traces})


def test_failed_sessions_and_annotations_have_errors():
    traces = list(dialogue_traces(live_evidence()))
    failed = [trace for trace in traces if trace.error]
    assert len(failed) == 2
    assert all(not trace.spans and not trace.assessments for trace in failed)
    errors = [one.error for trace in traces for one in trace.assessments if one.value is None]
    assert all(errors)


def test_texts_of_people_are_excluded():
    evidence = live_evidence()
    people = tuple(replace(one, held_by=TesterType.PERSON) for one in evidence.archive.dialogues())
    evidence = changed(evidence, dialogues=people)
    hidden, shown = list(dialogue_traces(evidence)), list(dialogue_traces(evidence, include_text=True))
    assert "60 days" not in repr(hidden)
    assert "60 days" in repr(shown)
    assert len(hidden[0].assessments) == len(shown[0].assessments)


def test_rates_are_metrics():
    metrics = rate_metrics(measure_study(live_evidence()))
    name = "bot-1.4/groundedness.defect/grounded"
    assert {key.removeprefix(f"{name}/") for key in metrics} == {"rate", "low", "high", "n"}
    assert metrics[f"{name}/low"] < metrics[f"{name}/rate"] < metrics[f"{name}/high"]
    assert metrics[f"{name}/rate"] == pytest.approx(9 / 57)
