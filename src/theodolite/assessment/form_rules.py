"""Rules of an instrument's form: visible questions, open questions, and exact quotes.

A follow-up is asked only after an earlier answer that opens it. The rule is the same
for models and people, and applies to the answers, not to the annotator's statement of the questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from theodolite.domain.annotation import SOURCE_MATERIAL, Answer, Outcome, Quote
from theodolite.domain.choices import Impact
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.instrument import (
    Condition,
    Instrument,
    Label,
    OpenQuestion,
    Operator,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)


def is_open(question: Question, answers: Sequence[Answer], instrument: Instrument, turn: int | None = None) -> bool:
    """Return whether a question is asked, given one annotator's earlier answers.

    A follow-up at a turn refers to the same turn if its opener is asked at
    turns too; one about the dialogue is open if any turn opens it. An opener
    without a value opens nothing.

    Args:
        question: The question.
        answers: Answers to earlier questions.
        instrument: Instrument of both questions.
        turn: Number of the turn that it would be asked about; None for the dialogue.
    """
    condition = question.when
    if condition is None:
        return True
    opener = instrument.question(condition.question)
    return any(
        answer.value is not None and opener.scale.admits(answer.value) and condition.holds(answer.value, opener.scale)
        for answer in _openers(question, opener, answers, turn)
    )


CLOSED = "asked only when"
"""Start of the reason of an answer to a question that was not asked."""


def left_closed(question: Question, answers: Sequence[Answer], instrument: Instrument, turn: int | None) -> Answer:
    """Return the answer to a question that was not asked.

    The outcome is "does not apply", or "unparseable" if the opener could not be read.
    """
    name = question.when.question if question.when else question.name
    openers = _openers(question, instrument.question(name), answers, turn)
    unread = {answer.outcome for answer in openers} & {Outcome.UNPARSEABLE, Outcome.REFUSED, Outcome.FAILED}
    outcome = next(iter(sorted(unread)), Outcome.NOT_APPLICABLE)
    reason = f"{CLOSED} {question.when.text}" if question.when else ""
    return Answer(question=question.name, outcome=outcome, turn=turn, reasoning=reason)


def _openers(question: Question, opener: Question, answers: Sequence[Answer], turn: int | None) -> list[Answer]:
    same_turn = question.level is QuestionLevel.TURN and opener.level is QuestionLevel.TURN
    return [answer for answer in answers if answer.question == opener.name and (not same_turn or answer.turn == turn)]


NOWHERE = -1
"""Number of the turn of a quote that names none."""

_SPACES = re.compile(r"\s+")

_TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    "\u2026": "...",
    "\u00ad": "",
    "\u200b": "",
    "\u2060": "",
    "\ufeff": "",
}

_LETTERS = str.maketrans(_TYPOGRAPHY)

_EDGES = " \"'."


def plain_words(text: str) -> str:
    """Return a text without typographic variants: kinds of spaces, quotation marks, dashes and ellipses.

    Example:
        >>> plain_words("\u201cSixty\u00a0 days\u201d \u2026")
        '"Sixty days" ...'
    """
    return _SPACES.sub(" ", text.translate(_LETTERS)).strip()


def quotes_in(value: object, dialogue: Dialogue) -> tuple[Quote, ...]:
    """Return the quotes of a verdict, each located at its stated turn.

    A quote without words is dropped; one without a turn occurs nowhere.

    Args:
        value: Content of `quotes` in the verdict.
        dialogue: The dialogue.
    """
    entries = value if isinstance(value, list) else []
    quotes = (_quote(entry, dialogue) for entry in entries)
    return tuple(quote for quote in quotes if quote is not None)


def _quote(entry: object, dialogue: Dialogue) -> Quote | None:
    fields: Mapping[object, object] = entry if isinstance(entry, Mapping) else {"text": entry}
    number, text = fields.get("turn"), fields.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    is_number = isinstance(number, int) and not isinstance(number, bool)
    turn = number if isinstance(number, int) and is_number and abs(number) < _MOST else NOWHERE
    return looked_up(Quote(turn=turn, text=text), dialogue)


def looked_up(quote: Quote, dialogue: Dialogue) -> Quote:
    """Return a quote, marked as located if its words occur at its stated turn."""
    words = plain_words(quote.text).strip(_EDGES)
    texts = [plain_words(side) for side in _sides(dialogue, quote.turn)]
    return replace(quote, verified=bool(words) and any(words in side for side in texts))


_MOST = 2**31
"""Largest number of a turn: databases cannot store a larger one, and no dialogue reaches it."""


def _sides(dialogue: Dialogue, number: int) -> tuple[str, ...]:
    if number == SOURCE_MATERIAL:
        return (dialogue.material,)
    result = (turn for turn in dialogue.turns if turn.number == number)
    return next(((turn.prompt, turn.response, turn.context) for turn in result), ())


SETTLED = frozenset({Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE, Outcome.REFUSED})
"""Outcomes that a person chooses; the others leave a question open."""


def asked(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[OpenQuestion, ...]:
    """Return all applicable questions, given the answers so far, in the order of the instrument.

    A follow-up counts as asked only while the answer that opens it is itself
    asked: clearing the head of a chain closes the whole chain.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    return tuple(
        OpenQuestion(question=question.name, turn=turn)
        for question, turn in _open_questions(instrument, answers, turns)
    )


