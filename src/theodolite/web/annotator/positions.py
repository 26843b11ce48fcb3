"""Positions: what several people answered, question by question, under letters instead of names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.assessment.routing import CLOSED
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import OWN_WORDS, Answer, Outcome
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.web.annotator.items import opening_of, worded


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
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
    voices: tuple[Voice, ...]

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


def voice_of(position: Position, question: Question) -> Voice:
    """Return what stands under one letter at a question."""
    answer = position.answer
    quotes = tuple(quote.text for quote in answer.evidence)
    return Voice(
        letter=position.letter,
        words=said(answer),
        note=f"comes only {opening_of(question)}" if was_closed(answer) else answer.reasoning,
        quotes=quotes,
        is_model=position.is_model,
    )


def votes_side_by_side(guideline: Guideline, positions: Sequence[Position]) -> tuple[SideBySide, ...]:
    """Return the answers of several people, place by place, in the order of the guideline."""
    asked = guideline.instrument.question
    by_place: dict[tuple[str, int | None], list[Voice]] = defaultdict(list)
    for position in positions:
        by_place[position.answer.question, position.answer.turn].append(
            voice_of(position, asked(position.answer.question))
        )
    return tuple(
        SideBySide(text=question.text, turn=turn, voices=tuple(by_place[question.name, turn]))
        for question in guideline.instrument.questions
        for turn in sorted((turn for name, turn in by_place if name == question.name), key=lambda turn: turn or 0)
    )
