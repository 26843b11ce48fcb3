"""The sheet: one sitting as its page shows it, question by question, whoever sits there and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from theodolite.assessment.completeness import asked as asked_places
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.sentences import sentences
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.blind import BlindDialogue
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.instrument import (
    NOT_APPLICABLE,
    UNABLE,
    Exemplar,
    Instrument,
    OpenQuestion,
    Question,
    QuestionLevel,
    ScaleKind,
)
from theodolite.web.questions.form import Field, field_of

Key = str
"""What the page calls a question at a place: its name, and for a turn `@` and the turn's number."""

WAYS_OUT = {UNABLE: Outcome.MISSING, NOT_APPLICABLE: Outcome.NOT_APPLICABLE}
"""What may stand in place of a value, where the question allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value that may be chosen, with the words that define it."""

    value: str
    words: str
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question at one place.

    Attributes:
        key: What the page calls it.
        question: What is asked.
        turn: Number of the turn; None for the dialogue as a whole.
        is_asked: Whether the answers given so far open it.
        answer: What was answered; None so far.
        problem: What is wrong with what was sent; empty for nothing.
        feedback: What practice says about the answer; empty for nothing.
    """

    key: Key
    question: Question
    turn: int | None
    is_asked: bool
    answer: Answer | None = None
    problem: str = ""
    feedback: str = ""
    takes_evidence: bool = True

    @property
    def fields(self) -> tuple[str, str, str]:
        """Names of the form's fields: value, quotes and note."""
        return f"a:{self.key}", f"quotes:{self.key}", f"note:{self.key}"

    def says(self, answer: Answer) -> bool:
        """Tell whether an answer is what stands here already; whether quotes were verified does not matter."""
        if self.answer is None:
            return False
        quotes = [[quote.text for quote in each.evidence] for each in (self.answer, answer)]
        return replace(self.answer, evidence=()) == replace(answer, evidence=()) and quotes[0] == quotes[1]

    @property
    def text(self) -> str:
        """What is asked."""
        return self.question.text

    @property
    def opened_by(self) -> str:
        """After which answer a follow-up is asked, e.g. `after Yes`; empty for others."""
        when = self.question.when
        return f"after {' or '.join(worded(value) for value in when.values)}" if when else ""

    @property
    def is_text(self) -> bool:
        """Whether it is answered in own words."""
        return self.question.scale.kind is ScaleKind.TEXT

    @property
    def is_number(self) -> bool:
        """Whether a number is written rather than chosen."""
        return self.question.scale.kind is ScaleKind.DECIMALS

    @property
    def is_scale(self) -> bool:
        """Whether numbers are chosen."""
        return self.question.scale.kind is ScaleKind.NUMBERS

    @property
    def lowest(self) -> int | None:
        """Lower end of the scale."""
        return self.question.scale.lowest

    @property
    def highest(self) -> int | None:
        """Upper end of the scale."""
        return self.question.scale.highest

    @property
    def field(self) -> Field:
        """The question as every page draws it."""
        drawn = field_of(
            self.question,
            OpenQuestion(question=self.question.name, turn=self.turn),
            [self.answer] if self.answer else [],
            is_asked=self.is_asked,
            is_open=self.answer is None,
        )
        options = tuple(replace(option, words=worded(option.words)) for option in drawn.options)
        return replace(drawn, options=options, is_shut=not self.is_asked)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The values in order; those of a number scale without words, which stand at its ends."""
        scale = self.question.scale
        if self.is_scale:
            return tuple(Choice(value=value, words=value) for value in scale.categories)
        return tuple(Choice(value=one.value, words=worded(one.value), meaning=one.meaning) for one in scale.labels)

    @property
    def ways_out(self) -> tuple[Choice, ...]:
        """What may be said in place of a value."""
        allowed = {UNABLE: self.question.may_be_unable, NOT_APPLICABLE: self.question.may_not_apply}
        return tuple(Choice(value=value, words=worded(value)) for value in WAYS_OUT if allowed[value])

    @property
    def value(self) -> str:
        """What is chosen or written so far, as the form holds it."""
        if self.answer is None:
            return ""
        if self.answer.value is not None:
            return self.answer.value
        return next((value for value, outcome in WAYS_OUT.items() if outcome is self.answer.outcome), "")

    @property
    def quote_lines(self) -> str:
        """The evidence, one quote a line."""
        return "\n".join(quote.text for quote in self.answer.evidence) if self.answer else ""

    @property
    def note(self) -> str:
        """The annotator's note."""
        return self.answer.reasoning if self.answer else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A question with its follow-ups at one place; a page with scripts shows one at a time."""

    turn: int | None
    items: tuple[Item, ...]

    @property
    def is_asked(self) -> bool:
        """Whether anything on it is asked."""
        return any(item.is_asked for item in self.items)


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
    """Everything that the annotation page shows of one sitting, and nothing else."""

    guideline: Guideline
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
            for one in self.guideline.instrument.questions
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Root:
    question: Question
    follow_ups: list[Question] = field(default_factory=list)


def sheet_of(guideline: Guideline, dialogue: BlindDialogue, answers: Sequence[Answer], title: str = "") -> Sheet:
    """Return what the page shows of one sitting.

    Questions about turns that stand side by side are asked turn by turn, so that
    a turn is read once.

    Args:
        guideline: What is asked.
        dialogue: What was said, blinded.
        answers: What was answered so far.
        title: What the page is called; the guideline's name in words where empty.
    """
    instrument = guideline.instrument
    turns = [turn.number for turn in dialogue.turns]
    given = {(answer.question, answer.turn): answer for answer in answers}
    is_asked = {(place.question, place.turn) for place in asked_places(instrument, answers, turns)}

    def item(question: Question, turn: int | None) -> Item:
        place = (question.name, turn)
        return Item(
            key=key_of(*place), question=question, turn=turn, is_asked=place in is_asked, answer=given.get(place)
        )

    cards = tuple(
        Card(turn=turn, items=tuple(item(question, turn) for question in (root.question, *root.follow_ups)))
        for root, turn in _placed(_roots(instrument), turns)
    )
    still_open = open_questions(instrument, answers, turns)
    return Sheet(
        guideline=guideline,
        dialogue=dialogue,
        cards=cards,
        open=_in_page_order(cards, {key_of(place.question, place.turn) for place in still_open}),
        title=title or worded(guideline.name),
    )


def key_of(question: str, turn: int | None) -> Key:
    """Return what the page calls a question at a place.

    Example:
        >>> key_of("released", 2), key_of("released", None)
        ('released@2', 'released')
    """
    return question if turn is None else f"{question}@{turn}"


def place_of(key: Key) -> tuple[str, int | None]:
    """Return the question and the turn that a key stands for; a key of no page stands for no turn."""
    question, at, turn = key.rpartition("@")
    return (question, int(turn)) if at and turn.isdecimal() else (key, None)


def worded(name: str) -> str:
    """Return a name as words with a capital letter.

    Example:
        >>> worded("risk_assessment"), worded("does not apply")
        ('Risk assessment', 'Does not apply')
    """
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _roots(instrument: Instrument) -> list[_Root]:
    """Return the questions with the follow-ups that stand on their card: those asked at the same kind of place."""
    roots: list[_Root] = []
    on_card: dict[str, _Root] = {}
    for question in instrument.questions:
        opener = on_card.get(question.when.question) if question.when else None
        if opener is None or opener.question.level is not question.level:
            opener = _Root(question=question)
            roots.append(opener)
        else:
            opener.follow_ups.append(question)
        on_card[question.name] = opener
    return roots


def _placed(roots: Sequence[_Root], turns: Sequence[int]) -> list[tuple[_Root, int | None]]:
    placed: list[tuple[_Root, int | None]] = []
    beside: list[_Root] = []
    for root in roots:
        if root.question.level is QuestionLevel.TURN:
            beside.append(root)
            continue
        placed += [(one, turn) for turn in turns for one in beside]
        beside = []
        placed.append((root, None))
    return placed + [(one, turn) for turn in turns for one in beside]


def _in_page_order(cards: Sequence[Card], keys: set[Key]) -> tuple[Key, ...]:
    return tuple(item.key for card in cards for item in card.items if item.key in keys)


def _shown(example: Example, guideline: Guideline) -> ShownExample:
    texts = {question.name: question.text for question in guideline.instrument.questions}
    answers = tuple((texts.get(name, name), worded(value)) for name, value in example.answers.items())
    return ShownExample(dialogue=example.dialogue, answers=answers, reason=example.reason)
