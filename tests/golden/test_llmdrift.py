"""Two dated versions of two services on the same 1,000 questions, as a study of recorded applications."""

from __future__ import annotations

import csv
import gzip
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Level, Turn
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Run, RunState
from theodolite.domain.study import Study
from theodolite.measurement import measure_study
from theodolite.measurement.comparison.sides import compare_sides
from theodolite.reporting.comparing.sides import sides_of
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.results import results_document

SYSTEMS = ("gpt-4-0314", "gpt-4-0613", "gpt-3.5-turbo-0301", "gpt-3.5-turbo-0613")


def rows():
    with gzip.open(Path(__file__).with_name("llmdrift_labels.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["task"] == "prime"]


def study():
    recorded = RecordedFile(file="answers.csv", sha256="0" * 64, columns={"prompt": "prompt", "response": "response"})
    rule = DefectRule(name="wrong", question="right", operator=Operator.EQUAL, values=("no",))
    question = Question(name="right", text="Is it right?", scale=YES_NO)
    guideline = Guideline(
        name="prime", instrument=Instrument(name="prime", questions=(question,)), defect_rules=(rule,)
    )
    labels = Annotator(name="file", kind=AnnotatorKind.RULE, guideline="prime", labelling=RecordedLabels(column="yes"))
    applications = tuple(Application(name=name, connection=recorded) for name in SYSTEMS)
    return Study(name="drift", applications=applications, scenarios=(), guidelines=(guideline,), annotators=(labels,))


def session(row):
    return PlannedSession(
        label=f"{row['system']}/{row['id']}",
        application=row["system"],
        scenario="recorded",
        tester=Script(key=row["id"], prompts=("",)),
        level=Level.MODEL_TESTING,
        held_by=HeldBy.RECORDED,
        pair_key=row["id"],
        cluster=row["id"],
        groups={},
    )


def dialogue(planned):
    return Dialogue(
        key=planned.label,
        label=planned.label,
        application=planned.application,
        application_version="v",
        scenario="recorded",
        scenario_version="v",
        level=planned.level,
        held_by=planned.held_by,
        pair_key=planned.pair_key,
        cluster=planned.cluster,
        turns=(Turn(number=1, prompt="", response="", withheld="labels only"),),
        ending=Ending.SCRIPT_END,
    )


def annotation(row, planned):
    return Annotation(
        unit=planned.label,
        dialogue=planned.label,
        annotator="file",
        annotator_version="v",
        guideline="prime",
        instrument_version="v",
        answers=(Answer(question="right", outcome=Outcome.ANSWERED, value=row["yes"]),),
    )


@cache
def sides():
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    run = Run(
        key="r", number=1, study="drift", study_version="v", plan_version="v", state=RunState.FINISHED, started=begin
    )
    held = [(row, session(row)) for row in rows()]
    evidence = listed_evidence(
        study(),
        run,
        tuple(planned for _, planned in held),
        dialogues=tuple(dialogue(planned) for _, planned in held),
        annotations=tuple(annotation(row, planned) for row, planned in held),
    )
    facts = RunFacts(command="", package_version="0", generated=begin, hosts=())
    return {side.name: side for side in sides_of(results_document(evidence, measure_study(evidence), facts), "drift")}


@pytest.mark.parametrize(
    ("before", "after", "published"),
    [("gpt-4-0314", "gpt-4-0613", (84.0, 51.1)), ("gpt-3.5-turbo-0301", "gpt-3.5-turbo-0613", (49.6, 76.2))],
)
def test_the_published_change_and_its_paired_test(before, after, published):
    (rate,) = compare_sides(sides()[before], sides()[after]).rates

    right = [round(100 * (1 - defects / rate.n), 1) for defects in (rate.n_first, rate.n_second)]
    assert (rate.n, tuple(right)) == (1000, published)
    assert rate.difference.low < rate.difference.value < rate.difference.high
    assert (rate.difference.low > 0) is (right[1] < right[0])
    assert rate.adjusted < 1e-10
    assert len(rate.mended) + len(rate.broken) == len(rate.flips)
