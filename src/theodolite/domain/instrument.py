"""Instruments: versioned questions with their scales, answered by models and people alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.errors import InputError


class Orientation(StrEnum):
    """Which end of a scale is the bad one."""

    HIGHER_IS_WORSE = "higher_is_worse"
    LOWER_IS_WORSE = "lower_is_worse"
    UNSTATED = "unstated"


class QuestionLevel(StrEnum):
    """Subject of a question."""

    DIALOGUE = "dialogue"
    TURN = "turn"


class Topic(StrEnum):
    """Topic of a questionnaire's question (ARIA's four topics)."""

    RISK_EXPOSURE = "perceived risk and impact exposure"
    OUTPUT = "perception of output"
    TASK_IMPACT = "task-specific impact"
    FUTURE = "future behaviour"


class Construct(StrEnum):
    """Aspect of users and the content that they saw (NIST AI 700-1, section 4.3)."""

    PERCEIVE = "perceive"
    MAKE_SENSE = "make sense"
    ADAPT = "adapt"
    ACT = "act"


class ScaleKind(StrEnum):
    """Type of a question's answer."""

    CATEGORIES = "categories"
    NUMBERS = "numbers"
    DECIMALS = "decimals"
    TEXT = "text"


class Operator(StrEnum):
    """How an answer is compared; always written out, never implied."""

    EQUAL = "=="
    UNEQUAL = "!="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="
    ONE_OF = "in"

    def compares(self, number: float, limits: Sequence[float]) -> bool:
        """Return whether a number satisfies the comparison with one limit, or with several for `in`."""
        if self in {Operator.EQUAL, Operator.ONE_OF, Operator.UNEQUAL}:
            return (number in limits) != (self is Operator.UNEQUAL)
        return {
            Operator.BELOW: number < limits[0],
            Operator.AT_MOST: number <= limits[0],
            Operator.ABOVE: number > limits[0],
            Operator.AT_LEAST: number >= limits[0],
        }[self]

    @property
    def needs_order(self) -> bool:
        """Whether the operator is undefined for unordered categories."""
        return self in {Operator.BELOW, Operator.AT_MOST, Operator.ABOVE, Operator.AT_LEAST}


UNABLE = "unable to determine"
"""The answer if the dialogue does not show it, if the question allows it."""

NOT_APPLICABLE = "does not apply"
"""The answer if the question does not apply, if the question allows it."""

