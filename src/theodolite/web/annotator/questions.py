"""Questions of an annotation at their turns: as pages show them, as forms send them back, and side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.assessment.quoting import plain_words
from theodolite.assessment.routing import CLOSED
from theodolite.domain.annotating.blind import BlindDialogue
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import OWN_WORDS, SOURCE_MATERIAL, WAYS_OUT, Answer, Outcome, Quote
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, OpenQuestion, Operator, Question, ScaleKind
from theodolite.web.questions.field import Field, Option
from theodolite.web.questions.form import field_of

Key = str
"""What the page calls a question at a place: its name, and for a turn `@` and the turn's number."""


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
        takes_evidence: Whether quotes and a note belong to it.
        is_reversed: Whether its named answers stand in reverse; numbers rise whatever is varied.
    """

    key: Key
    question: Question
    turn: int | None
    is_asked: bool
    answer: Answer | None = None
    problem: str = ""
    feedback: str = ""
    takes_evidence: bool = True
    is_reversed: bool = False

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
    def guidance(self) -> tuple[str, ...]:
        """How it is to be read."""
        return self.question.guidance

    @property
    def opened_by(self) -> str:
        """After which answer a follow-up is asked; see `opening_of`."""
        return opening_of(self.question)

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
        options = tuple(replace(option, words=worded(option.words)) for option in self._ordered(drawn))
        return replace(drawn, options=options, is_shut=not self.is_asked)

    def _ordered(self, drawn: Field) -> tuple[Option, ...]:
        """Return the options in the order of the sitting; what may be said in place of a value stays behind them."""
        if not self.is_reversed or self.question.scale.kind is not ScaleKind.CATEGORIES:
            return drawn.options
        return drawn.plain[::-1] + drawn.aside

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The values in order; those of a number scale without words, which stand at its ends."""
        scale = self.question.scale
        if self.is_scale:
            return tuple(Choice(value=value, words=value) for value in scale.categories)
        return tuple(
            Choice(value=one.value, words=one.words or worded(one.value), meaning=one.meaning) for one in scale.labels
        )

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
        return OWN_WORDS.get(self.answer.outcome, "")

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


_OPENINGS = {
    Operator.EQUAL: "after {}",
    Operator.UNEQUAL: "unless the answer is {}",
    Operator.BELOW: "after less than {}",
    Operator.AT_MOST: "after {} or less",
    Operator.ABOVE: "after more than {}",
    Operator.AT_LEAST: "after {} or more",
}


def opening_of(question: Question) -> str:
    """Return after which answer a follow-up is asked, in words; empty for other questions.

    Example: `after Yes`, `after 6 or more`.
    """
    when = question.when
    if when is None:
        return ""
    return _OPENINGS.get(when.operator, "after {}").format(" or ".join(worded(value) for value in when.values))


def worded(name: str) -> str:
    """Return a name as words with a capital letter.

    Example:
        >>> worded("risk_assessment"), worded("does not apply")
        ('Risk assessment', 'Does not apply')
    """
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


MOST_NOTE = 2000
"""Length of a note at most; characters."""

MOST_TEXT = 10_000
"""Length of an answer in own words at most; characters."""

MOST_QUOTES = 20
"""Quotes of one answer at most; count."""


class Unreadable(ValueError):
    """What was sent is no answer to the question; the text says why."""


def answer_in(sent: Mapping[str, str], item: Item, dialogue: BlindDialogue) -> Answer | None:
    """Return what was sent for a question; None where nothing was chosen or written.

    Args:
        sent: Fields of the form.
        item: The question at its place.
        dialogue: What was said; quotes are looked up in it.

    Raises:
        Unreadable: If the value is no answer to the question.
    """
    value = sent.get(f"a:{item.key}", "").strip()
    if not value:
        return None
    outcome, kept = Outcome.ANSWERED, value
    if value in {one.value for one in item.ways_out}:
        outcome = WAYS_OUT[value]
    elif not item.question.scale.admits(value):
        raise Unreadable(_why(item, value))
    elif item.is_text:
        kept = value[:MOST_TEXT]
    return Answer(
        question=item.question.name,
        outcome=outcome,
        value=kept if outcome is Outcome.ANSWERED else None,
        turn=item.turn,
        reasoning=sent.get(f"note:{item.key}", "").strip()[:MOST_NOTE],
        evidence=quotes_in(sent.get(f"quotes:{item.key}", ""), item.turn, dialogue),
    )


def quotes_in(lines: str, turn: int | None, dialogue: BlindDialogue) -> tuple[Quote, ...]:
    """Return the quotes that some lines hold, each with the turn that it stands in.

    It is looked up in the turn that is asked about, then in the others, then in
    the source material; what stands nowhere is kept and said to be unverified.
    """
    wanted = list(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
    return tuple(_quote(text, turn, dialogue) for text in wanted[:MOST_QUOTES])


def _quote(text: str, turn: int | None, dialogue: BlindDialogue) -> Quote:
    words = plain_words(text)
    said = [
        (one.number, side)
        for one in sorted(dialogue.turns, key=lambda one: one.number != turn)
        for side in (one.response, one.prompt)
    ]
    places = [*said, (SOURCE_MATERIAL, dialogue.material)]
    found = next((number for number, side in places if words and words in plain_words(side)), None)
    return Quote(turn=turn or 1 if found is None else found, text=text, verified=found is not None)


def _why(item: Item, value: str) -> str:
    if item.is_number:
        return f"A number from {item.lowest} to {item.highest} is expected; `{value[:40]}` came."
    return f"`{value[:40]}` is none of the choices."


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderView:
    """What stands under one letter at one question."""

    letter: str
    words: str
    note: str
    quotes: tuple[str, ...]
    is_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One question at one place with everybody's answers."""

    text: str
    turn: int | None
    voices: tuple[CoderView, ...]

    @property
    def is_alike(self) -> bool:
        """Whether all say the same."""
        return len({voice.words for voice in self.voices}) < 2


def said(answer: Answer) -> str:
    """Return what somebody answered, in words."""
    if was_closed(answer):
        return "Not asked"
    if answer.value is not None:
        return worded(answer.value)
    return worded(OWN_WORDS.get(answer.outcome, answer.outcome.value))


def was_closed(answer: Answer) -> bool:
    """Tell whether the question was not put, since an earlier answer did not open it."""
    return answer.outcome is Outcome.NOT_APPLICABLE and answer.reasoning.startswith(CLOSED)


def coder_view(position: Position, question: Question) -> CoderView:
    """Return what stands under one letter at a question."""
    answer = position.answer
    quotes = tuple(quote.text for quote in answer.evidence)
    return CoderView(
        letter=position.letter,
        words=said(answer),
        note=f"comes only {opening_of(question)}" if was_closed(answer) else answer.reasoning,
        quotes=quotes,
        is_model=position.is_model,
    )


def votes_side_by_side(guideline: Guideline, positions: Sequence[Position]) -> tuple[SideBySide, ...]:
    """Return the answers of several people, place by place, in the order of the guideline."""
    asked = guideline.instrument.question
    by_place: dict[tuple[str, int | None], list[CoderView]] = defaultdict(list)
    for position in positions:
        by_place[position.answer.question, position.answer.turn].append(
            coder_view(position, asked(position.answer.question))
        )
    return tuple(
        SideBySide(text=question.text, turn=turn, voices=tuple(by_place[question.name, turn]))
        for question in guideline.instrument.questions
        for turn in sorted((turn for name, turn in by_place if name == question.name), key=lambda turn: turn or 0)
    )