def open_questions(
    instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()
) -> tuple[OpenQuestion, ...]:
    """Return the open questions; nothing if the instrument is complete.

    Free text may stay empty: it is optional.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.

    Example:
        >>> from theodolite.domain.instrument import YES_NO, Condition, Operator
        >>> seen = Question(name="seen", text="Did you see it?", scale=YES_NO)
        >>> when = Condition(question="seen", operator=Operator.EQUAL, values=("yes",))
        >>> where = Question(name="where", text="More than once?", scale=YES_NO, when=when)
        >>> form = Instrument(name="after", questions=(seen, where))
        >>> [each.question for each in open_questions(form, [])]
        ['seen']
        >>> yes = Answer(question="seen", outcome=Outcome.ANSWERED, value="yes")
        >>> [each.question for each in open_questions(form, [yes])]
        ['where']
    """
    return tuple(
        OpenQuestion(question=question.name, turn=turn)
        for question, turn in _open_questions(instrument, answers, turns)
        if not question.is_optional and not any(_settles(answer, question, turn) for answer in answers)
    )


def archived(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[Answer, ...]:
    """Return the answers to questions that are not asked any more.

    They remain in the revisions but do not count.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    expected = {(question.name, turn) for question, turn in _open_questions(instrument, answers, turns)}
    return tuple(answer for answer in answers if (answer.question, answer.turn) not in expected)


def current(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[Answer, ...]:
    """Return the answers that count: those to questions that are asked, in the order in which they were given.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    closed = archived(instrument, answers, turns)
    return tuple(answer for answer in answers if answer not in closed)


def _open_questions(
    instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int]
) -> Iterator[tuple[Question, int | None]]:
    counting: list[Answer] = []
    for question in instrument.questions:
        positions: Sequence[int | None] = turns if question.level is QuestionLevel.TURN else (None,)
        for turn in positions:
            if is_open(question, counting, instrument, turn):
                counting += [answer for answer in answers if answer.question == question.name and answer.turn == turn]
                yield question, turn


def _settles(answer: Answer, question: Question, turn: int | None) -> bool:
    return (answer.question, answer.turn) == (question.name, turn) and answer.outcome in SETTLED


_END = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)\]]*\s+|\n+\s*")
"""End of a sentence: its mark, closing quotes or brackets and the space; or the end of a line."""

_SHORT = re.compile(r"(?:\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St)|^\s*\d+)\.$")
"""An abbreviation, an initial or a list number; no sentence ends after it."""

_LONGEST_SHORT = 40
"""Number of characters before a mark that are searched for an abbreviation."""


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text; joined, they equal the text exactly.

    The rule is the same for people, judges and all languages: end marks
    followed by a space, and ends of lines.

    Example:
        >>> sentences("He dies. Mr. Hale knows! Who?")
        ('He dies. ', 'Mr. Hale knows! ', 'Who?')
    """
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(text):
        looked_from = max(start, end.start() - _LONGEST_SHORT)  # a text of abbreviations alone is not read over again
        if "\n" not in end.group() and _SHORT.search(text[looked_from : end.start()]):
            continue
        if text[start : end.start()].strip():
            pieces.append(text[start : end.end()])
            start = end.end()
    rest = text[start:]
    if rest.strip() or not pieces:
        return (*pieces, rest) if rest else tuple(pieces)
    return (*pieces[:-1], pieces[-1] + rest)


SUFFIX = "_outcome"
"""Suffix of a question's name for the question about its outcome."""

WHY_NEITHER = "_neither"
"""Suffix of the outcome's name if it was neither."""

IMPACTS = Scale(
    kind=ScaleKind.CATEGORIES,
    labels=(
        Label(value=Impact.POSITIVE.value, meaning="the user's next messages show that it helped them"),
        Label(value=Impact.NEGATIVE.value, meaning="the user's next messages show that it set them back"),
        Label(value=Impact.BOTH.value, meaning="they show both"),
        Label(value=Impact.NEITHER.value, meaning="they show neither, or there is no further message"),
    ),
)
"""The outcome, in the words of the design document."""

NEITHER = Scale(
    kind=ScaleKind.CATEGORIES,
    labels=(
        Label(value="no further message", meaning="the user wrote nothing after it"),
        Label(value="nothing shown", meaning="the user wrote on, and neither shows"),
    ),
)
"""Reasons for "neither": two separate cases."""


def outcome_set(question: Question, opened_by: Condition | None) -> Iterator[Question]:
    """Yield the follow-up questions that an outcome opens.

    Args:
        question: The question.
        opened_by: Answers that open the follow-ups; None opens them whenever the question is asked.
    """
    outcome = question.name + SUFFIX
    yield Question(
        name=outcome,
        text="What do the user's messages after it show: that it helped them, set them back, both, or neither?",
        scale=IMPACTS,
        level=question.level,
        when=opened_by or question.when,
    )
    yield Question(
        name=outcome + WHY_NEITHER,
        text="Why neither?",
        scale=NEITHER,
        level=question.level,
        when=Condition(question=outcome, operator=Operator.EQUAL, values=(Impact.NEITHER.value,)),
    )
