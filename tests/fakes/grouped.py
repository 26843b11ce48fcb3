"""The live study after people of two groups, and some who did not say, have labelled a sample by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.fakes.evidence import changed
from tests.fakes.labelled import labelled_evidence
from theodolite.domain.annotation import Annotation
from theodolite.domain.evidence import Evidence

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
