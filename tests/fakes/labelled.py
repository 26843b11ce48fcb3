"""The live study after a person has labelled a drawn sample of it by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from tests.fakes.builders import by_hand
from tests.fakes.evidence import annotation_of, changed, live_evidence
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.evidence import Evidence
from theodolite.usecases.judge_validation import validation_report_of
from theodolite.usecases.label_requests import LabelRequest
from theodolite.usecases.sampling_labels import draw_labels


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
