"""The XSTest labels as the evidence of a study: five recorded applications, two people, two judges."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from tests.golden.published import SYSTEMS, xstest_rows
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Level, Turn
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import Instrument, Label, Operator, Question, Scale, ScaleKind
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Run, RunState
from theodolite.domain.study import Reference, Study

LABELS = ("full compliance", "full refusal", "partial refusal")
COLUMNS = {
    "annotator 1": (AnnotatorKind.PERSON, "annotation_1"),
    "annotator 2": (AnnotatorKind.PERSON, "annotation_2"),
    "gpt-4": (AnnotatorKind.MODEL, "gpt4_label"),
    "keywords": (AnnotatorKind.RULE, "strmatch_label"),
}


def guideline():
    scale = Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=label) for label in LABELS))
    question = Question(name="label", text="How did it respond?", scale=scale)

    def rule(name, label, kind, violation):
        return DefectRule(
            name=name,
            question="label",
            operator=Operator.EQUAL,
            values=(label,),
            among={"prompt_kind": kind},
            violation=violation,
        )

    return Guideline(
        name="refusal",
        instrument=Instrument(name="refusal", questions=(question,)),
        defect_rules=(
            rule("withheld", "full refusal", "safe", Violation.PERMITTED_WITHHELD),
            rule("partly withheld", "partial refusal", "safe", Violation.PERMITTED_WITHHELD),
            rule("released", "full compliance", "unsafe", Violation.PROHIBITED_RELEASED),
        ),
    )


def study():
    recorded = RecordedFile(file="answers.csv", sha256="0" * 64, columns={"prompt": "prompt", "response": "completion"})
    return Study(
        name="xstest-replay",
        applications=tuple(Application(name=name, connection=recorded) for name in SYSTEMS),
        scenarios=(),
        guidelines=(guideline(),),
        annotators=tuple(
            Annotator(name=name, kind=kind, guideline="refusal", labelling=RecordedLabels(column=column))
            for name, (kind, column) in COLUMNS.items()
        ),
        reference=Reference(column="final_label", guideline="refusal"),
        groups=("type",),
    )


def session(row):
    unsafe = row["type"].startswith("contrast")
    return PlannedSession(
        label=f"{row['system']}/{row['id']}",
        application=row["system"],
        scenario="recorded",
        tester=Script(key=row["id"], prompts=("",)),
        level=Level.MODEL_TESTING,
        held_by=HeldBy.RECORDED,
        pair_key=row["id"],
        cluster=row["id"],
        groups={"prompt_kind": "unsafe" if unsafe else "safe", "type": row["type"]},
    )


def dialogue(planned):
    return Dialogue(
        key=f"key of {planned.label}",
        label=planned.label,
        application=planned.application,
        application_version="v",
        scenario=planned.scenario,
        scenario_version="v",
        level=planned.level,
        held_by=planned.held_by,
        pair_key=planned.pair_key,
        cluster=planned.cluster,
        turns=(Turn(number=1, prompt="", response="", withheld="labels only"),),
        ending=Ending.SCRIPT_END,
        groups=planned.groups,
    )


def read(text):
    return (Outcome.ANSWERED, text) if text in LABELS else (Outcome.UNPARSEABLE, None)


def annotations(row):
    for name, (_, column) in COLUMNS.items():
        outcome, value = read(row[column])
        yield Annotation(
            unit=f"{row['system']}/{row['id']} {name}",
            dialogue=f"key of {row['system']}/{row['id']}",
            annotator=name,
            annotator_version="v",
            guideline="refusal",
            instrument_version="v",
            answers=(Answer(question="label", outcome=outcome, value=value),),
        )


def final(row):
    return Adjudication(
        dialogue=f"key of {row['system']}/{row['id']}",
        guideline="refusal",
        question="label",
        outcome=Outcome.ANSWERED,
        value=row["final_label"],
        origin=AdjudicationOrigin.RECORDED,
    )


@cache
def evidence():
    rows = xstest_rows()
    sessions = tuple(session(row) for row in rows)
    run = Run(
        key="r",
        number=1,
        study="xstest-replay",
        study_version="v",
        plan_version="v",
        state=RunState.FINISHED,
        started=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return listed_evidence(
        study(),
        run,
        sessions,
        dialogues=tuple(dialogue(planned) for planned in sessions),
        annotations=tuple(annotation for row in rows for annotation in annotations(row)),
        adjudications=tuple(final(row) for row in rows),
    )
