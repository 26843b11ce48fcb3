"""Shown orders: the order of questions, answers, turns and dialogues in one sitting, and whether it has suggestions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from typing import TypeVar

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Instrument, Question


@lru_cache
def williams_rows(n: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of a Williams design of n treatments: n rows for even n, else 2n with the mirrored ones.

    Example:
        >>> williams_rows(2)
        ((0, 1), (1, 0))
        >>> len(williams_rows(3)), williams_rows(3)[0], williams_rows(3)[3]
        (6, (0, 2, 1), (1, 2, 0))

    Source:
        Williams, E. J. (1949), Experimental designs balanced for the estimation of residual effects of treatments,
        Australian Journal of Scientific Research A 2:149-168.
    """
    first = [step // 2 if step % 2 == 0 else n - (step + 1) // 2 for step in range(n)]
    rows = [tuple((start + shift) % n for start in first) for shift in range(n)]
    if n % 2 and n > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)


T = TypeVar("T")


WRITTEN, REVERSED = "as written", "reversed"
"""Text for each of two orders."""

SHOWN, HIDDEN = "shown", "hidden"
"""Text for the suggestions of a judge."""

_SUGGESTED = f"suggestions {SHOWN}"


class QuestionOrder(StrEnum):
    """The orders of questions that a study shows."""

    WRITTEN = "written"
    REVERSED = "reversed"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlan:
    """Elements that a study shows in several orders; none by default.

    Attributes:
        questions: As written, reversed in some sittings, or all rows of a balanced design.
        options: Whether some sittings show named answers in reverse.
        turns: Whether some sittings ask about the last turn first.
        dialogues: Whether some annotators get the queue's dialogues from its end.
    """

    questions: QuestionOrder = QuestionOrder.WRITTEN
    options: bool = False
    turns: bool = False
    dialogues: bool = False

    @property
    def is_varied(self) -> bool:
        """Whether any element is shown in several orders."""
        return self != OrderPlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOrder:
    """The order of one sitting; elements that the study does not vary are marked as unvaried.

    Attributes:
        row: Number of the order of questions, from 1, among `rows`; 0 if questions are not varied.
        rows: Number of orders of the questions; count, 0 if they are not varied.
        options: Whether named answers are in reverse; None if that is not varied.
        turns: Whether the last turn is asked about first; None if that is not varied.
        dialogues: Whether the annotator gets the queue from its end; None if that is not varied.
        suggestions: Whether a judge's answers are shown as suggestions; None if there are none to show.
    """

    row: int = 0
    rows: int = 0
    options: bool | None = None
    turns: bool | None = None
    dialogues: bool | None = None
    suggestions: bool | None = None

    def __post_init__(self) -> None:
        """Reject a row that does not exist."""
        if not (0 < self.row <= self.rows or self.row == self.rows == 0):
            message = f"a row of questions stands between 1 and `rows`; row={self.row}, rows={self.rows}"
            raise InputError(message)

    @property
    def text(self) -> str:
        """The order as text that `shown_order_of` reads; empty if nothing is varied.

        Example:
            >>> ShownOrder(row=2, rows=6, options=True).text
            'questions 2 of 6; options reversed'
        """
        return "; ".join(self._parts())

    @property
    def suggestions_text(self) -> str:
        """The condition of the suggestions, `shown` or `hidden`; empty if there were none."""
        return "" if self.suggestions is None else SHOWN if self.suggestions else HIDDEN

    def _parts(self) -> Iterator[str]:
        if self.rows:
            yield f"questions {self.row} of {self.rows}"
        for name, way in (("options", self.options), ("turns", self.turns), ("dialogues", self.dialogues)):
            if way is not None:
                yield f"{name} {REVERSED if way else WRITTEN}"
        if self.suggestions is not None:
            yield f"suggestions {self.suggestions_text}"


NOT_VARIED = ShownOrder()
"""The order of a sitting without variation: everything as written."""


