"""Completeness: which questions of an instrument are still to be answered, by the same rule everywhere.

Server, annotation page, questionnaire and label file ask this one function, so
that none of them can take a sitting for complete that another one refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theodolite.assessment.routing import is_open
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.instrument import Instrument, OpenQuestion, Question, QuestionLevel

SETTLED = frozenset({Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE, Outcome.REFUSED})
"""Outcomes that a person gives on purpose; the others leave a question open."""


def asked(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[OpenQuestion, ...]:
    """Return all that is asked, given what was answered so far, in the order of the instrument.

    A follow-up counts as asked only while the answer that opens it is itself
    asked: clearing the head of a chain closes the whole chain.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    return tuple(
        OpenQuestion(question=question.name, turn=turn) for question, turn in _asked(instrument, answers, turns)
    )


def open_questions(
    instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()
) -> tuple[OpenQuestion, ...]:
    """Return what is asked and not answered yet; nothing where the instrument is complete.

    Free text may stay empty: it is asked for, never demanded.

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
        for question, turn in _asked(instrument, answers, turns)
        if not question.is_optional and not any(_settles(answer, question, turn) for answer in answers)
    )


def archived(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[Answer, ...]:
    """Return the answers to questions that are not asked any more.

    They stay in the revisions and count nowhere.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    wanted = {(question.name, turn) for question, turn in _asked(instrument, answers, turns)}
    return tuple(answer for answer in answers if (answer.question, answer.turn) not in wanted)


def current(instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int] = ()) -> tuple[Answer, ...]:
    """Return the answers that count: those to questions that are asked, in the order in which they were given.

    Args:
        instrument: The questions.
        answers: Answers of one person.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """
    gone = archived(instrument, answers, turns)
    return tuple(answer for answer in answers if answer not in gone)


def _asked(
    instrument: Instrument, answers: Sequence[Answer], turns: Sequence[int]
) -> Iterator[tuple[Question, int | None]]:
    counting: list[Answer] = []
    for question in instrument.questions:
        places: Sequence[int | None] = turns if question.level is QuestionLevel.TURN else (None,)
        for turn in places:
            if is_open(question, counting, instrument, turn):
                counting += [each for each in answers if each.question == question.name and each.turn == turn]
                yield question, turn


def _settles(answer: Answer, question: Question, turn: int | None) -> bool:
    return (answer.question, answer.turn) == (question.name, turn) and answer.outcome in SETTLED
