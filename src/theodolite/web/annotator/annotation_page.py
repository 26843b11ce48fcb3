"""The annotation page: the questions of one task, or of one worked example."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.annotation.rules import worked_examples
from theodolite.assessment.completeness import asked as asked_places
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.sentences import sentences
from theodolite.domain.annotating.blind import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.annotating.training import Marked
from theodolite.domain.annotation import Answer
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.instrument import Exemplar, Instrument, Question, QuestionLevel
from theodolite.domain.shown_order import NOT_VARIED, QuestionGroup, ShownOrder, groups_in_order
from theodolite.domain.study import Study
from theodolite.web.annotator.questions import Card, Item, Key, key_of, worded


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
class AnnotationPage:
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

    def without_evidence(self) -> AnnotationPage:
        """Return the sheet without places for quotes and notes, where nobody keeps them."""
        cards = tuple(
            replace(card, items=tuple(replace(item, takes_evidence=False) for item in card.items))
            for card in self.cards
        )
        return replace(self, cards=cards)

    def remarked(self, *, problems: Mapping[Key, str] = {}, feedback: Mapping[Key, str] = {}) -> AnnotationPage:
        """Return the sheet with remarks at some of its questions."""

        def told(item: Item) -> Item:
            return replace(item, problem=problems.get(item.key, ""), feedback=feedback.get(item.key, ""))

        cards = tuple(replace(card, items=tuple(map(told, card.items))) for card in self.cards)
        return replace(self, cards=cards)


def annotation_page(
    guideline: Guideline,
    dialogue: BlindDialogue,
    answers: Sequence[Answer],
    title: str = "",
    *,
    instrument: Instrument | None = None,
    order: ShownOrder = NOT_VARIED,
) -> AnnotationPage:
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
        for card, turn in _placed(groups_in_order(instrument, order), turns[::-1] if order.turns else turns)
    )
    still_open = open_questions(instrument, answers, turns)
    return AnnotationPage(
        guideline=guideline,
        instrument=instrument,
        dialogue=dialogue,
        cards=cards,
        open=_in_page_order(cards, {key_of(place.question, place.turn) for place in still_open}),
        title=title or worded(guideline.name),
    )


def _placed(cards: Sequence[QuestionGroup], turns: Sequence[int]) -> list[tuple[QuestionGroup, int | None]]:
    placed: list[tuple[QuestionGroup, int | None]] = []
    beside: list[QuestionGroup] = []
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


_SPEAKER = re.compile(r"^(User|You|Application|Reply|Assistant)\s*:\s*", re.IGNORECASE | re.MULTILINE)
_USERS = {"user", "you"}


def turns_of(text: str) -> tuple[BlindTurn, ...]:
    r"""Return the turns of an example that is written as `User: ...` and `Reply: ...`; what names nobody is a reply.

    Example:
        >>> [(turn.prompt, turn.response) for turn in turns_of("User: Who?\nReply: Ann.\nUser: Thanks")]
        [('Who?', 'Ann.'), ('Thanks', '')]
    """
    pieces = _SPEAKER.split(text)
    said = [("reply", pieces[0])] if pieces[0].strip() else []
    said += list(zip((one.lower() for one in pieces[1::2]), pieces[2::2], strict=True))
    pairs: list[list[str]] = []
    for who, words in said:
        if who in _USERS:
            pairs.append([words.strip(), ""])
        elif pairs and not pairs[-1][1]:
            pairs[-1][1] = words.strip()
        else:
            pairs.append(["", words.strip()])
    return tuple(BlindTurn(number=place, prompt=one, response=two) for place, (one, two) in enumerate(pairs, start=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFrame:
    """What stands around a worked example.

    Attributes:
        title: What the page is called.
        reference: What the study's scenario lays down; empty where it has several.
    """

    title: str
    reference: BlindReference


def reference_of(study: Study) -> BlindReference:
    """Return what a study with one scenario lays down; examples do not say which of several they are from."""
    if len(study.scenarios) != 1:
        return BlindReference()
    packet = study.scenarios[0].packet
    facts = tuple((source.name, source.text) for source in packet.sources)
    return BlindReference(permitted=packet.permitted, prohibited=packet.prohibited, facts=facts)


def example_page(guideline: Guideline, place: int, answers: Sequence[Answer], frame: ExampleFrame) -> AnnotationPage:
    """Return a worked example as a sheet; its own answers and the other examples are left out.

    Each question is asked once, about the example as a whole, and only those
    that the example answers. Examples that stand beside questions are left out too.

    Args:
        guideline: Whose example it is.
        place: Number of the example among all that it has, from 0.
        answers: What was answered so far.
        frame: What stands around it.
    """
    example = worked_examples(guideline)[place]
    asked = [
        replace(question, level=QuestionLevel.DIALOGUE, exemplars=())
        for question in guideline.instrument.questions
        if question.name in example.answers
    ]
    names = {question.name for question in asked}
    asked = [replace(one, when=one.when if one.when and one.when.question in names else None) for one in asked]
    dialogue = BlindDialogue(
        name=f"example {place + 1}",
        turns=turns_of(example.dialogue),
        material=example.context,
        reference=frame.reference,
    )
    instrument = Instrument(name=guideline.instrument.name, questions=tuple(asked))
    return annotation_page(replace(guideline, examples=()), dialogue, answers, frame.title, instrument=instrument)


def feedback_on(marks: tuple[Marked, ...], given: Mapping[str, str]) -> dict[Key, str]:
    """Return what practice says at each question that was answered."""
    return {one.question: _said(one) for one in marks if one.question in given}


def _said(one: Marked) -> str:
    if one.is_right:
        near = (
            f" The example says {one.expected}; one point more or less counts too." if one.given != one.expected else ""
        )
        return f"Right.{near} {one.reason}".strip()
    return f"The example says: {worded(one.expected)}. {one.reason}".strip()
