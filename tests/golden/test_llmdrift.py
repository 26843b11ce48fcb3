"""Two dated versions of two services on the same 1,000 questions, as a study of recorded applications."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from pathlib import Path

import pytest

from tests.golden.labelled_rows import BEGIN, dialogue_of, key_of, run_of, session_of
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question
from theodolite.domain.study import Study
from theodolite.measurement.sample_size import compare_sides
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.comparing.document import sides_of
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.results.document import results_document

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


def annotation(row, planned):
    return Annotation(
        unit=planned.label,
        dialogue=key_of(row),
        annotator="file",
        annotator_version="v",
        guideline="prime",
        instrument_version="v",
        answers=(Answer(question="right", outcome=Outcome.ANSWERED, value=row["yes"]),),
    )


@cache
def sides():
    held = [(row, session_of(row)) for row in rows()]
    evidence = listed_evidence(
        study(),
        run_of("drift"),
        tuple(planned for _, planned in held),
        dialogues=tuple(dialogue_of(planned) for _, planned in held),
        annotations=tuple(annotation(row, planned) for row, planned in held),
    )
    facts = RunFacts(command="", package_version="0", generated=BEGIN, hosts=())
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
    assert len(rate.fixed) + len(rate.regressed) == len(rate.flips)
