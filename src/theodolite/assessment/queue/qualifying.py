"""Qualifying: practice and tests by the worked examples of a guideline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from theodolite.domain.annotating.training import Marked
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.instrument import ScaleKind

_SPEAKER = re.compile(r"(?:^|(?<=[.?!:\"')])\s+)(User:|Reply:)")

WITHIN = 1
"""Points by which an answer on a long number scale may differ and still count as right."""

LONG = 6
"""Points from which on a number scale counts as long; a shorter one must be met exactly."""


def worked_examples(guideline: Guideline) -> tuple[Example, ...]:
    """Return all that can be practised on: the worked examples, then the examples beside each question.

    An example beside a question asks that question alone.

    Args:
        guideline: Whose examples they are.
    """
    beside = (
        Example(dialogue=_in_lines(exemplar.text), answers={question.name: exemplar.answer}, reason=exemplar.reason)
        for question in guideline.instrument.questions
        for exemplar in question.exemplars
    )
    return (*guideline.examples, *beside)


def _in_lines(text: str) -> str:
    """Return an example with a line for each speaker, as worked examples are written."""
    return _SPEAKER.sub(r"\n\1", text).lstrip("\n")


def examples_for(guideline: Guideline) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of the examples to practise on and of those in the test, among all worked examples.

    Practice shows its answers, so it never uses an example of the test, except
    where there is only one. Every second example is for practice. Those beside
    questions are used where a guideline has fewer than two whole dialogues:
    annotators have them at hand, so that a test by them asks less.

    Args:
        guideline: Whose worked examples they are.
    """
    whole = [place for place, example in enumerate(guideline.examples) if example.answers]
    places = whole if len(whole) > 1 else whole + list(range(len(guideline.examples), len(worked_examples(guideline))))
    if len(places) < 2:
        return tuple(places), tuple(places)
    return tuple(places[::2]), tuple(places[1::2])


def marked(guideline: Guideline, example: Example, given: Mapping[str, str]) -> tuple[Marked, ...]:
    """Return each question of an example with the answer given and the one expected.

    Args:
        guideline: What is asked.
        example: The worked example.
        given: Question name to what was answered; what is missing is wrong.
    """
    return tuple(
        _marked(guideline, question, given.get(question, ""), expected, example.reason)
        for question, expected in example.answers.items()
    )


def _marked(guideline: Guideline, name: str, given: str, expected: str, reason: str) -> Marked:
    scale = guideline.instrument.question(name).scale
    within = WITHIN if scale.kind is ScaleKind.NUMBERS and len(scale.categories) >= LONG else 0
    is_right = given == expected
    if within and not is_right and scale.admits(given) and scale.admits(expected):
        is_right = abs(int(given) - int(expected)) <= within
    return Marked(question=name, given=given, expected=expected, is_right=is_right, within=within, reason=reason)


def is_passed(answers: Sequence[Marked], pass_mark: float) -> bool:
    """Tell whether an attempt reaches the pass mark; a test without a question is never passed.

    Args:
        answers: All questions of the test.
        pass_mark: Share that must be right; fraction 0..1.
    """
    n_right = sum(answer.is_right for answer in answers)
    return bool(answers) and n_right >= pass_mark * len(answers) - 1e-9
