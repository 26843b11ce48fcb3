"""The chips above the list of dialogues: questions that every reader asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import labels_of, reference_names
from theodolite.domain.answers import OUTCOME_CODES, DialogueLabels
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting.found.cases import Case, rules_of
from theodolite.reporting.page.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One filter of the list.

    Attributes:
        name: Name of its set.
        title: What stands on it.
        meaning: What it lets through.
        n: Dialogues that it lets through; count.
    """

    name: str
    title: str
    meaning: str
    n: int


def chips_of(subject: Subject) -> tuple[Chip, ...]:
    """Return the chips in their fixed order, their sets kept; empty ones too."""
    every = (
        ("all", "All", "every planned dialogue", [case.index for case in subject.cases]),
        ("defect", "Defect", "a defect by the labels that the rates are read by", _defects(subject)),
        ("disagreement", "Disagreement", "two annotators gave different labels", _disagreements(subject)),
        ("failed", "Failed", "the dialogue or a label of it failed", [c.index for c in subject.cases if c.failures]),
        ("unparseable", "Unparseable", "an annotator's reply fits no label", _unparseable(subject)),
        (
            "flipped",
            "Flipped",
            "a defect in one application and none in another on the same prompts",
            _flipped(subject),
        ),
        ("withheld", "Withheld text", "the texts are not shown", _withheld(subject)),
    )
    chips = []
    for name, title, meaning, places in every:
        subject.sets.add(name, title if name != "all" else "All dialogues", places)
        chips.append(Chip(name=name, title=title, meaning=meaning, n=len(set(places))))
    return tuple(chips)


def _defects(subject: Subject) -> list[int]:
    return [case.index for guideline, rule in rules_of(subject.study) for case in subject.defects(guideline, rule)]


def _disagreements(subject: Subject) -> list[int]:
    """Return the dialogues on which two annotators gave different labels; what cannot be read is no label."""
    found: set[int] = set()
    for columns in _labels_by_question(subject):
        readable = zip(*(column.values for column in columns), strict=True)
        for position, values in enumerate(readable):
            if len(set(values)) > 1:
                told = {value for column in columns if (value := column[position].value) is not None}
                found.update([position] * (len(told) > 1))
    return sorted(found)


def _labels_by_question(subject: Subject) -> Iterator[list[DialogueLabels]]:
    """Yield the labels of all annotators on the whole plan, question by question."""
    table = subject.evidence.answers
    for guideline in subject.study.guidelines:
        names = [one.name for one in subject.study.annotators if one.guideline == guideline.name]
        for question in guideline.instrument.questions:
            yield [labels_of(table, name, guideline, question) for name in names]


def _unparseable(subject: Subject) -> list[int]:
    code = OUTCOME_CODES[Outcome.UNPARSEABLE]
    columns = (column.outcomes for by_question in _labels_by_question(subject) for column in by_question)
    return sorted(
        {
            position
            for outcomes in columns
            if code in outcomes
            for position, outcome in enumerate(outcomes)
            if outcome == code
        }
    )


def _withheld(subject: Subject) -> list[int]:
    return [case.index for case in subject.cases if case.dialogue is not None and case.dialogue.withheld]


def _flipped(subject: Subject) -> list[int]:
    if len(subject.study.applications) == 1:
        return []
    flipped: list[int] = []
    for guideline, rule in rules_of(subject.study):
        defects = {case.index for case in subject.defects(guideline, rule)}
        asked = list(_labelled(subject, guideline, rule))
        # Defects are few, and a pair key is long: of the others, those alone are kept that meet one.
        bad = {case.index: case.pair_key for case in asked if case.index in defects}
        keys = set(bad.values())
        good = {case.index: key for case in asked if case.index not in defects and (key := case.pair_key) in keys}
        met = set(good.values())
        flipped += [place for place, key in bad.items() if key in met] + [*good]
    return flipped


def _labelled(subject: Subject, guideline: Guideline, rule: DefectRule) -> Iterator[Case]:
    """Yield the cases of a rule that have a label by which its rate is read."""
    study, applications = subject.study, subject.study.applications
    names = {one.name: reference_names(study, guideline, one) for one in applications}
    for case in subject.cases:
        own = names.get(case.setting.application, ())
        if rule.applies_to(case.setting.groups) and any(
            case.dialogue_label(name, guideline, rule.question).outcome is Outcome.ANSWERED for name in own
        ):
            yield case
