"""The sheet: one sitting as its page shows it, question by question, whoever sits there and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.assessment.completeness import asked as asked_places
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.sentences import sentences
from theodolite.domain.annotating.blind import BlindDialogue
from theodolite.domain.annotation import Answer
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.instrument import (
    Exemplar,
    Instrument,
    Question,
    QuestionLevel,
)
from theodolite.domain.shown_order import NOT_VARIED, QuestionCard, ShownOrder, cards_in_order
from theodolite.web.annotator.items import Card, Item, Key, key_of, worded


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """One turn, cut into sentences."""

    number: int
    prompt: tuple[str, ...]
    response: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """One source of ground truth, line by line, so that lines can be searched."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExample:
    """A worked example as the page shows it."""

    dialogue: str
    answers: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExemplars:
    """The examples that stand beside one question."""

    question: str
    text: str
    exemplars: tuple[Exemplar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that the annotation page shows of one sitting, and nothing else; `instrument` is what is asked."""

    guideline: Guideline
    instrument: Instrument
    dialogue: BlindDialogue
    cards: tuple[Card, ...]
    open: tuple[Key, ...]
    title: str = ""

    @property
    def items(self) -> tuple[Item, ...]:
        """All questions at all places, in order of the page."""
        return tuple(item for card in self.cards for item in card.items)

    @property
    def asked(self) -> tuple[Key, ...]:
        """What is asked now."""
        return tuple(item.key for item in self.items if item.is_asked)

    @property
    def open_json(self) -> str:
        """What is open, for the page's script."""
        return json.dumps(self.open)

    @property
    def turns(self) -> tuple[SpokenTurn, ...]:
        """What was said, cut into sentences."""
        return tuple(
            SpokenTurn(number=turn.number, prompt=sentences(turn.prompt), response=sentences(turn.response))
            for turn in self.dialogue.turns
        )

    @property
    def facts(self) -> tuple[FactSheet, ...]:
        """The ground truth, source by source."""
        return tuple(
            FactSheet(name=name, lines=tuple(line for line in text.splitlines() if line.strip()))
            for name, text in self.dialogue.reference.facts
        )

    @property
    def has_reference(self) -> bool:
        """Whether the scenario brings anything to look up."""
        reference = self.dialogue.reference
        return bool(reference.situation or reference.permitted or reference.prohibited or reference.facts)

    @property
    def exemplars(self) -> tuple[ShownExemplars, ...]:
        """The examples beside each question that has some."""
        return tuple(
            ShownExemplars(question=one.name, text=one.text, exemplars=one.exemplars)
            for one in self.instrument.questions
            if one.exemplars
        )

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        """The guideline's worked examples."""
        return tuple(_shown(example, self.guideline) for example in self.guideline.examples)

    def item(self, key: Key) -> Item | None:
        """Return the question at a place, by its key."""
        return next((item for item in self.items if item.key == key), None)

    def without_evidence(self) -> Sheet:
        """Return the sheet without places for quotes and notes, where nobody keeps them."""
        cards = tuple(
            replace(card, items=tuple(replace(item, takes_evidence=False) for item in card.items))
            for card in self.cards
        )
        return replace(self, cards=cards)

    def remarked(self, *, problems: Mapping[Key, str] = {}, feedback: Mapping[Key, str] = {}) -> Sheet:
        """Return the sheet with remarks at some of its questions."""

        def told(item: Item) -> Item:
            return replace(item, problem=problems.get(item.key, ""), feedback=feedback.get(item.key, ""))

        cards = tuple(replace(card, items=tuple(map(told, card.items))) for card in self.cards)
        return replace(self, cards=cards)


def sheet_of(
    guideline: Guideline,
    dialogue: BlindDialogue,
    answers: Sequence[Answer],
    title: str = "",
    *,
    instrument: Instrument | None = None,
    order: ShownOrder = NOT_VARIED,
) -> Sheet:
    """Return what the page shows of one sitting.

    Questions about turns that stand side by side are asked turn by turn, so that
    a turn is read once.

    Args:
        guideline: What is asked.
        dialogue: What was said, blinded.
        answers: What was answered so far.
        title: What the page is called; the guideline's name in words where empty.
        instrument: What is asked in place of the guideline's own questions; None for these.
        order: The order of questions, answers and turns that the sitting shows.
    """
    instrument = instrument or guideline.instrument
    turns = [turn.number for turn in dialogue.turns]
    given = {(answer.question, answer.turn): answer for answer in answers}
    is_asked = {(place.question, place.turn) for place in asked_places(instrument, answers, turns)}

    def item(question: Question, turn: int | None) -> Item:
        place = (question.name, turn)
        return Item(
            key=key_of(*place),
            question=question,
            turn=turn,
            is_asked=place in is_asked,
            answer=given.get(place),
            is_reversed=bool(order.options),
        )

    cards = tuple(
        Card(turn=turn, items=tuple(item(question, turn) for question in card.questions))
        for card, turn in _placed(cards_in_order(instrument, order), turns[::-1] if order.turns else turns)
    )
    still_open = open_questions(instrument, answers, turns)
    return Sheet(
        guideline=guideline,
        instrument=instrument,
        dialogue=dialogue,
        cards=cards,
        open=_in_page_order(cards, {key_of(place.question, place.turn) for place in still_open}),
        title=title or worded(guideline.name),
    )


def _placed(cards: Sequence[QuestionCard], turns: Sequence[int]) -> list[tuple[QuestionCard, int | None]]:
    placed: list[tuple[QuestionCard, int | None]] = []
    beside: list[QuestionCard] = []
    for card in cards:
        if card.question.level is QuestionLevel.TURN:
            beside.append(card)
            continue
        placed += [(one, turn) for turn in turns for one in beside]
        beside = []
        placed.append((card, None))
    return placed + [(one, turn) for turn in turns for one in beside]


def _in_page_order(cards: Sequence[Card], keys: set[Key]) -> tuple[Key, ...]:
    return tuple(item.key for card in cards for item in card.items if item.key in keys)


def _shown(example: Example, guideline: Guideline) -> ShownExample:
    texts = {question.name: question.text for question in guideline.instrument.questions}
    answers = tuple((texts.get(name, name), worded(value)) for name, value in example.answers.items())
    return ShownExample(dialogue=example.dialogue, answers=answers, reason=example.reason)
