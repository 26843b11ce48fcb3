"""Evidence for sections of reports: hand labels, judge behaviour, annotator groups and trees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from tests.fakes.builders import by_hand
from tests.fakes.evidence import annotation_of, changed, live_evidence, xstest_evidence
from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.annotator import StopRule, Voting
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreement import JudgeDiagnostics, VoteAdvice, VoteRecord
from theodolite.domain.tree import Dimension, TreeOutline
from theodolite.measurement.trees.construction import TreeSources, build_design
from theodolite.usecases.judge_validation import validation_report_of
from theodolite.usecases.labels import LabelRequest, draw_labels


def judged(evidence: Evidence) -> dict[str, str | None]:
    """Return what the judge said of each dialogue, by key."""
    return {one.dialogue: one.answers[0].value for one in evidence.archive.annotations()}


def labelled_evidence(
    label: Callable[[str | None], str], *, n: int = 30, drawn: bool = True, people: tuple[str, ...] = ("anna",)
) -> Evidence:
    """Return the live evidence with labels by hand of a sample.

    Args:
        label: What a person says where the judge said this.
        n: Dialogues that are labelled; count.
        drawn: Whether the sample is known to have been drawn.
        people: Who labels, all of them the same dialogues.
    """
    plain = live_evidence()
    sample = draw_labels(plain, LabelRequest(n=n)).sample
    hands = tuple(by_hand(name, "groundedness") for name in people)
    study = replace(plain.study, annotators=(*plain.study.annotators, *hands))
    said = judged(plain)
    labels = tuple(
        annotation_of(study, hand, one.dialogue, (_answer(label(said[one.dialogue])),))
        for one in sample.dialogues
        for hand in hands
    )
    by_hand_labels = tuple(replace(one, unit="") for one in labels)
    found = changed(plain, study=study, annotations=(*plain.archive.annotations(), *by_hand_labels))
    if not drawn:
        return found
    places = {one.key: plain.sessions.find(one.label) for one in plain.archive.dialogues()}
    return replace(found, samples=(sample,), drawn={one.dialogue: places[one.dialogue] for one in sample.dialogues})


def _answer(value: str) -> Answer:
    return Answer(question="score", outcome=Outcome.ANSWERED, value=value)


def validated_evidence() -> Evidence:
    """Return the live evidence after two people labelled a sample and the judge got its certificate.

    They see no defect in every fifth alarm, and one where the judge gives a 4.
    """
    turned = {"2": "5", "4": "2"}
    labels = iter(range(10_000))

    def label(said: str | None) -> str:
        return turned.get(said or "", said or "1") if next(labels) % 5 == 0 else said or "1"

    evidence = labelled_evidence(label, people=("anna", "ben"))
    judge = evidence.study.annotator("grounded")
    validation_report = validation_report_of(evidence, judge, datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    return replace(evidence, validation_reports=(validation_report,))


NUMBER = Estimate(value=0.1, low=0.05, high=0.2, confidence=0.95, n=60, unit="fraction", method="m")

VOTES = VoteRecord(
    voting=Voting(rule=StopRule.LEAD, most=5),
    dialogues=60,
    cast=138,
    split=("d001", "d002", "d003"),
    tied=("d003",),
    flip_rate=NUMBER,
    retest_alpha=Undefined(reason="All gave the same answer."),
    by_single_votes=NUMBER,
    by_majorities=NUMBER,
    advice=VoteAdvice(error=0.034, error_as_samples=0.02, samples_do_better=True),
)

PLAIN = JudgeDiagnostics(annotator="grounded", application="bot-1.4", guideline="groundedness", verdicts=60)

DOUBTFUL = replace(
    PLAIN, quoting=40, ungrounded=("d001", "d003"), control_passed=50, control_failed=("d005",), votes=VOTES
)


OLD, YOUNG = ("anna", "ben", "cleo"), ("dora", "emil", "fred")

LONE, SILENT = ("gert",), ("hana",)

AGE = {**dict.fromkeys(OLD, "old"), **dict.fromkeys(YOUNG, "young"), **dict.fromkeys(LONE, "oldest")}


def grouped_evidence(told: Callable[[str, int], str]) -> Evidence:
    """Return the evidence of people who each label the same dialogues.

    Args:
        told: What a person says of the dialogue of a number, from 0.
    """
    evidence = labelled_evidence(lambda said: said or "1", people=(*OLD, *YOUNG, *LONE, *SILENT))
    numbers: dict[str, int] = {}

    def own(annotation: Annotation) -> Annotation:
        if annotation.unit:  # the judge's
            return annotation
        number = numbers.setdefault(annotation.dialogue, len(numbers))
        (answer,) = annotation.answers
        return replace(annotation, answers=(replace(answer, value=told(annotation.annotator, number)),))

    annotations = tuple(own(one) for one in evidence.archive.annotations())
    found = changed(evidence, study=evidence.study, annotations=annotations)
    return replace(found, samples=evidence.samples, drawn=evidence.drawn, annotator_attributes={"age": AGE})


def split(person: str, number: int) -> str:
    """Return what groups say that agree within and hardly with each other; the silent side with the young."""
    by_old, by_young = number % 2, (number // 2) % 2 if number % 5 else number % 2
    return "1" if (by_old if person in OLD else by_young) else "5"


def with_tree(evidence: Evidence, *dimensions: Dimension) -> Evidence:
    """Return evidence whose study has a tree over its guidelines."""
    outline = TreeOutline(name="by-guideline", topology="six-levels", dimensions=dimensions)
    design = build_design(outline, TreeSources(guidelines=evidence.study.guidelines))
    return replace(evidence, study=replace(evidence.study, trees=(design,)))


@functools.cache
def grown_live() -> Evidence:
    return with_tree(live_evidence())


@functools.cache
def grown_xstest() -> Evidence:
    guideline = xstest_evidence().study.guidelines[0]
    names = ("over-refusing", "unsafe", "half-hearted")
    dimensions = [
        Dimension(node=node, crosswalk={f"{guideline.name}.{rule.name}": 1})
        for node, rule in zip(names, guideline.defect_rules, strict=False)
    ]
    return with_tree(xstest_evidence(), *dimensions)


class GivenAnswer(NamedTuple):
    """One row for `answer_arrays`."""

    annotator: str
    unit: Hashable
    dialogue: Hashable
    value: str | None
    at: float = 0.0
    shown: str = ""
    sitting: int = 0
    turn: int = 0
