"""Logs for Inspect: their parts, as version 2 of the layout has them. `make test-wire` reads them with Inspect."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, live_evidence, xstest_evidence
from theodolite.domain.dialogue import TesterType
from theodolite.domain.flow import Message, Reply, Speaker
from theodolite.domain.status import Call
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.inspect_log import inspect_log_name, write_inspect_log


def log_of(evidence, application=None, **options):
    name = application or evidence.study.applications[0].name
    packed = io.BytesIO()
    n = write_inspect_log(packed, evidence, measure_study(evidence), name, **options)
    with zipfile.ZipFile(packed) as archive:
        parts = {entry: json.loads(archive.read(entry)) for entry in archive.namelist()}
    assert len([entry for entry in parts if entry.startswith("samples/")]) == n
    return parts


def sample_of(parts, label):
    return parts[f"samples/{label}_epoch_1.json"]


def test_the_results_are_the_rates_with_their_intervals():
    evidence = xstest_evidence()
    header = log_of(evidence, "llama2orig")["header.json"]

    rates = {score["name"]: score["metrics"]["defect_rate"] for score in header["results"]["scores"]}
    withheld = rates["refusal.withheld (reference)"]
    assert withheld["value"] == pytest.approx(95 / 250)
    assert (withheld["metadata"]["n"], withheld["metadata"]["planned"]) == (250, 250)
    assert withheld["metadata"]["low"] < withheld["value"] < withheld["metadata"]["high"]
    assert header["results"]["total_samples"] == 450
    assert header["eval"]["model"] == "theodolite/llama2orig"


def test_every_annotator_gives_a_separate_score():
    evidence = xstest_evidence()
    parts = log_of(evidence, "gpt4")
    sample = sample_of(parts, "gpt4/v2-1")

    assert list(sample["scores"]) == [
        f"refusal.label ({name})" for name in ("annotator 1", "annotator 2", "gpt-4", "keywords", "reference")
    ]
    assert sample["scores"]["refusal.label (gpt-4)"]["metadata"]["annotator_kind"] == "model"
    assert [message["role"] for message in sample["messages"]] == ["user", "assistant"]
    assert sample["events"] == [], "recorded replies are no calls"
    assert [one["id"] for one in parts["summaries.json"]][:2] == ["gpt4/v2-1", "gpt4/v2-2"]


def test_failures_are_errors_and_outcomes_are_values():
    parts = log_of(live_evidence(held=50))
    header, summaries = parts["header.json"], parts["summaries.json"]

    errors = [one for one in summaries if not one["completed"]]
    assert [one["error"].split(".")[0] for one in errors] == ["application: timed out"] * 2
    assert (header["results"]["total_samples"], header["results"]["completed_samples"]) == (60, 48)
    assert len(summaries) == 50, "what was not run is no sample"
    values = [score["value"] for one in summaries for score in one["scores"].values()]
    assert values.count("unparseable") == 1
    assert {type(value) for value in values} == {float, str}


def test_calls_are_events_in_the_spans_of_turns_and_judges():
    evidence = live_evidence()
    dialogue, judged = next(iter(evidence.archive.dialogues())), next(iter(evidence.archive.annotations()))
    first = replace(dialogue.turns[0], prompt_at=0, response_at=1)
    dialogue = replace(dialogue, turns=(first, *dialogue.turns[1:]))
    prompt = (Message(speaker=Speaker.SYSTEM, text="You are Ana."),)
    calls = {
        dialogue.key: (
            Call(
                reply=Reply(text="Hello", answered_as="small", tokens_in=9, tokens_out=2, latency_s=0.5), prompt=prompt
            ),
            Call(reply=Reply(text="Of course.", latency_s=0.25)),
        ),
        judged.unit: (Call(reply=Reply(text="2", answered_as="large", tokens_in=90, tokens_out=1, latency_s=1.0)),),
    }
    archive = replace(evidence.archive, dialogue_list=(dialogue, *evidence.archive.dialogue_list[1:]), call_lists=calls)
    parts = log_of(replace(evidence, archive=archive))
    events = sample_of(parts, dialogue.label)["events"]

    assert [(one["event"], one.get("name") or one.get("model")) for one in events] == [
        ("span_begin", "turn 1"),
        ("model", "small"),
        ("model", f"theodolite/{dialogue.application}"),
        ("span_end", None),
        ("span_begin", "grounded"),
        ("model", "large"),
        ("span_end", None),
    ]
    models = [one for one in events if one["event"] == "model"]
    assert [one["role"] for one in models] == ["user", "application", "grader"]
    assert [one["working_start"] for one in models] == [0.0, 0.5, 0.75]
    assert models[0]["input"] == [{"role": "system", "content": "You are Ana."}]
    assert models[1]["input"] == [{"role": "user", "content": first.prompt}]
    assert parts["header.json"]["stats"]["model_usage"] == {
        "small": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11},
        "large": {"input_tokens": 90, "output_tokens": 1, "total_tokens": 91},
    }


def test_sessions_of_people_have_scores_and_no_texts():
    evidence = live_evidence()
    people = tuple(replace(one, held_by=TesterType.PERSON) for one in evidence.archive.dialogues())
    evidence = changed(evidence, dialogues=people)

    parts = log_of(evidence)
    hidden = sample_of(parts, people[0].label)
    shown = sample_of(log_of(evidence, include_text=True), people[0].label)

    assert hidden["messages"] == []
    assert "--include-text" in hidden["input"]
    assert hidden["scores"].keys() == shown["scores"].keys()
    assert not any("60 days" in json.dumps(part) for part in parts.values())
    assert "60 days" in json.dumps(shown)


def test_two_exports_are_identical_and_the_name_sorts_by_time():
    evidence = live_evidence()
    findings, files = measure_study(evidence), (io.BytesIO(), io.BytesIO())
    for file in files:
        write_inspect_log(file, evidence, findings, evidence.study.applications[0].name)

    assert files[0].getvalue() == files[1].getvalue()
    assert inspect_log_name(evidence, "bot 1").startswith("2026-03-02T09-00-00+00-00_")
