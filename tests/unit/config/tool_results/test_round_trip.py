"""Our exports for Inspect and as chat messages, read back: every answer returns."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.config.tool_formats import read_results
from theodolite.config.tool_study import inspect_results
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.chat_formats import chat_lines
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.exporting.inspect_log import write_inspect_log

EVIDENCE = pytest.mark.parametrize("make", [live_evidence, xstest_evidence], ids=["live", "recorded"])


def answers_of(evidence, *, withheld=True):
    """Return every answer of a dialogue as our table of rows has it."""
    hidden = {one.label for one in evidence.archive.dialogues() if one.withheld}
    return {
        (
            row["application"],
            row["dialogue"].partition("/")[2] or row["dialogue"],
            row["judge"],
            row["guideline"],
            row["question"],
            row["turn"] if row["asked_about"] == "turn" else None,
        ): (row["outcome"], row["label"])
        for row in dialogue_rows(evidence)
        if row["judge"] and row["question"] and (withheld or row["dialogue"] not in hidden)
    }


def answers_in(results):
    return {
        (
            dialogue.application,
            dialogue.key.partition("/")[2] or dialogue.key,
            score.criterion.annotator,
            score.criterion.guideline,
            score.criterion.question,
            score.turn,
        ): (score.outcome.value, score.value or None)
        for each in results
        for dialogue in each.dialogues
        for score in dialogue.scores
    }


def inspect_log(evidence, application):
    packed = io.BytesIO()
    write_inspect_log(packed, evidence, measure_study(evidence), application)
    with zipfile.ZipFile(packed) as archive:
        samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
        header = json.loads(archive.read("header.json"))
    results = inspect_results(header, samples, file="log.eval", sha256="")
    assert not results.faults
    return results


@EVIDENCE
def test_inspect(make):
    evidence = make()
    results = [inspect_log(evidence, application.name) for application in evidence.study.applications]
    assert answers_in(results) == answers_of(evidence)


@EVIDENCE
def test_chat_messages(make):
    evidence = make()
    results = read_results("".join(chat_lines(evidence)).encode(), "chat.jsonl")
    assert not results.faults
    assert answers_in([results]) == answers_of(evidence, withheld=False)


@EVIDENCE
def test_texts(make):
    evidence = make()
    results = read_results("".join(chat_lines(evidence)).encode(), "chat.jsonl")
    mine = {
        one.label: [(turn.prompt, turn.response) for turn in one.turns]
        for one in evidence.archive.dialogues()
        if not one.withheld
    }
    assert {one.key: [(turn.prompt, turn.response) for turn in one.turns] for one in results.dialogues} == mine
