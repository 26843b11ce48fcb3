"""The chips above the list of dialogues: questions that every reader asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import reference_names
from theodolite.domain.answers import DialogueLabel
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
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
    return [case.index for case in subject.cases if is_disputed(subject.study, case)]


def is_disputed(study: Study, case: Case) -> bool:
    """Tell whether two annotators gave different labels to one question; unreadable ones differ from all."""
    return any(
        len({label.value for label in labels if label.outcome in {Outcome.ANSWERED, Outcome.UNPARSEABLE}}) > 1
        for labels in _labels_by_question(study, case)
    )


def _labels_by_question(study: Study, case: Case) -> Iterator[list[DialogueLabel]]:
    """Yield the labels of a dialogue by all annotators, question by question."""
    for guideline in study.guidelines:
        names = [one.name for one in study.annotators if one.guideline == guideline.name]
        for question in guideline.instrument.questions:
            yield [case.dialogue_label(name, guideline, question.name) for name in names]


def _unparseable(subject: Subject) -> list[int]:
    return [
        case.index
        for case in subject.cases
        if any(
            label.outcome is Outcome.UNPARSEABLE
            for labels in _labels_by_question(subject.study, case)
            for label in labels
        )
    ]


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