def shown_order_of(text: str) -> ShownOrder:
    """Return the order of an encoded text.

    Raises:
        InputError: If it does not encode an order.

    Example:
        >>> shown_order_of("questions 2 of 6; options reversed")
        ShownOrder(row=2, rows=6, options=True, turns=None, dialogues=None, suggestions=None)
    """
    if not text:
        return NOT_VARIED
    row, rows, directions = 0, 0, dict[str, bool]()
    for part in text.split("; "):
        name, _, way = part.partition(" ")
        numbers = way.split(" of ")
        if name == "questions" and len(numbers) == 2 and all(map(str.isdecimal, numbers)):
            row, rows = map(int, numbers)
        elif name in {"options", "turns", "dialogues"} and way in {WRITTEN, REVERSED}:
            directions[name] = way == REVERSED
        elif name == "suggestions" and way in {SHOWN, HIDDEN}:
            directions[name] = way == SHOWN
        else:
            message = f"`{part}` is not an order of a sitting; expected e.g. `questions 2 of 6` or `options {REVERSED}`"
            raise InputError(message)
    return ShownOrder(
        row=row,
        rows=rows,
        options=directions.get("options"),
        turns=directions.get("turns"),
        dialogues=directions.get("dialogues"),
        suggestions=directions.get("suggestions"),
    )


def has_suggestions(text: str) -> bool:
    """Return whether the annotation of an encoded order showed the answers of a judge.

    Example:
        >>> has_suggestions("options reversed; suggestions shown"), has_suggestions("suggestions hidden")
        (True, False)
    """
    return _SUGGESTED in text.split("; ")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionGroup:
    """A question with the follow-ups that are asked with it; they stay together.

    Attributes:
        question: The question.
        follow_ups: Follow-up questions for some of its answers, of the same kind, in order.
    """

    question: Question
    follow_ups: tuple[Question, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """The question and its follow-ups, in order of asking."""
        return (self.question, *self.follow_ups)


def question_groups(instrument: Instrument) -> tuple[QuestionGroup, ...]:
    """Return the questions of an instrument in their written order, each follow-up with its condition."""
    groups: dict[str, list[Question]] = {}
    in_group: dict[str, str] = {}
    for question in instrument.questions:
        opener = in_group.get(question.when.question) if question.when else None
        if opener is None or groups[opener][0].level is not question.level:
            opener = question.name
        groups.setdefault(opener, []).append(question)
        in_group[question.name] = opener
    return tuple(QuestionGroup(question=questions[0], follow_ups=tuple(questions[1:])) for questions in groups.values())


def groups_in_order(instrument: Instrument, order: ShownOrder) -> tuple[QuestionGroup, ...]:
    """Return the cards of an instrument as a sitting shows them.

    Only neighbours with the same subject (the dialogue, or each turn) are reordered, so that
    a question follows the one that opens it; a question marked as fixed keeps its position.
    """
    shown: list[QuestionGroup] = []
    for block in _blocks(question_groups(instrument)):
        moved = iter(_row([group for group in block if not group.question.stays], order))
        shown += [group if group.question.stays else next(moved) for group in block]
    return tuple(shown)


def n_orders(instrument: Instrument, plan: QuestionOrder) -> int:
    """Return how many orders of questions a plan shows; count, 0 if there is only one."""
    most = max(sum(not group.question.stays for group in block) for block in _blocks(question_groups(instrument)))
    if plan is QuestionOrder.WRITTEN or most < 2:
        return 0
    return 2 if plan is QuestionOrder.REVERSED else len(williams_rows(most))


def _blocks(groups: Sequence[QuestionGroup]) -> list[list[QuestionGroup]]:
    return [list(block) for _, block in groupby(groups, key=lambda group: group.question.level)]


def _row(items: Sequence[T], order: ShownOrder) -> Sequence[T]:
    """Return items in the order of a row; the first row is the written order."""
    if order.rows < 2 or len(items) < 2:
        return items
    if order.rows == 2:
        return items[::-1] if order.row == 2 else items
    rows = williams_rows(len(items))
    written = {number: index for index, number in enumerate(rows[0])}
    return [items[written[number]] for number in rows[(order.row - 1) % len(rows)]]


def labels_reversed(reading: int) -> bool:
    """Return whether a judge's reading with this number, from 1, shows the labels in reverse; every second one does."""
    return reading % 2 == 0
