"""Exporting: every answer as a row of its own, with what it takes to read it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from theodolite.domain.annotation import Annotation, Answer
from theodolite.domain.criteria import StatedCriteria
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.label_sample import item_of
from theodolite.reporting.exporting_testers import tester_tables

ANSWERS = (
    "dialogue", "turn", "guideline", "guideline_version", "question", "annotator", "annotator_kind",
    "outcome", "value", "replicate", "revision", "note", "evidence",
)  # fmt: skip
"""Columns of `answers.csv`."""

DIALOGUES = (
    "dialogue", "application", "application_version", "scenario", "level", "held_by", "turns", "ending", "repeat",
    "groups",
)  # fmt: skip
"""Columns of `dialogues.csv`."""

FINALS = ("dialogue", "guideline", "question", "outcome", "value", "origin", "n_participants", "rationale")
"""Columns of `final_labels.csv`."""

CODEBOOK = (
    "guideline", "guideline_version", "question", "asked", "level", "scale", "labels", "orientation", "when", "defect",
)  # fmt: skip
"""Columns of `codebook.csv`."""

CRITERIA = ("about", "revision", "stated", "text", "why")
"""Columns of `criteria.csv`."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_files(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file of a disaggregated export.

    Nothing is summed up, and nobody is named: people stand under numbers that
    stay the same for one run, and dialogues under names that tell nothing.
    """
    people = pseudonyms(evidence)
    yield "README.txt", _readme(evidence)
    yield "answers.csv", _table(ANSWERS, _answer_rows(evidence, people))
    yield "dialogues.csv", _table(DIALOGUES, map(_dialogue_row, evidence.archive.dialogues()))
    yield "final_labels.csv", _table(FINALS, _final_rows(evidence))
    yield "codebook.csv", _table(CODEBOOK, (row for one in evidence.study.guidelines for row in _codebook_rows(one)))
    yield "criteria.csv", _table(CRITERIA, map(_criteria_row, evidence.criteria))
    for name, columns, rows in tester_tables(evidence):
        yield name, _table(columns, rows)
    for guideline in evidence.study.guidelines:
        yield f"schema/{guideline.name}.json", canonical_json(guideline) + "\n"


def pseudonyms(evidence: Evidence) -> Mapping[str, str]:
    """Return a number for each person who labelled, in an order that hangs on the run's opaque key."""
    people = [annotator.name for annotator in evidence.study.annotators if annotator.by_hand]
    order = sorted(set(people), key=lambda name: digest("pseudonym", evidence.run.key, name))
    return {name: f"P{number:03}" for number, name in enumerate(order, 1)}


def _answer_rows(evidence: Evidence, people: Mapping[str, str]) -> Iterator[Sequence[object]]:
    kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
    for annotation in evidence.archive.annotations():
        for answer in annotation.answers:
            yield _answer_row(annotation, answer, people, kinds.get(annotation.annotator, ""))


def _answer_row(annotation: Annotation, answer: Answer, people: Mapping[str, str], kind: str) -> Sequence[object]:
    return (
        item_of(annotation.dialogue),
        answer.turn,
        annotation.guideline,
        annotation.instrument_version,
        answer.question,
        people.get(annotation.annotator, annotation.annotator),
        kind,
        answer.outcome.value,
        answer.value,
        answer.replicate,
        annotation.revision,
        answer.reasoning,
        " | ".join(f"[{quote.turn}] {quote.text}" for quote in answer.evidence),
    )


def _dialogue_row(dialogue: Dialogue) -> Sequence[object]:
    return (
        item_of(dialogue.key),
        dialogue.application,
        dialogue.application_version,
        dialogue.scenario,
        dialogue.level.value,
        dialogue.held_by.value,
        len(dialogue.turns),
        dialogue.ending.value,
        dialogue.repeat,
        "; ".join(f"{name}={value}" for name, value in sorted(dialogue.groups.items())),
    )


def _final_rows(evidence: Evidence) -> Iterator[Sequence[object]]:
    for final in evidence.archive.adjudications():
        yield (
            item_of(final.dialogue),
            final.guideline,
            final.question,
            final.outcome.value,
            final.value,
            final.origin.value,
            len(final.participants),
            final.rationale,
        )


def _codebook_rows(guideline: Guideline) -> Iterator[Sequence[object]]:
    rules = {rule.question: rule.condition for rule in guideline.defect_rules}
    for question in guideline.instrument.questions:
        scale = question.scale
        span = f"{scale.lowest} to {scale.highest}" if scale.lowest is not None else " | ".join(scale.categories)
        meanings = "; ".join(f"{label.value}: {label.meaning}" for label in scale.labels if label.meaning)
        yield (
            guideline.name,
            version_of(guideline),
            question.name,
            question.text,
            question.level.value,
            span or scale.kind.value,
            meanings,
            scale.orientation.value,
            question.when.text if question.when else "",
            rules.get(question.name, ""),
        )


def _criteria_row(stated: StatedCriteria) -> Sequence[object]:
    return stated.about.value, stated.revision, stated.at.isoformat(timespec="seconds"), stated.text, stated.why


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> str:
    """Return a value as text that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not text.lstrip("-").isdecimal() else text


def _readme(evidence: Evidence) -> str:
    study, run = evidence.study, evidence.run
    return (
        f"Study {study.name}, run {run.number}: every answer as a row of its own.\n\n"
        "answers.csv       one row an answer; missing, refused and unparseable answers are rows too\n"
        "dialogues.csv     what the answers are about, without its words\n"
        "final_labels.csv  what a review agreed on, or that it could not, and final labels of files\n"
        "codebook.csv      every question with its scale, and which end of it is the bad one\n"
        "criteria.csv      how annotators were sought, chosen and given work, statement by statement\n"
        "responses.csv     what testers answered; own words only where they were released\n"
        "codings.csv       which codes two people gave to own words, with coding_resolutions.csv and codes.csv\n"
        "schema/           the guidelines, whose SHA-256 the answers name\n\n"
        "People stand under numbers (P001, ...) that are the same in every export of this run and in no other.\n"
        "Nothing here is summed up: no label was made from several people's answers.\n"
        f"Study version {run.study_version}, plan version {run.plan_version}.\n"
    )
