"""Judges whose replies could not be read too often."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotator import Annotator
from theodolite.domain.guideline import Guideline
from theodolite.domain.study import Study
from theodolite.reporting.found.agreements import (
    judges_of,
    unreadable_cases,
)
from theodolite.reporting.found.cases import Case
from theodolite.reporting.words import figures

_TOO_OFTEN = 0.1

_EXCERPT = 120


def unreadable_judges(study: Study, cases: Sequence[Case]) -> list[str]:
    """Return a warning for each judge that could not be read too often, with one of its replies."""
    return [
        warning
        for guideline in study.guidelines
        for judge in judges_of(study, guideline.name)
        if (warning := _unreadable(cases, guideline, judge))
    ]


def _unreadable(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    asked = [case for case in cases if case.has_annotation(judge.name)]
    unread = unreadable_cases(asked, guideline, judge.name)
    if len(unread) <= _TOO_OFTEN * len(asked):
        return ""
    said = unread[0].table.unreadable_replies.get((judge.name, guideline.name, guideline.question.name), "")
    raw = " ".join(said.split())
    example = f' It said, for instance: "{raw[:_EXCERPT]}".' if raw else ""
    name = judge.title or judge.name
    return f"The judge {name} could not be read on {figures.share(len(unread), len(asked))}.{example}"
