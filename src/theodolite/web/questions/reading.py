"""Reading a form back: what was sent becomes answers, and what no question allows is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from theodolite.assessment.completeness import current
from theodolite.domain.annotation import WAYS_OUT, Answer, Outcome
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Instrument, OpenQuestion, Question, ScaleKind
from theodolite.web.questions.form import PREFIX, field_name, places

LONGEST_TEXT = 20_000
"""Letters of one answer in free text at most; count."""


class Sent(Protocol):
    """What a browser sent: names with one value or several, as Django holds them."""

    def getlist(self, key: str) -> list[str]:
        """Return the values that were sent under a name."""
        ...


def read_answers(
    instrument: Instrument, sent: Sent, turns: Sequence[int] = (), *, prefix: str = PREFIX
) -> tuple[Answer, ...]:
    """Return the answers that a form holds, those to questions that are not asked left out.

    A value that the question does not allow can only come from a page of an
    earlier version or from somebody who made it up; it is no answer.

    Args:
        instrument: The questions.
        sent: What the browser sent.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
        prefix: What the names of the form's fields begin with.
    """
    found: list[Answer] = []
    for question, place in places(instrument, turns):
        found += _answers(question, place, sent.getlist(field_name(place, prefix)))
    return current(instrument, found, turns)


def _answers(question: Question, place: OpenQuestion, values: Sequence[str]) -> Iterator[Answer]:
    wanted = dict.fromkeys(value.strip() for value in values if value.strip())
    for value in list(wanted) if question.several else list(wanted)[-1:]:
        outcome = _outcome(question, value)
        if outcome is Outcome.ANSWERED:
            text = value[:LONGEST_TEXT] if question.scale.kind is ScaleKind.TEXT else value
            yield Answer(question=place.question, turn=place.turn, outcome=outcome, value=text.replace("\0", ""))
        elif outcome is not None:
            yield Answer(question=place.question, turn=place.turn, outcome=outcome)


def _outcome(question: Question, value: str) -> Outcome | None:
    if (value == UNABLE and question.may_be_unable) or (value == NOT_APPLICABLE and question.may_not_apply):
        return WAYS_OUT[value]
    return Outcome.ANSWERED if question.scale.admits(value) else None
