"""Verdicts: a judge's text is read strictly, or not at all.

A reply that does not have the agreed form is a separate value, `unparseable`.
Nothing is guessed from it, since a guess would look like a measurement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from theodolite.assessment.form_rules import is_open, left_closed, quotes_in
from theodolite.assessment.judge.prompt import QUOTES, REASON, REFUSED, ControlQuestion
from theodolite.domain.annotation import Answer, Control, Outcome, Quote
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, QuestionLevel

_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(?P<body>.*)\n?```\Z", re.DOTALL)
_NO_VERDICT = {Outcome.UNPARSEABLE, Outcome.REFUSED}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's reply as parsed.

    Attributes:
        answers: One for each question and turn.
        control: Answer to the control question.
        problem: Why a part could not be read, in the words of the next request; empty if all could.
    """

    answers: tuple[Answer, ...]
    control: Control = Control.NOT_ASKED
    problem: str = ""

    @property
    def n_unparseable(self) -> int:
        """Answers that could not be read; count."""
        return sum(answer.outcome is Outcome.UNPARSEABLE for answer in self.answers)

    @property
    def is_unread(self) -> bool:
        """Whether no answer at all could be read."""
        return self.n_unparseable == len(self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A reply during parsing: its object, and the values common to all answers."""

    fields: Mapping[str, object] | None
    text: str
    reason: str
    quotes: tuple[Quote, ...]
    replicate: int

    def answer(self, question: Question, outcome: Outcome, value: str | None, turn: int | None = None) -> Answer:
        evidence = self.quotes if turn is None else tuple(quote for quote in self.quotes if quote.turn == turn)
        return Answer(
            question=question.name,
            outcome=outcome,
            value=value,
            turn=turn,
            replicate=self.replicate,
            reasoning=self.reason,
            evidence=evidence,
            raw=self.text if outcome in {Outcome.UNPARSEABLE, Outcome.REFUSED} else "",
        )


def read_verdict(
    text: str,
    guideline: Guideline,
    dialogue: Dialogue,
    *,
    replicate: int = 1,
    control: ControlQuestion | None = None,
) -> Verdict:
    """Return a judge's answers to all questions of a guideline.

    Args:
        text: The judge's output: one JSON object, alone or in one code fence.
        guideline: The guideline that the judge answered.
        dialogue: The annotated dialogue; quotes are located in it.
        replicate: Number of the repetition, from 1.
        control: The control question, if one was asked.
    """
    return verdict_of(_object(text), text, guideline, dialogue, replicate=replicate, control=control)


def verdict_of(
    fields: Mapping[str, object] | None,
    text: str,
    guideline: Guideline,
    dialogue: Dialogue,
    *,
    replicate: int = 1,
    control: ControlQuestion | None = None,
) -> Verdict:
    """Return the answers in an object; None if there is no object.

    Args:
        fields: Answers by name of the question, beside reason and quotes.
        text: The source text, stored with unreadable parts.
        guideline: The questions.
        dialogue: The dialogue of the questions.
        replicate: Number of the repetition, from 1.
        control: The control question, if one was asked.
    """
    reason = fields.get(REASON) or fields.get(REFUSED) if fields is not None else ""
    read = _Read(
        fields=fields,
        text=text,
        reason=_storable(reason) if isinstance(reason, str) else "",
        quotes=_stored_quotes(fields, dialogue),
        replicate=replicate,
    )
    answers: list[Answer] = []
    for question in guideline.instrument.questions:
        turns = [turn.number for turn in dialogue.turns] if question.level is QuestionLevel.TURN else [None]
        answers += [
            _answer(question, read, position, len(turns), number)
            if is_open(question, answers, guideline.instrument, number)
            else replace(left_closed(question, answers, guideline.instrument, number), replicate=replicate)
            for position, number in enumerate(turns)
        ]
    verdict = Verdict(answers=tuple(answers), problem=_problem(fields, answers))
    has_verdict = any(answer.outcome not in _NO_VERDICT for answer in answers)
    return replace(verdict, control=control.state(fields)) if control and has_verdict else verdict


def unread(
    guideline: Guideline, outcome: Outcome, *, reasoning: str = "", raw: str = "", replicate: int = 1
) -> tuple[Answer, ...]:
    """Return the same outcome for all questions of a guideline."""
    return tuple(
        Answer(question=question.name, outcome=outcome, reasoning=reasoning, raw=raw, replicate=replicate)
        for question in guideline.instrument.questions
    )


def _problem(fields: Mapping[str, object] | None, answers: list[Answer]) -> str:
    if fields is None:
        return "it is not one JSON object"
    unread = dict.fromkeys(answer.question for answer in answers if answer.outcome is Outcome.UNPARSEABLE)
    return f"no allowed value under {', '.join(map(json.dumps, unread))}" if unread else ""


def _object(text: str) -> Mapping[str, object] | None:
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    try:
        result = json.loads(
            fenced["body"] if fenced else stripped,
            object_pairs_hook=_without_doubles,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) != len(pairs):
        message = "one key twice: which of the two is meant?"
        raise ValueError(message)
    return dict(pairs)


def _no_number(word: str) -> object:
    message = f"`{word}` is no JSON"
    raise ValueError(message)


def _answer(question: Question, read: _Read, place: int, n_turns: int, turn: int | None) -> Answer:
    """Return the answer to one question, about the dialogue or the turn at a place."""
    fields = read.fields
    if fields is not None and set(fields) == {REFUSED}:
        return read.answer(question, Outcome.REFUSED, None, turn)
    entry = fields.get(question.name) if fields is not None else None
    if turn is not None:
        fits = isinstance(entry, list) and len(entry) == n_turns
        entry = entry[place] if isinstance(entry, list) and fits else None
    outcome, value = _value(question, entry)
    return read.answer(question, outcome, value, turn)


def _value(question: Question, entry: object) -> tuple[Outcome, str | None]:
    """Return the outcome of one answer, and its label if it has one."""
    if not isinstance(entry, str | int | float):
        return Outcome.UNPARSEABLE, None
    whole = isinstance(entry, float) and entry.is_integer()
    written = str(int(entry)) if whole else _storable(str(entry))
    if question.may_be_unable and written.casefold() == UNABLE:
        return Outcome.MISSING, None
    if question.may_not_apply and written.casefold() == NOT_APPLICABLE:
        return Outcome.NOT_APPLICABLE, None
    value = question.scale.matched(written)
    return (Outcome.UNPARSEABLE, None) if value is None else (Outcome.ANSWERED, value)


def _storable(text: str) -> str:
    """Return a text without characters that databases reject: escapes in JSON can write NUL and lone surrogates."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _stored_quotes(fields: Mapping[str, object] | None, dialogue: Dialogue) -> tuple[Quote, ...]:
    quotes = quotes_in(fields.get(QUOTES), dialogue) if fields is not None else ()
    return tuple(Quote(turn=quote.turn, text=_storable(quote.text), verified=quote.verified) for quote in quotes)
