"""The annotation page: the questions of one task, or of one worked example."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from theodolite.annotation.rules import worked_examples
from theodolite.assessment.form_rules import asked as asked_places
from theodolite.assessment.form_rules import open_questions, plain_words, sentences
from theodolite.domain.annotating.quality import Marked
from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.annotation import SOURCE_MATERIAL, Answer, Quote
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.instrument import Exemplar, Instrument, OpenQuestion, Question, QuestionLevel, ScaleKind
from theodolite.domain.shown_order import NOT_VARIED, QuestionGroup, ShownOrder, groups_in_order
from theodolite.domain.study import Study
from theodolite.web.questions import (
    Field,
    InvalidAnswer,
    condition_text,
    field_name,
    humanize,
    parse_answer,
    question_field,
    question_key,
    submitted_value,
)
from theodolite.web.rendering import line_html

Key = str
"""The key of a question in the page: its name, and for a turn `@` and the number of the turn.

Questions of further categories on the page have their category and `/` before the name.
"""

LONGEST_NOTE = 2000
"""Length of a note at most; characters."""

MOST_QUOTES = 20
"""Quotes of one answer at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationItem:
    """One question about the dialogue or a turn, with its evidence.

    Attributes:
        key: Its key in the page.
        scope: Prefix of the question in the key; empty for the category of the page.
        question: The question.
        turn: Turn number; None for the dialogue as a whole.
        is_asked: Whether the answers so far lead to the question.
        answer: The answer so far.
        problem: The error text; empty if there is none.
        feedback: The feedback of practice; empty if there is none.
        takes_evidence: Whether it has quotes and a note.
        is_reversed: Whether its named options are in reverse order; numbers always ascend.
        suggestion: Label that a judge gave, as a suggestion; empty if there is none.
    """

    key: Key
    question: Question
    turn: int | None
    is_asked: bool
    scope: str = ""
    answer: Answer | None = None
    problem: str = ""
    feedback: str = ""
    takes_evidence: bool = True
    is_reversed: bool = False
    suggestion: str = ""

    @property
    def ref(self) -> OpenQuestion:
        """The question and the turn."""
        return OpenQuestion(question=self.question.name, turn=self.turn)

    @property
    def fields(self) -> tuple[str, str, str]:
        """Names of the form fields: value, quotes and note."""
        return field_name(self.ref, scope=self.scope), f"quotes:{self.key}", f"note:{self.key}"

    def has_answer(self, answer: Answer) -> bool:
        """Return whether an answer equals the current one, ignoring the verification of quotes."""
        if self.answer is None:
            return False
        quotes = [[quote.text for quote in other.evidence] for other in (self.answer, answer)]
        return replace(self.answer, evidence=()) == replace(answer, evidence=()) and quotes[0] == quotes[1]

    @property
    def suggested(self) -> str:
        """The suggestion as its option shows it; empty if there is none."""
        words = {option.value: option.words for option in self.field.options}
        return words.get(self.suggestion, humanize(self.suggestion))

    @property
    def text(self) -> str:
        """The text of the question."""
        return self.question.text

    @property
    def guidance(self) -> tuple[str, ...]:
        """The guidance to the question."""
        return self.question.guidance

    @property
    def opened_by(self) -> str:
        """The condition of a follow-up as text."""
        return condition_text(self.question)

    @property
    def field(self) -> Field:
        """The question as a form field."""
        answers = [self.answer] if self.answer else []
        field = question_field(
            self.question,
            self.ref,
            answers,
            scope=self.scope,
            is_asked=self.is_asked,
            is_open=self.answer is None,
        )
        options = field.options
        if self.is_reversed and self.question.scale.kind is ScaleKind.CATEGORIES:
            options = field.plain[::-1] + field.aside
        options = tuple(replace(option, words=humanize(option.words)) for option in options)
        return replace(field, options=options, is_shut=not self.is_asked)

    @property
    def value(self) -> str:
        """The submitted value of the answer."""
        return submitted_value(self.answer)

    @property
    def quote_lines(self) -> str:
        """The evidence, one quote per line."""
        return "\n".join(quote.text for quote in self.answer.evidence) if self.answer else ""

    @property
    def note(self) -> str:
        """The annotator's note."""
        return self.answer.reasoning if self.answer else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """A question with its follow-ups, about one turn or the dialogue."""

    turn: int | None
    items: tuple[AnnotationItem, ...]

    @property
    def is_asked(self) -> bool:
        """Whether any of its questions is currently asked."""
        return any(item.is_asked for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSection:
    """A card with the questions of one category.

    Attributes:
        title: Title of the category.
        language: Tag of the language of its questions; empty for the language of the page.
        groups: The questions with their follow-ups.
    """

    title: str
    language: str
    groups: tuple[ItemGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCard:
    """All questions about one turn, or those of one category about the whole dialogue; shown one group at a time."""

    turn: int | None
    title: str
    sections: tuple[CardSection, ...]

    @property
    def is_asked(self) -> bool:
        """Whether any of its questions is currently asked."""
        return any(group.is_asked for section in self.sections for group in section.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """One turn, cut into sentences."""

    number: int
    prompt: tuple[str, ...]
    response: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """A source of ground truth, written in Markdown."""

    name: str
    text: str

    @property
    def html(self) -> SafeString:
        """The source as HTML; each plain line becomes a paragraph."""
        return line_html(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExample:
    """A worked example as the page shows it."""

    dialogue: str
    answers: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExemplars:
    """The examples next to one question."""

    question: Key
    text: str
    exemplars: tuple[Exemplar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationPage:
    """Complete content of the annotation page for one annotation; `instrument` contains the questions.

    Attributes:
        guideline: The guideline of the category.
        instrument: The questions.
        dialogue: The blinded dialogue.
        cards: The questions with their follow-ups, in the order of the page.
        open: Keys of the open questions.
        title: The title of the category.
        scope: Prefix of a question in its key; empty for the category of the page.
        language: Tag of the language of the questions; empty for the language of the page.
        before: Pages of categories of the same dialogue that precede this one in the sequence.
        after: Pages of those that follow it in the sequence.
    """

    guideline: Guideline
    instrument: Instrument
    dialogue: BlindDialogue
    cards: tuple[ItemGroup, ...]
    open: tuple[Key, ...]
    title: str = ""
    scope: str = ""
    language: str = ""
    before: tuple[AnnotationPage, ...] = ()
    after: tuple[AnnotationPage, ...] = ()

    @property
    def sequence(self) -> tuple[AnnotationPage, ...]:
        """The pages of all categories that are annotated together, in order."""
        return (*self.before, self, *self.after)

    @property
    def page_cards(self) -> tuple[PageCard, ...]:
        """The cards of the sequence: one for each turn with the questions of all categories, the others by category."""
        cards: dict[tuple[int | None, Key], list[tuple[AnnotationPage, ItemGroup]]] = {}
        for page in self.sequence:
            for group in page.cards:
                key = (group.turn, "" if group.turn else page.scope or page.title)
                cards.setdefault(key, []).append((page, group))
        return tuple(_page_card(turn, groups) for (turn, _), groups in cards.items())

    @property
    def all_open(self) -> tuple[Key, ...]:
        """Keys of the open questions of the sequence, in the order of the page."""
        still_open = {key for page in self.sequence for key in page.open}
        sections = [section for card in self.page_cards for section in card.sections]
        items = (item for section in sections for group in section.groups for item in group.items)
        return tuple(item.key for item in items if item.key in still_open)

    @property
    def all_items(self) -> tuple[AnnotationItem, ...]:
        """All questions of the sequence."""
        return tuple(item for page in self.sequence for item in page.items)

    @property
    def items(self) -> tuple[AnnotationItem, ...]:
        """All questions with their positions, in order of the page."""
        return tuple(item for card in self.cards for item in card.items)

    @property
    def asked(self) -> tuple[Key, ...]:
        """Keys of the questions that are currently asked."""
        return tuple(item.key for item in self.items if item.is_asked)

    @property
    def open_json(self) -> str:
        """Keys of the open questions, as JSON for the page's script."""
        return json.dumps(self.all_open)

    @property
    def turns(self) -> tuple[SpokenTurn, ...]:
        """The turns, split into sentences."""
        return tuple(
            SpokenTurn(number=turn.number, prompt=sentences(turn.prompt), response=sentences(turn.response))
            for turn in self.dialogue.turns
        )

    @property
    def facts(self) -> tuple[FactSheet, ...]:
        """The ground truth, source by source."""
        return tuple(FactSheet(name=name, text=text) for name, text in self.dialogue.reference.facts if text.strip())

    @property
    def has_reference(self) -> bool:
        """Whether the scenario has reference content."""
        reference = self.dialogue.reference
        return bool(reference.situation or reference.permitted or reference.prohibited or reference.facts)

    @property
    def exemplars(self) -> tuple[ShownExemplars, ...]:
        """The examples for each question that has some."""
        return tuple(
            ShownExemplars(question=page.scope + question.name, text=question.text, exemplars=question.exemplars)
            for page in self.sequence
            for question in page.instrument.questions
            if question.exemplars
        )

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        """The worked examples of the guidelines."""
        return tuple(_shown(example, page.guideline) for page in self.sequence for example in page.guideline.examples)

    def item(self, key: Key) -> AnnotationItem | None:
        """Return the question with a key."""
        return next((item for item in self.items if item.key == key), None)

    def without_evidence(self) -> AnnotationPage:
        """Return the page without fields for quotes and notes."""
        cards = tuple(
            replace(card, items=tuple(replace(item, takes_evidence=False) for item in card.items))
            for card in self.cards
        )
        return replace(self, cards=cards)

    def remarked(self, *, problems: Mapping[Key, str] = {}, feedback: Mapping[Key, str] = {}) -> AnnotationPage:
        """Return the page with feedback on some of its questions."""

        def remarked_item(item: AnnotationItem) -> AnnotationItem:
            return replace(item, problem=problems.get(item.key, ""), feedback=feedback.get(item.key, ""))

        def remarked_page(page: AnnotationPage) -> AnnotationPage:
            cards = tuple(replace(card, items=tuple(map(remarked_item, card.items))) for card in page.cards)
            return replace(page, cards=cards)

        before, after = (tuple(map(remarked_page, pages)) for pages in (self.before, self.after))
        return replace(remarked_page(self), before=before, after=after)


def annotation_page(
    guideline: Guideline,
    dialogue: BlindDialogue,
    answers: Sequence[Answer],
    title: str = "",
    *,
    instrument: Instrument | None = None,
    order: ShownOrder = NOT_VARIED,
    suggestions: Sequence[Answer] = (),
    scope: str = "",
) -> AnnotationPage:
    """Return the content of the page of one annotation.

    Adjacent questions about turns are asked turn by turn, so that
    each turn is read once.

    Args:
        guideline: The questions.
        dialogue: The blinded dialogue.
        answers: Answers so far.
        title: Title of the page; default: the guideline's humanised name.
        instrument: Questions that replace the guideline's own; None for these.
        order: The displayed order of questions, answers and turns.
        suggestions: Answers of a judge that are shown beside the questions.
        scope: Prefix of each question in its key.
    """
    instrument = instrument or guideline.instrument
    turns = [turn.number for turn in dialogue.turns]
    by_ref = {(answer.question, answer.turn): answer for answer in answers}
    suggested = {(answer.question, answer.turn): answer.value or "" for answer in suggestions}
    is_asked = {(asked_place.question, asked_place.turn) for asked_place in asked_places(instrument, answers, turns)}

    def item(question: Question, turn: int | None) -> AnnotationItem:
        ref = (question.name, turn)
        return AnnotationItem(
            key=scope + question_key(*ref),
            scope=scope,
            question=question,
            turn=turn,
            is_asked=ref in is_asked,
            answer=by_ref.get(ref),
            is_reversed=bool(order.options),
            suggestion=suggested.get(ref, ""),
        )

    cards = tuple(
        ItemGroup(turn=turn, items=tuple(item(question, turn) for question in card.questions))
        for card, turn in _placed(groups_in_order(instrument, order), turns[::-1] if order.turns else turns)
    )
    still_open = open_questions(instrument, answers, turns)
    return AnnotationPage(
        guideline=guideline,
        instrument=instrument,
        dialogue=dialogue,
        cards=cards,
        open=_in_page_order(cards, {scope + question_key(ref.question, ref.turn) for ref in still_open}),
        title=title or humanize(guideline.name),
        scope=scope,
    )


def _page_card(turn: int | None, groups: Sequence[tuple[AnnotationPage, ItemGroup]]) -> PageCard:
    sections: dict[Key, list[tuple[AnnotationPage, ItemGroup]]] = {}
    for page, group in groups:
        sections.setdefault(page.scope, []).append((page, group))
    return PageCard(
        turn=turn,
        title=f"Turn {turn}" if turn else groups[0][0].title,
        sections=tuple(
            CardSection(title=own[0][0].title, language=own[0][0].language, groups=tuple(group for _, group in own))
            for own in sections.values()
        ),
    )


def in_sequence(pages: Sequence[AnnotationPage]) -> AnnotationPage:
    """Return the unscoped page together with the surrounding pages, in their order."""
    (index,) = (index for index, page in enumerate(pages) if not page.scope)
    return replace(pages[index], before=tuple(pages[:index]), after=tuple(pages[index + 1 :]))


def _placed(cards: Sequence[QuestionGroup], turns: Sequence[int]) -> list[tuple[QuestionGroup, int | None]]:
    placed: list[tuple[QuestionGroup, int | None]] = []
    beside: list[QuestionGroup] = []
    for card in cards:
        if card.question.level is QuestionLevel.TURN:
            beside.append(card)
            continue
        placed += [(group, turn) for turn in turns for group in beside]
        beside = []
        placed.append((card, None))
    return placed + [(group, turn) for turn in turns for group in beside]


def _in_page_order(cards: Sequence[ItemGroup], keys: set[Key]) -> tuple[Key, ...]:
    return tuple(item.key for card in cards for item in card.items if item.key in keys)


def _shown(example: Example, guideline: Guideline) -> ShownExample:
    texts = {question.name: question.text for question in guideline.instrument.questions}
    answers = tuple((texts.get(name, name), humanize(value)) for name, value in example.answers.items())
    return ShownExample(dialogue=example.dialogue, answers=answers, reason=example.reason)


def parse_item(sent: Mapping[str, str], item: AnnotationItem, dialogue: BlindDialogue) -> Answer | None:
    """Return the submitted answer of an item with its note and quotes; None if there is no value.

    Args:
        sent: The submitted form.
        item: The question.
        dialogue: The dialogue in which quotes are located.

    Raises:
        InvalidAnswer: If the question does not accept the value.
    """
    value, quotes, note = (sent.get(name, "").strip() for name in item.fields)
    if not value:
        return None
    answer = parse_answer(item.question, item.ref, value)
    return replace(answer, reasoning=note[:LONGEST_NOTE], evidence=quotes_in(quotes, item.turn, dialogue))


def parse_items(
    page: AnnotationPage, sent: Mapping[str, str], only: Key = ""
) -> tuple[dict[Key, Answer], dict[Key, str]]:
    """Return the submitted answers of a page, and the error texts of invalid values, by key.

    Args:
        page: The page.
        sent: The submitted form.
        only: Key of the only question to parse; empty for all.
    """
    answers: dict[Key, Answer] = {}
    problems: dict[Key, str] = {}
    for item in page.items:
        if only and item.key != only:
            continue
        try:
            answer = parse_item(sent, item, page.dialogue)
        except InvalidAnswer as error:
            problems[item.key] = str(error)
            continue
        if answer is not None:
            answers[item.key] = answer
    return answers, problems


def quotes_in(text: str, turn: int | None, dialogue: BlindDialogue) -> tuple[Quote, ...]:
    """Return the quotes in some lines, each with the turn that contains it.

    A quote is searched for in the turn of the question, then in the other turns, then in the
    source material. A quote that is not found is stored as unverified.
    """
    quotes = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    return tuple(_quote(quote, turn, dialogue) for quote in quotes[:MOST_QUOTES])


def _quote(text: str, turn: int | None, dialogue: BlindDialogue) -> Quote:
    normalised = plain_words(text)
    by_distance = sorted(dialogue.turns, key=lambda other: other.number != turn)
    sides = [(other.number, side) for other in by_distance for side in (other.response, other.prompt)]
    sides.append((SOURCE_MATERIAL, dialogue.material))
    number = next((number for number, side in sides if normalised and normalised in plain_words(side)), None)
    return Quote(turn=turn or 1 if number is None else number, text=text, verified=number is not None)


_SPEAKER = re.compile(r"^(User|You|Application|Reply|Assistant)\s*:\s*", re.IGNORECASE | re.MULTILINE)
_USERS = {"user", "you"}


def turns_of(text: str) -> tuple[BlindTurn, ...]:
    r"""Return the turns of an example in the form `User: ...` and `Reply: ...`; lines without a speaker are replies.

    Example:
        >>> [(turn.prompt, turn.response) for turn in turns_of("User: Who?\nReply: Ann.\nUser: Thanks")]
        [('Who?', 'Ann.'), ('Thanks', '')]
    """
    pieces = _SPEAKER.split(text)
    parts = [("reply", pieces[0])] if pieces[0].strip() else []
    parts += list(zip((piece.lower() for piece in pieces[1::2]), pieces[2::2], strict=True))
    pairs: list[list[str]] = []
    for who, words in parts:
        if who in _USERS:
            pairs.append([words.strip(), ""])
        elif pairs and not pairs[-1][1]:
            pairs[-1][1] = words.strip()
        else:
            pairs.append(["", words.strip()])
    return tuple(
        BlindTurn(number=number, prompt=prompt, response=two) for number, (prompt, two) in enumerate(pairs, start=1)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFrame:
    """The context of a worked example.

    Attributes:
        title: Title of the page.
        reference: Reference given by the study's scenario; empty if it has several.
    """

    title: str
    reference: BlindReference


def reference_of(study: Study) -> BlindReference:
    """Return the reference content of a study with one scenario; examples do not name their scenario."""
    if len(study.scenarios) != 1:
        return BlindReference()
    packet = study.scenarios[0].packet
    facts = tuple((source.name, source.text) for source in packet.sources)
    return BlindReference(permitted=packet.permitted, prohibited=packet.prohibited, facts=facts)


def example_page(guideline: Guideline, index: int, answers: Sequence[Answer], frame: ExampleFrame) -> AnnotationPage:
    """Return the page of a worked example, without its own answers and the other examples.

    Each question is asked once, about the example as a whole, and only if the example
    answers it. Examples attached to questions are left out too.

    Args:
        guideline: Guideline of the example.
        index: Number of the example within the guideline, from 0.
        answers: Answers so far.
        frame: The context of the example.
    """
    example = worked_examples(guideline)[index]
    questions = [
        replace(question, level=QuestionLevel.DIALOGUE, exemplars=())
        for question in guideline.instrument.questions
        if question.name in example.answers
    ]
    names = {question.name for question in questions}
    questions = [
        replace(question, when=question.when if question.when and question.when.question in names else None)
        for question in questions
    ]
    dialogue = BlindDialogue(
        name=f"example {index + 1}",
        turns=turns_of(example.dialogue),
        material=example.context,
        reference=frame.reference,
    )
    instrument = Instrument(name=guideline.instrument.name, questions=tuple(questions))
    return annotation_page(replace(guideline, examples=()), dialogue, answers, frame.title, instrument=instrument)


def feedback_on(marks: tuple[Marked, ...], answers: Mapping[str, str]) -> dict[Key, str]:
    """Return the feedback of practice on each answered question."""
    return {mark.question: _said(mark) for mark in marks if mark.question in answers}


def _said(marked: Marked) -> str:
    if marked.is_right:
        near = (
            f" The reference answer is {marked.expected}; one point more or less counts too."
            if marked.given != marked.expected
            else ""
        )
        return f"Right.{near} {marked.reason}".strip()
    return f"Reference answer: {humanize(marked.expected)}. {marked.reason}".strip()
