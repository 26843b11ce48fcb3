"""Figures of one question: who said what, how far they agree, where they are divided; answers are read once."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.findings.agreeing import (
    GroupAgreement,
    PairAgreement,
    PlannedPasses,
    QuestionAgreement,
    RaterAgreement,
    UnitSpread,
)
from theodolite.domain.findings.number import Undefined
from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.measurement.annotating import (
    groups_of_annotators,
    model_agreements,
    pair_agreements,
    question_agreement,
    self_agreement,
)
from theodolite.measurement.answer_arrays import AnswerArrays
from theodolite.measurement.order_effects import order_effects
from theodolite.measurement.planning_passes import planned_passes
from theodolite.measurement.spread import rater_agreements, spreads
from theodolite.store.annotating.all_answers import AllAnswers, all_answers
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.progress import attributes, guideline_of
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.standing import judges_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFigures:
    """The answers to one question, and what can be worked out of them.

    Attributes:
        queue: Token of the queue.
        category: Name of the category.
        guideline: What the category asks.
        asked: The question.
        people: What people answered, each for the first time they met a dialogue.
        everybody: The same with judges.
        repeats: The same of people, with what they answered again; None where nobody met a dialogue again.
        models: Names of judges.
    """

    queue: str
    category: str
    guideline: Guideline
    asked: Question
    people: AnswerArrays
    everybody: AnswerArrays
    repeats: AnswerArrays | None
    models: frozenset[str]

    def agreement(self) -> QuestionAgreement:
        """Return how far people say the same."""
        return question_agreement(self.category, self.asked, self.people)

    def repeated(self) -> QuestionAgreement | None:
        """Return how far people say the same again when they meet the same dialogue again; None where nobody did."""
        return None if self.repeats is None else self_agreement(self.category, self.asked, self.repeats)

    def raters(self) -> tuple[RaterAgreement, ...]:
        """Return what everybody said, and how often others said the same; by name, never an order of merit."""
        return rater_agreements(self.asked, self.people)

    def divided(self) -> tuple[UnitSpread, ...]:
        """Return how the labels of each dialogue or turn are spread, the most divided first."""
        return spreads(self.asked, self.people)

    def pairs(self, of: str = "") -> tuple[PairAgreement, ...]:
        """Return how far every two people, or one person and each other one, say the same."""
        return pair_agreements(self.asked, self.people, of=of)

    def models_beside_people(self) -> tuple[PairAgreement, ...]:
        """Return how far judges, who read the same dialogues in a run, say what each person says."""
        return model_agreements(self.asked, self.everybody, self.models)

    def plan(self, half_width: float) -> tuple[PlannedPasses, ...] | Undefined:
        """Return how many dialogues it takes, with 1, 2, ... passes, for an interval of a wanted half-width."""
        return planned_passes(self.asked, self.people, half_width)

    def orders(self) -> list[OrderEffect]:
        """Return what the order of asking did to people's answers; empty where nothing tells."""
        return order_effects(self.guideline, self.asked, self.people)

    def groups(self, attribute: str) -> tuple[GroupAgreement, ...]:
        """Return how far annotators of each self-described group agree within it and with the others."""
        return groups_of_annotators(self.asked, self.people, attributes(self.queue).get(attribute, {}))


def question_figures(library: Library, queue: str, category: str, question: str) -> QuestionFigures:
    """Read the answers to one question; the same number of queries however many there are.

    Raises:
        InputError: If the queue has no such category, or the category no such question.
    """
    guideline = guideline_of(library, queue, category)
    asked = guideline.instrument.question(question)
    found = all_answers(library, queue, category)
    return QuestionFigures(
        queue=queue,
        category=category,
        guideline=guideline,
        asked=asked,
        people=AllAnswers.of(found.people, question),
        everybody=AllAnswers.of(found.everybody, question),
        repeats=found.repeats.get(question),
        models=frozenset(one.name for one in judges_of(library.study(queue_of(queue).study_content_id))),
    )
