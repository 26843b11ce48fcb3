"""Judges of a run next to people: confusion matrices whose cells open their dialogues, and accuracy with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.bootstrap.viewing import LocalStudy, ViewedRun
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE, Annotator
from theodolite.domain.estimate import Confusion, ConfusionMatrix, Measurement, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.study import Study
from theodolite.reporting.page.dialogues import estimate_text
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of
from theodolite.web.viewer.dialogues import opened_run
from theodolite.web.viewer.studies import of_run, page_context

MOST_PEOPLE = 10
"""People with a confusion matrix of their own; count."""

MOST_LABELS = 12
"""Labels up to which a confusion matrix is shown; count."""

_NO_LABELS = {outcome.value for outcome in Outcome} - {Outcome.ANSWERED.value}

_AGREEMENT = {
    Measure.EXACT_AGREEMENT: "Same label",
    Measure.COHEN_KAPPA: "Cohen's kappa",
    Measure.KRIPPENDORFF_ALPHA: "Krippendorff's alpha",
}

_ACCURACY = {
    Measure.JUDGE_SENSITIVITY: "Sensitivity: defects that the judge finds",
    Measure.JUDGE_SPECIFICITY: "Specificity: other dialogues that it does not flag",
}


@of_run
@require_GET
def judges(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Show how each judge's labels compare with those of people, or how to find out."""
    viewed = opened_run(study, run)
    named = [judge for judge in viewed.evidence.study.asked if judge.kind is not AnnotatorKind.PERSON]
    context = page_context(
        study,
        "judges",
        run=viewed.evidence.run,
        number=run,
        rows=[_judge(viewed, judge) for judge in named],
    )
    return render(request, "web/viewer/judges.html", context)


def _judge(viewed: ViewedRun, judge: Annotator) -> dict[str, object]:
    """Return a judge in displayed form, with the figures of its validation report if one is stored."""
    study = viewed.evidence.study
    report = {one.judge: one for one in viewed.evidence.validation_reports}.get(judge.name)
    authorities = report.authorities if report is not None else _authorities(study, judge)
    matrices = [_matrix(study, confusion) for name in authorities for confusion in _confusions(viewed, judge, name)]
    return {
        "judge": judge,
        "title": title_of(study, judge.name),
        "is_model": judge.kind is AnnotatorKind.MODEL,
        "report": report,
        "authorities": ", ".join(title_of(study, name) for name in authorities),
        "matrices": matrices,
        "figures": list(_figures(study, report)) if report is not None else [],
        "text": validation_text(report, width=96) if report is not None else "",
    }


def _authorities(study: Study, judge: Annotator) -> tuple[str, ...]:
    """Return the annotators that a judge is compared with: the final labels, or else each person."""
    if study.reference is not None and study.reference.guideline == judge.guideline:
        return (REFERENCE,)
    people = (one for one in study.annotators if one.guideline == judge.guideline and one.kind is AnnotatorKind.PERSON)
    return tuple(person.name for person in people)[:MOST_PEOPLE]


def _confusions(viewed: ViewedRun, judge: Annotator, authority: str) -> list[Confusion]:
    """Return the confusion matrix of a judge and an authority over all applications; empty without common labels."""
    guideline = viewed.evidence.study.guideline(judge.guideline)
    question = guideline.question
    pairs: Counter[tuple[str, str]] = Counter()
    for dialogue in viewed.dialogues:
        given = {one.annotator: one for one in dialogue.labels if one.question == question.name}
        if authority in given and judge.name in given and given[authority].value:
            pairs[given[authority].value, given[judge.name].value or given[judge.name].outcome.value] += 1
    labels = tuple(dict.fromkeys([*question.scale.categories, *sorted({label for pair in pairs for label in pair})]))
    if not pairs or len(labels) > MOST_LABELS:
        return []
    counts = tuple(tuple(pairs[row, column] for column in labels) for row in labels)
    matrix = ConfusionMatrix(categories=labels, counts=counts)
    return [
        Confusion(
            application=ALL_APPLICATIONS,
            guideline=guideline.name,
            question=question.name,
            first=authority,
            second=judge.name,
            matrix=matrix,
        )
    ]


def _matrix(study: Study, confusion: Confusion) -> dict[str, object]:
    """Return a confusion matrix; each count has the query of its dialogues."""
    labels = confusion.matrix.categories
    highest = max((n for row in confusion.matrix.counts for n in row), default=0)
    rows = []
    for label, counts in zip(labels, confusion.matrix.counts, strict=True):
        cells = []
        for other, n in zip(labels, counts, strict=True):
            pairs = [f"{confusion.first}:{label}", f"{confusion.second}:{other}"]
            query = urlencode({"label": pairs, "question": confusion.question}, doseq=True)
            step = 0 if not n else 1 + min(7, 8 * n // (highest + 1))
            cells.append({"n": n, "text": figures.count(n), "query": query, "step": step, "is_same": label == other})
        if any(counts) or label not in _NO_LABELS:
            rows.append({"label": label, "cells": cells, "n": figures.count(sum(counts))})
    return {
        "people": title_of(study, confusion.first),
        "judge": title_of(study, confusion.second),
        "question": confusion.question,
        "labels": labels,
        "rows": rows,
        "totals": [figures.count(sum(column)) for column in zip(*confusion.matrix.counts, strict=True)],
        "n": figures.count(confusion.matrix.n),
        "n_same": figures.count(sum(confusion.matrix.counts[i][i] for i in range(len(labels)))),
    }


def _figures(study: Study, report: ValidationReport) -> Iterator[dict[str, object]]:
    """Yield agreement and accuracy over all dialogues, then the corrected rates of each application."""
    headings = {rule.name: heading_of(guideline, rule) for guideline, rule in rules_of(study)}
    several = len(report.authorities) > 1
    for entry in report.measurements:
        subject, whole = entry.subject, entry.application == ALL_APPLICATIONS
        if subject.is_part or subject.is_human_ceiling or subject.authority not in report.authorities:
            continue
        name = _AGREEMENT.get(entry.measure) if not subject.rule else _ACCURACY.get(entry.measure)
        if entry.measure is Measure.CORRECTED_RATE and not whole:
            name, whole = f"Corrected rate, {entry.application}", True
        if name and whole:
            yield {
                "name": name,
                "rule": headings.get(subject.rule, "all labels"),
                "people": title_of(study, subject.authority) if several else "",
                "text": _estimate(entry),
            }


def _estimate(entry: Measurement) -> str:
    return estimate_text(entry.result)
