"""Orders of a sitting: what changes places, what never does, and how an order is written down."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import YES_NO, Condition, Instrument, Operator, Question, QuestionLevel
from theodolite.domain.shown_order import (
    NOT_VARIED,
    OrderPlan,
    QuestionOrder,
    ShownOrder,
    groups_in_order,
    has_suggestions,
    n_orders,
    shown_order_of,
    williams_rows,
)


def asked(name: str, *, after: str = "", turn: bool = False, stays: bool = False) -> Question:
    when = Condition(question=after, operator=Operator.EQUAL, values=("yes",)) if after else None
    level = QuestionLevel.TURN if turn else QuestionLevel.DIALOGUE
    return Question(name=name, text=name, scale=YES_NO, level=level, when=when, stays=stays)


def named(instrument: Instrument, order: ShownOrder) -> list[str]:
    return [question.name for card in groups_in_order(instrument, order) for question in card.questions]


FOUR = Instrument(name="four", questions=tuple(map(asked, "abcd")))

NESTED = Instrument(
    name="nested",
    questions=(asked("a"), asked("b"), asked("a2", after="a"), asked("t", turn=True), asked("c"), asked("d")),
)

ORDERS = st.builds(
    lambda rows, row, options, turns, back, suggestions: ShownOrder(
        row=row % rows + 1 if rows else 0,
        rows=rows,
        options=options,
        turns=turns,
        dialogues=back,
        suggestions=suggestions,
    ),
    st.sampled_from([0, 2, 4, 6, 10]),
    st.integers(0, 9),
    *[st.sampled_from([None, False, True])] * 4,
)


def test_the_first_row_is_as_written_and_the_second_of_two_is_reversed() -> None:
    assert named(FOUR, NOT_VARIED) == named(FOUR, ShownOrder(row=1, rows=2)) == list("abcd")
    assert named(FOUR, ShownOrder(row=2, rows=2)) == list("dcba")


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_balanced_rows_hold_each_question_at_each_place_equally_often(n: int) -> None:
    names = "abcdefg"[:n]
    instrument = Instrument(name="n", questions=tuple(map(asked, names)))
    rows = n_orders(instrument, QuestionOrder.BALANCED)
    shown = [named(instrument, ShownOrder(row=row, rows=rows)) for row in range(1, rows + 1)]
    assert rows == len(williams_rows(n))
    assert shown[0] == list(names)
    assert {tuple(row).count(name) for row in shown for name in names} == {1}
    assert {sum(row[place] == name for row in shown) for place in range(n) for name in names} == {rows // n}


def test_follow_ups_stay_after_their_opener_and_kinds_of_positions_do_not_mix() -> None:
    assert named(NESTED, ShownOrder(row=2, rows=2)) == ["b", "a", "a2", "t", "d", "c"]


def test_a_fixed_question_keeps_its_position() -> None:
    kept = Instrument(name="kept", questions=(asked("a"), asked("b", stays=True), asked("c"), asked("d")))
    assert named(kept, ShownOrder(row=2, rows=2)) == ["d", "b", "c", "a"]


@pytest.mark.parametrize("plan", list(QuestionOrder))
def test_one_question_has_one_order(plan: QuestionOrder) -> None:
    assert n_orders(Instrument(name="one", questions=(asked("a"), asked("b", after="a"))), plan) == 0


@given(ORDERS)
def test_an_order_is_parsed_from_its_text_form(order: ShownOrder) -> None:
    assert shown_order_of(order.text) == order
    assert has_suggestions(order.text) == bool(order.suggestions)


@pytest.mark.parametrize(
    "text", ["questions", "questions 7 of 6", "options upside down", "colours reversed", "suggestions reversed"]
)
def test_other_texts_are_not_orders(text: str) -> None:
    with pytest.raises(InputError):
        shown_order_of(text)


def test_a_plan_varies_nothing_by_default() -> None:
    assert not OrderPlan().is_varied
    assert OrderPlan(turns=True).is_varied


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_each_item_follows_each_other_equally_often(n: int) -> None:
    rows = williams_rows(n)
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == n * (n - 1)
    assert len(set(followed.values())) == 1
