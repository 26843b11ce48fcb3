"""Routing: which questions of an instrument an annotator's own answers open.

A follow-up is asked only where an earlier answer opens it. The rule is the same
for models and people, and is applied to what was answered, not to what an
annotator says was to be asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.instrument import Instrument, Question, QuestionLevel


def is_open(question: Question, answers: Sequence[Answer], instrument: Instrument, turn: int | None = None) -> bool:
    """Tell whether a question is asked, given one annotator's earlier answers.

    A follow-up at a turn looks at the same turn where its opener is asked at
    turns too; one about the dialogue is open if any turn opens it. An opener
    without a value opens nothing.

    Args:
        question: The question.
        answers: Answers to earlier questions.
        instrument: What both questions belong to.
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
"""How the reason of an answer begins that nobody gave, since its question was not asked."""


def left_closed(question: Question, answers: Sequence[Answer], instrument: Instrument, turn: int | None) -> Answer:
    """Return the answer to a question that was not asked.

    It does not apply, except where nobody could read what would have opened it.
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
