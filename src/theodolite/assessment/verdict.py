"""Verdicts: a judge's text is read strictly, or not at all.

A reply that does not have the agreed form is a value of its own, `unparseable`.
Nothing is guessed from it, since a guess would look like a measurement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from theodolite.assessment.prompt import NOT_APPLICABLE, UNABLE
from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel

_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(?P<body>.*)\n?```\Z", re.DOTALL)
_SPACES = re.compile(r"\s+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_verdict(text: str, guideline: Guideline, dialogue: Dialogue, *, replicate: int = 1) -> tuple[Answer, ...]:
    """Return a judge's answers to all questions of a guideline.

    Args:
        text: What the judge wrote: one JSON object, alone or in one code fence.
        guideline: What it was asked.
        dialogue: What it was asked about; quotes are looked up in it.
        replicate: Number of the repetition, from 1.
    """
    verdict = _object(text)
    answers: list[Answer] = []
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.TURN:
            answers += _turn_answers(question, verdict, text, dialogue, replicate)
        else:
            answers.append(_answer(question, verdict, text, dialogue, replicate))
    return tuple(answers)


def unread(guideline: Guideline, outcome: Outcome, *, reasoning: str = "", raw: str = "") -> tuple[Answer, ...]:
    """Return the same outcome for all questions of a guideline."""
    return tuple(
        Answer(question=question.name, outcome=outcome, reasoning=reasoning, raw=raw)
        for question in guideline.instrument.questions
    )


def _object(text: str) -> Mapping[str, object] | None:
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    try:
        found = json.loads(
            fenced["body"] if fenced else stripped,
            object_pairs_hook=_without_doubles,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) != len(pairs):
        message = "one key twice: which of the two is meant?"
        raise ValueError(message)
    return dict(pairs)


def _no_number(word: str) -> object:
    message = f"`{word}` is no JSON"
    raise ValueError(message)


def _answer(
    question: Question, verdict: Mapping[str, object] | None, text: str, dialogue: Dialogue, replicate: int
) -> Answer:
    if verdict is None or question.name not in verdict:
        return Answer(question=question.name, outcome=Outcome.UNPARSEABLE, replicate=replicate, raw=text)
    outcome, value = _value(question, verdict[question.name])
    return Answer(
        question=question.name,
        outcome=outcome,
        value=value,
        replicate=replicate,
        reasoning=_reason(verdict),
        evidence=_quotes(verdict, dialogue),
        raw=text if outcome is Outcome.UNPARSEABLE else "",
    )


def _turn_answers(
    question: Question, verdict: Mapping[str, object] | None, text: str, dialogue: Dialogue, replicate: int
) -> list[Answer]:
    given = verdict.get(question.name) if verdict is not None else None
    fits = isinstance(given, list) and len(given) == len(dialogue.turns)
    answers = []
    for place, turn in enumerate(dialogue.turns):
        outcome, value = (
            _value(question, given[place]) if fits and isinstance(given, list) else (Outcome.UNPARSEABLE, None)
        )
        answers.append(
            Answer(
                question=question.name,
                outcome=outcome,
                value=value,
                turn=turn.number,
                replicate=replicate,
                reasoning=_reason(verdict),
                raw=text if outcome is Outcome.UNPARSEABLE else "",
            )
        )
    return answers


def _value(question: Question, given: object) -> tuple[Outcome, str | None]:
    """Return what became of one answer, and its label if it has one."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return Outcome.UNPARSEABLE, None
    whole = isinstance(given, float) and given.is_integer()
    value = str(int(given)) if whole else _storable(str(given))
    if question.may_be_unable and value == UNABLE:
        return Outcome.MISSING, None
    if question.may_not_apply and value == NOT_APPLICABLE:
        return Outcome.NOT_APPLICABLE, None
    return (Outcome.ANSWERED, value) if question.scale.admits(value) else (Outcome.UNPARSEABLE, None)


def _reason(verdict: Mapping[str, object] | None) -> str:
    reason = verdict.get("reason", "") if verdict is not None else ""
    return _storable(reason) if isinstance(reason, str) else ""


def _storable(text: str) -> str:
    """Return a text without what no database holds: escapes in JSON can write NUL and lone surrogates."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _quotes(verdict: Mapping[str, object], dialogue: Dialogue) -> tuple[Quote, ...]:
    given = verdict.get("quotes", [])
    if not isinstance(given, list):
        return ()
    quotes = (_quote(entry, dialogue) for entry in given if isinstance(entry, dict))
    return tuple(quote for quote in quotes if quote is not None)


def _quote(entry: Mapping[str, object], dialogue: Dialogue) -> Quote | None:
    number, text = entry.get("turn"), entry.get("text")
    if not isinstance(number, int) or isinstance(number, bool) or not isinstance(text, str) or not text.strip():
        return None
    turn = next((turn for turn in dialogue.turns if turn.number == number), None)
    said = [_SPACES.sub(" ", side) for side in (turn.prompt, turn.response)] if turn else []
    words = _SPACES.sub(" ", text).strip()
    return Quote(turn=number, text=_storable(text), verified=any(words in side for side in said))
