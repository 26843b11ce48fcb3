"""The chips above the list of dialogues: questions that every reader asks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from theodolite.domain.annotation import Outcome
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting.found.cases import Case, lead_annotators, rules_of
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
    return [case.index for case in subject.cases if is_disputed(case)]


def is_disputed(case: Case) -> bool:
    """Tell whether two annotators gave different labels to one question; unreadable ones differ from all."""
    labels: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for guideline, question, said in case.answers():
        if said.turn is None and said.outcome in {Outcome.ANSWERED, Outcome.UNPARSEABLE}:
            labels[guideline, question].add(said.value)
    return any(len(values) > 1 for values in labels.values())


def _unparseable(subject: Subject) -> list[int]:
    return [
        case.index
        for case in subject.cases
        if any(said.outcome is Outcome.UNPARSEABLE for _, _, said in case.answers())
    ]


def _withheld(subject: Subject) -> list[int]:
    return [case.index for case in subject.cases if case.holding is not None and case.holding.withheld]


def _flipped(subject: Subject) -> list[int]:
    if len(subject.study.applications) == 1:
        return []
    flipped: list[int] = []
    for guideline, rule in rules_of(subject.study):
        defects = {case.index for case in subject.defects(guideline, rule)}
        asked = [
            case
            for case in subject.cases
            if rule.applies_to(case.setting.groups) and _is_labelled(subject, case, guideline, rule)
        ]
        # Defects are few, and a pair key is long: of the others, those alone are kept that meet one.
        bad = {case.index: case.pair_key for case in asked if case.index in defects}
        keys = set(bad.values())
        good = {case.index: key for case in asked if case.index not in defects and (key := case.pair_key) in keys}
        met = set(good.values())
        flipped += [place for place, key in bad.items() if key in met] + [*good]
    return flipped


def _is_labelled(subject: Subject, case: Case, guideline: Guideline, rule: DefectRule) -> bool:
    names = lead_annotators(subject.study, guideline.name, case.setting.application)
    readings = (case.reading(name, guideline.name, rule.question) for name in names)
    return any(reading.outcome is Outcome.ANSWERED for reading in readings)
