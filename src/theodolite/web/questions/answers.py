"""Answers in words, and the answers of several coders side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.assessment.routing import CLOSED
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.web.questions.form import condition_text, humanize, submitted_value


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderAnswer:
    """The answer of one coder, who is named by a letter."""

    letter: str
    words: str
    note: str
    quotes: tuple[str, ...]
    is_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One question with the answers of all coders."""

    text: str
    turn: int | None
    voices: tuple[CoderAnswer, ...]

    @property
    def is_alike(self) -> bool:
        """Whether all coders agree."""
        return len({voice.words for voice in self.voices}) < 2


def answer_text(answer: Answer) -> str:
    """Return an answer in words."""
    if was_closed(answer):
        return "Not asked"
    return humanize(submitted_value(answer) or answer.outcome.value)


def was_closed(answer: Answer) -> bool:
    """Tell whether an earlier answer kept the question closed."""
    return answer.outcome is Outcome.NOT_APPLICABLE and answer.reasoning.startswith(CLOSED)


def coder_view(position: Position, question: Question) -> CoderAnswer:
    """Return the answer of one coder."""
    answer = position.answer
    quotes = tuple(quote.text for quote in answer.evidence)
    return CoderAnswer(
        letter=position.letter,
        words=answer_text(answer),
        note=f"appears only {condition_text(question)}" if was_closed(answer) else answer.reasoning,
        quotes=quotes,
        is_model=position.is_model,
    )


def votes_side_by_side(guideline: Guideline, positions: Sequence[Position]) -> tuple[SideBySide, ...]:
    """Return the answers of several coders, question by question in the order of the guideline."""
    by_question: dict[tuple[str, int | None], list[CoderAnswer]] = defaultdict(list)
    for position in positions:
        by_question[position.answer.question, position.answer.turn].append(
            coder_view(position, guideline.instrument.question(position.answer.question))
        )
    return tuple(
        SideBySide(text=question.text, turn=turn, voices=tuple(by_question[question.name, turn]))
        for question in guideline.instrument.questions
        for turn in sorted((turn for name, turn in by_question if name == question.name), key=lambda turn: turn or 0)
    )
