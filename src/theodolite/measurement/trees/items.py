"""Items: questions, defect rules and single answers that the crosswalk of a tree may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from theodolite.domain.choices import Impact
from theodolite.domain.dialogue import Level
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Instrument, Operator, Orientation, Question, ScaleKind
from theodolite.domain.trees.tree import Dimension

_GRADES = ("magnitude", "severity")
"""How the name of a question ends that grades how far a defect goes."""

_GOOD = (Impact.POSITIVE.value, Impact.BOTH.value)
"""Answers by which something had a positive impact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question, or one defect rule on it, as a measure of risk.

    Attributes:
        name: `guideline.question` or `guideline.rule`.
        source: The question, as `instrument.question`.
        question: The question itself.
        rule: The rule that makes an answer a defect; None where the scale itself is moved.
        by: Whose answers count; everybody's where empty.
        by_testers: Whether testers answer it in a questionnaire.
        magnitude: Follow-up that grades how far a defect goes; None where none is asked.
        opened_by: Answer that opens the question, where the share of all dialogues counts; None where those
            that were asked count.
    """

    name: str
    source: str
    question: Question
    rule: DefectRule | None = None
    magnitude: Question | None = None
    opened_by: DefectRule | None = None
    by: tuple[str, ...] = ()
    by_testers: bool = False

    @property
    def degree(self) -> str:
        """What its score takes in beside how often it happens, in words."""
        return "by magnitude" if self.magnitude is not None else "of all dialogues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Soil:
    """What a tree is grown over.

    Attributes:
        guidelines: Guidelines that annotators answer.
        questionnaires: Questionnaires that testers answer.
        by: Guideline to whose answers count; everybody's where it is not named.
        asked_at: Questionnaire to the levels of testing after which it is answered; all where it is not named.
    """

    guidelines: Sequence[Guideline] = ()
    questionnaires: Sequence[Instrument] = ()
    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked_at: Mapping[str, frozenset[Level]] = field(default_factory=dict)

    def items(self) -> dict[str, Item]:
        """Return everything that a crosswalk may name, by its name."""
        found: dict[str, Item] = {}
        for guideline in self.guidelines:
            by = self.by.get(guideline.name, ())
            for question in guideline.instrument.questions:
                source = f"{guideline.name}.{question.name}"
                if question.scale.is_numeric:
                    found[source] = Item(name=source, source=source, question=question, by=by)
            for rule in guideline.defect_rules:
                question = guideline.instrument.question(rule.question)
                source = f"{guideline.name}.{question.name}"
                name = f"{guideline.name}.{rule.name}"
                magnitude = _magnitude_of(guideline, rule)
                item = Item(name=name, source=source, question=question, rule=rule, by=by, magnitude=magnitude)
                found[name] = item
                found.setdefault(source, item)
        for instrument in self.questionnaires:
            for question in instrument.questions:
                source = f"{instrument.name}.{question.name}"
                if question.scale.is_numeric:
                    found[source] = Item(name=source, source=source, question=question, by_testers=True)
        return found

    def named_answers(self, dimensions: Sequence[Dimension]) -> dict[str, Item]:
        """Return the items of crosswalk entries that name an answer: `guideline.question == value`.

        Where an earlier answer opens the question, the item is the share of all dialogues, and not of those that
        were asked. Entries that fit no question of a guideline are left out.
        """
        questions = {
            f"{guideline.name}.{question.name}": (guideline, question)
            for guideline in self.guidelines
            for question in guideline.instrument.questions
        }
        found: dict[str, Item] = {}
        for name in dict.fromkeys(name for dimension in dimensions for name in dimension.crosswalk):
            source, _, value = (part.strip() for part in name.partition("=="))
            if value and source in questions and value in questions[source][1].scale.categories:
                guideline, question = questions[source]
                found[name] = Item(
                    name=name,
                    source=source,
                    question=question,
                    rule=_equals(question.name, value),
                    by=self.by.get(guideline.name, ()),
                    opened_by=_opening(question),
                )
        return found

    def impacts(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return the follow-ups of some items that ask whether what happened was good or bad for people."""
        sources = {item.source for item in items}
        return tuple(
            Item(
                name=f"{guideline.name}.{question.name}, positive",
                source=f"{guideline.name}.{question.name}",
                question=question,
                rule=_equals(question.name, *_GOOD),
                by=self.by.get(guideline.name, ()),
            )
            for guideline in self.guidelines
            for question in guideline.instrument.questions
            if question.when is not None
            and f"{guideline.name}.{question.when.question}" in sources
            and set(question.scale.categories) == {impact.value for impact in Impact}
        )

    def rules(self, guideline: str) -> tuple[str, ...]:
        """Return the names of the items that stand for a whole guideline: its defect rules."""
        meant = [each for each in self.guidelines if each.name == guideline]
        return tuple(f"{each.name}.{rule.name}" for each in meant for rule in each.defect_rules)


def _equals(question: str, *values: str) -> DefectRule:
    return DefectRule(name="answer", question=question, operator=Operator.ONE_OF, values=values)


def _opening(question: Question) -> DefectRule | None:
    when = question.when
    if when is None:
        return None
    return DefectRule(name="opening", question=when.question, operator=when.operator, values=when.values)


def _magnitude_of(guideline: Guideline, rule: DefectRule) -> Question | None:
    """Return the follow-up that grades how far a defect goes: asked wherever the rule finds one, higher being worse."""
    scale = guideline.instrument.question(rule.question).scale
    broken = [value for value in scale.categories if rule.is_defect(value, scale)]
    for question in guideline.instrument.questions:
        if (
            question.when is not None
            and question.when.question == rule.question
            and question.name.endswith(_GRADES)
            and question.scale.kind is ScaleKind.NUMBERS
            and question.scale.orientation is Orientation.HIGHER_IS_WORSE
            and (question.scale.lowest or 0) >= 0
            and all(question.when.holds(value, scale) for value in broken)
        ):
            return question
    return None