MOST_POINTS = 101
"""Maximum number of points of a number scale; count. 0 to 100 fits, and tables contain all pairs of points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One point of a scale.

    Attributes:
        value: Stored value, in every language.
        meaning: Its definition.
        words: Displayed text in another language; empty for the value itself.
    """

    value: str
    meaning: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The values that may answer a question.

    Attributes:
        kind: Named categories, integers, any number between two ends, or free text.
        labels: The categories in order, or the named points of a number scale.
        lowest: Lower end of a number scale; scale points.
        highest: Upper end of a number scale; scale points.
        ordered: Whether the categories' order carries meaning; numbers always do.
        orientation: Which end is the bad one.
    """

    kind: ScaleKind
    labels: tuple[Label, ...] = ()
    lowest: int | None = None
    highest: int | None = None
    ordered: bool = False
    orientation: Orientation = Orientation.UNSTATED

    def __post_init__(self) -> None:
        """Reject a scale without points, with a duplicate point, or with more points than people can distinguish."""
        values = [label.value for label in self.labels]
        if len(set(values)) != len(values):
            message = f"a scale names each label once; got {values}"
            raise InputError(message)
        if self.kind is ScaleKind.CATEGORIES and len(values) < 2:
            message = f"a scale of categories needs two labels at least; got {values}"
            raise InputError(message)
        if self.kind is ScaleKind.NUMBERS and not self._has_range():
            message = f"a number scale needs `lowest` below `highest`; lowest={self.lowest}, highest={self.highest}"
            raise InputError(message)
        if self.kind is ScaleKind.DECIMALS and not self._has_range():
            message = f"a decimal scale needs `lowest` below `highest`; lowest={self.lowest}, highest={self.highest}"
            raise InputError(message)
        if self.kind is ScaleKind.NUMBERS and (self.highest or 0) - (self.lowest or 0) >= MOST_POINTS:
            message = f"a number scale has {MOST_POINTS} points at most; lowest={self.lowest}, highest={self.highest}"
            raise InputError(message)

    def _has_range(self) -> bool:
        return self.lowest is not None and self.highest is not None and self.lowest < self.highest

    @property
    def categories(self) -> tuple[str, ...]:
        """All values in scale order, used or not; empty for free text and decimals, which have no list of values."""
        if self.kind is ScaleKind.CATEGORIES:
            return tuple(label.value for label in self.labels)
        if self.kind is ScaleKind.NUMBERS and self.lowest is not None and self.highest is not None:
            return tuple(str(point) for point in range(self.lowest, self.highest + 1))
        return ()

    @property
    def is_numeric(self) -> bool:
        """Whether distances between values have a meaning."""
        return self.kind is ScaleKind.NUMBERS

    def admits(self, value: str) -> bool:
        """Return whether a value is a point of this scale."""
        if self.kind is ScaleKind.DECIMALS:
            number = decimal_of(value)
            return number is not None and (self.lowest or 0) <= number <= (self.highest or 0)
        return self.kind is ScaleKind.TEXT or value in self.categories

    def matched(self, written: str) -> str | None:
        """Return the point of this scale that a text equals; None if it equals none.

        A text equals a point literally, as the same number, or without regard to case; if two labels differ
        only in case, the exact one counts. True and false mean yes and no if the scale has these two. ADR-0051.

        Example:
            >>> YES_NO.matched("Yes"), YES_NO.matched("TRUE"), YES_NO.matched("y")
            ('yes', 'yes', None)
        """
        if self.admits(written):
            return written
        number, plain = decimal_of(written) if _PLAIN_NUMBER.fullmatch(written) else None, written.casefold()
        points = self.categories
        equal = [point for point in points if number is not None and decimal_of(point) == number]
        equal = equal or [point for point in points if point.casefold() == plain]
        equal = equal or [point for point in (_BOOLEANS.get(plain, ""),) if {"yes", "no"} <= set(points) and point]
        return equal[0] if len(equal) == 1 else None


_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_BOOLEANS = {"true": "yes", "false": "no"}

_DECIMAL = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def decimal_of(value: str) -> float | None:
    """Return the number in a text; None if it is not a number."""
    return float(value) if _DECIMAL.fullmatch(value) else None


YES_NO = Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="yes"), Label(value="no")))
"""The scale of a yes/no question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A comparison of one question's answer with values of its scale.

    Attributes:
        question: Name of the question; empty if a text names none.
        operator: How its answer is compared; there is no default.
        values: Values to compare with: one, or several for `in`.
    """

    question: str
    operator: Operator
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """The condition as people write it, e.g. `score <= 3`."""
        if self.operator is Operator.ONE_OF:
            return f"{self.question} in {', '.join(self.values)}"
        return f"{self.question} {self.operator.value} {self.values[0]}"

    def holds(self, value: str, scale: Scale) -> bool:
        """Return whether an answer satisfies the condition.

        Args:
            value: The answer; a point of `scale`.
            scale: The scale of the question.

        Raises:
            InputError: If the value, or the value to compare with, is not on
                the scale, or if an order comparison is used on a scale without order.
        """
        if not scale.admits(value):
            message = f"`{value}` is not a point of the scale {list(scale.categories)}"
            raise InputError(message)
        if scale.kind is ScaleKind.DECIMALS:
            return self._compares(value)
        if self.operator in {Operator.EQUAL, Operator.ONE_OF}:
            return value in self.values
        if self.operator is Operator.UNEQUAL:
            return value not in self.values
        return self._ranks(value, scale)

    def _compares(self, value: str) -> bool:
        number, limits = decimal_of(value), [decimal_of(limit) for limit in self.values]
        if number is None or None in limits:
            message = f"`{self.text}` needs numbers on a decimal scale; the answer is `{value}`"
            raise InputError(message)
        return self.operator.compares(number, [limit for limit in limits if limit is not None])

    def _ranks(self, value: str, scale: Scale) -> bool:
        points = scale.categories
        if self.values[0] not in points or not (scale.is_numeric or scale.ordered):
            message = f"`{self.text}` needs an ordered scale that has the point; the scale is {list(points)}"
            raise InputError(message)
        return self.operator.compares(points.index(value), [points.index(self.values[0])])


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """An example for a question: a text and its answer.

    Attributes:
        text: The text.
        answer: The right answer to the question.
        reason: Why.
    """

    text: str
    answer: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of an instrument.

    Attributes:
        name: Identifier within its instrument.
        text: Text of the question, for people and models.
        scale: The values that may answer it.
        level: Whether it is asked once per dialogue or at each turn.
        may_be_unable: Whether "unable to determine" is an allowed answer.
        may_not_apply: Whether "does not apply" is an allowed answer.
        when: Condition on an earlier answer for this question to be
            asked at all; None if it is always asked.
        exemplars: Examples of answers, shown on demand.
        topic: Its topic in a questionnaire; None if not stated.
        several: Whether several labels may be chosen; each is a separate answer.
        guidance: Notes on its interpretation: mostly annotators' questions with seniors' decisions.
        stays: Whether it keeps its position if a study varies the order of questions.
        construct: Construct that its answers measure; None if it measures none.
    """

    name: str
    text: str
    scale: Scale
    level: QuestionLevel = QuestionLevel.DIALOGUE
    may_be_unable: bool = False
    may_not_apply: bool = False
    when: Condition | None = None
    exemplars: tuple[Exemplar, ...] = ()
    topic: Topic | None = None
    several: bool = False
    guidance: tuple[str, ...] = ()
    stays: bool = False
    construct: Construct | None = None

    @property
    def is_optional(self) -> bool:
        """Whether it may be left open: free text is optional."""
        return self.scale.kind is ScaleKind.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question about a dialogue, or about one of its turns.

    Attributes:
        question: Name of the question.
        turn: Number of the turn; None for the dialogue as a whole.
    """

    question: str
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """An annotation schema or a questionnaire: questions under one version."""

    name: str
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        """Reject two questions with the same name, and a follow-up before its parent."""
        names = [question.name for question in self.questions]
        if len(set(names)) != len(names):
            message = f"instrument `{self.name}` asks two questions of one name: {names}"
            raise InputError(message)
        for index, question in enumerate(self.questions):
            if question.when is not None and question.when.question not in names[:index]:
                message = (
                    f"instrument `{self.name}` asks `{question.name}` when `{question.when.text}`, "
                    f"which no earlier question answers: {names[:index]}"
                )
                raise InputError(message)

    def question(self, name: str) -> Question:
        """Return the question of that name.

        Raises:
            InputError: If the instrument does not contain it.
        """
        for question in self.questions:
            if question.name == name:
                return question
        message = f"instrument `{self.name}` has no question `{name}`"
        raise InputError(message)
