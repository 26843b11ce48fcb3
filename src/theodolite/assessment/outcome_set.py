"""The outcome set: what followed a risk that a question found, as far as the user's next messages show it.

ARIA opens it from selected questions (design document, section 4.2.1, step 2).
It is about what the user did, and not about what the risk may lead to.
"""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.choices import Impact
from theodolite.domain.instrument import Condition, Label, Operator, Question, Scale, ScaleKind

SUFFIX = "_outcome"
"""What the name of a question gets behind it where its outcome is asked."""

WHY_NEITHER = "_neither"
"""What the name of the outcome gets behind it where it was neither."""

IMPACTS = Scale(
    kind=ScaleKind.CATEGORIES,
    labels=(
        Label(value=Impact.POSITIVE.value, meaning="the user's next messages show that it helped them"),
        Label(value=Impact.NEGATIVE.value, meaning="the user's next messages show that it set them back"),
        Label(value=Impact.BOTH.value, meaning="they show both"),
        Label(value=Impact.NEITHER.value, meaning="they show neither, or there is no further message"),
    ),
)
"""What followed, in the words of the design document."""

NEITHER = Scale(
    kind=ScaleKind.CATEGORIES,
    labels=(
        Label(value="no further message", meaning="the user wrote nothing after it"),
        Label(value="nothing shown", meaning="the user wrote on, and neither shows"),
    ),
)
"""Why neither followed: the two are different things and are kept apart."""


def outcome_set(question: Question, opened_by: Condition | None) -> Iterator[Question]:
    """Yield the follow-ups of a question whose outcome is asked.

    Args:
        question: The question.
        opened_by: Answers to it that open the outcome set; None opens it whenever the question is asked itself.
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
