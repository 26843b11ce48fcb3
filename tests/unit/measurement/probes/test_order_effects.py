"""What orders did to answers, question by question."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.fakes.evidence_variants import GivenAnswer
from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.findings.order import OrderEffect, OrderFactor
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.shown_order import ShownOrder
from theodolite.domain.undefined_reasons import NO_SPREAD, ONE_WAY, TOO_FEW_EACH_WAY
from theodolite.measurement.answer_arrays import answer_arrays
from theodolite.measurement.probes import METHOD, SHARE, order_effects, order_shift, suggestion_effects

FLAG = Question(name="flag", text="?", scale=YES_NO, may_be_unable=True)

SCORE = Question(name="score", text="?", scale=Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10))

AT_TURNS = Question(name="tone", text="?", scale=YES_NO, level=QuestionLevel.TURN)

WORDS = Question(name="why", text="?", scale=Scale(kind=ScaleKind.TEXT))

GUIDELINE = Guideline(
    name="risk",
    instrument=Instrument(name="risk", questions=(FLAG, SCORE, AT_TURNS, WORDS)),
    defect_rules=(DefectRule(name="harm", question="flag", operator=Operator.EQUAL, values=("no",)),),
)


def sat(say: Callable[[int, ShownOrder], str | None], n: int = 24, question: Question = FLAG) -> list[OrderEffect]:
    """Let four people answer; each sits in all orders of questions and answers in turn."""
    given = []
    for who in range(4):
        for number in range(1, n + 1):
            order = ShownOrder(row=1 + (number + who) % 2, rows=2, options=(number // 2 + who) % 2 == 1)
            value = say(number, order)
            given.append(GivenAnswer(f"p{who}", number, number, value, shown=order.text, sitting=number))
    return order_effects(GUIDELINE, question, answer_arrays(given))


def of(factor: OrderFactor, effects: list[OrderEffect]) -> OrderEffect:
    return next(one for one in effects if one.factor is factor)


def test_the_position_bias_of_an_annotator_is_measured_by_the_shown_orders() -> None:
    found = sat(lambda number, order: "no" if bool(order.options) != (number % 5 == 0) else "yes")
    effect = of(OrderFactor.OPTIONS, found)
    assert effect.is_clear
    assert effect.measured == 'share of "no"', "a defect is what counts"
    assert isinstance(effect.shift, Estimate)
    assert effect.shift.value > 0.5
    assert (effect.first.n, effect.second.n, effect.n_annotators, effect.n_dialogues) == (48, 48, 4, 24)
    assert not of(OrderFactor.QUESTIONS, found).is_clear


def test_the_effect_of_question_position_is_estimated_from_its_positions() -> None:
    found = sat(lambda number, order: "9" if (order.row == 2) == (number % 6 > 0) else "2", question=SCORE)
    effect = of(OrderFactor.QUESTIONS, found)
    assert (effect.first.shown, effect.second.shown) == ("asked earlier", "asked later")
    assert effect.measured == "ordinal shift"
    assert isinstance(effect.shift, Estimate)
    assert effect.shift.value == pytest.approx(-0.5 * (5 / 6 - 1 / 6), abs=0.1), "`score` comes earlier in reverse"
    assert OrderFactor.OPTIONS not in {one.factor for one in found}, "numbers are never reversed"


def test_non_responses_are_counted_and_never_treated_as_no() -> None:
    found = sat(lambda number, order: None if number % 4 == 0 else "yes" if number % 3 else "no")
    effect = of(OrderFactor.QUESTIONS, found)
    assert effect.first.n_without_value + effect.second.n_without_value == 24
    assert sum(n for _, n in (*effect.first.given, *effect.second.given)) == 72


def test_identical_answers_give_no_effect() -> None:
    effect = of(OrderFactor.QUESTIONS, sat(lambda *_: "yes"))
    assert isinstance(effect.shift, Undefined)
    assert not effect.is_clear


def sequence(said: list[list[str]], question: Question = FLAG) -> OrderEffect:
    """Return the effect of the dialogue before, of people who answered one dialogue after the other."""
    given = [
        GivenAnswer(f"p{who}", (who, at), at * len(said) + who, value, sitting=at + 1)
        for who, values in enumerate(said)
        for at, value in enumerate(values)
    ]
    return of(OrderFactor.PREVIOUS, order_effects(GUIDELINE, question, answer_arrays(given)))


def test_different_habits_of_people_are_not_an_effect_of_the_previous_dialogue() -> None:
    rng = np.random.default_rng(3)
    habits = (0.1, 0.1, 0.2, 0.5, 0.8, 0.9)
    said = [["no" if rng.random() < habit else "yes" for _ in range(40)] for habit in habits]
    effect = sequence(said)
    assert isinstance(effect.shift, Estimate)
    assert effect.shift.low <= 0 <= effect.shift.high, "harsh people say no after no, and before too"
    assert effect.n_between == len(habits), "nothing came before the first one"


def test_an_annotator_who_never_answers_no_twice_is_detected() -> None:
    rng = np.random.default_rng(4)
    said: list[list[str]] = []
    for _ in range(6):
        own = ["yes"]
        for _ in range(59):
            own.append("yes" if own[-1] == "no" or rng.random() < 0.5 else "no")
        said.append(own)
    effect = sequence(said)
    assert effect.is_clear
    assert isinstance(effect.shift, Estimate)
    assert effect.shift.value < -0.3
    assert effect.second.shown == 'after one with "no"'


def test_a_random_order_shows_no_effect_on_average_however_short() -> None:
    rng = np.random.default_rng(5)
    shifts = [
        sequence([["no" if rng.random() < 0.3 else "yes" for _ in range(8)] for _ in range(5)]) for _ in range(120)
    ]
    values = [one.shift.value for one in shifts if isinstance(one.shift, Estimate)]
    assert abs(np.mean(values)) < 0.04, "the plain difference would lie .14 below 0"


def test_unordered_labels_and_free_text_have_no_effect() -> None:
    plain = [GivenAnswer("p", number, number, "yes") for number in range(5)]
    assert order_effects(GUIDELINE, FLAG, answer_arrays(plain)) == []
    assert order_effects(GUIDELINE, WORDS, answer_arrays([GivenAnswer("p", 1, 1, "well", sitting=1)])) == []


def test_the_queue_effect_needs_annotators_from_both_ends() -> None:
    given = [
        GivenAnswer(
            f"p{who}",
            at,
            at,
            "no" if number > 10 or number == 4 else "yes",
            shown=ShownOrder(dialogues=bool(who % 2)).text,
            sitting=number,
        )
        for who in range(4)
        for number, at in enumerate(range(19, -1, -1) if who % 2 else range(20), 1)
    ]
    effect = of(OrderFactor.QUEUE, order_effects(GUIDELINE, FLAG, answer_arrays(given)))
    assert isinstance(effect.shift, Estimate)
    assert effect.shift.value > 0.8


def test_the_turn_order_effect_covers_questions_about_turns_only() -> None:
    given = [
        GivenAnswer(
            "p", (d, t), d, "yes" if t else "no", shown=ShownOrder(turns=d % 2 == 1).text, sitting=d + 1, turn=t
        )
        for d in range(6)
        for t in (1, 2)
    ]
    assert OrderFactor.TURNS in {one.factor for one in order_effects(GUIDELINE, AT_TURNS, answer_arrays(given))}
    assert OrderFactor.TURNS not in {one.factor for one in order_effects(GUIDELINE, FLAG, answer_arrays(given))}


def test_suggestions_move_answers_and_the_agreement_with_the_judge() -> None:
    """Half of eight dialogues have suggestions of a judge that always says no; people follow three of four."""
    given = [
        GivenAnswer(
            f"p{who}",
            d,
            d,
            "no" if d % 2 and d != 1 else "yes",
            shown=ShownOrder(suggestions=bool(d % 2)).text,
            sitting=d + 1,
        )
        for who in range(3)
        for d in range(8)
    ]
    judge = [GivenAnswer("judge", d, d, "no") for d in range(7)]
    answers, agreement = suggestion_effects(GUIDELINE, FLAG, answer_arrays([*given, *judge]), "judge")

    assert (answers.factor, answers.measured) == (OrderFactor.SUGGESTIONS, 'share of "no"')
    assert (answers.first.shown, answers.second.shown) == ("without suggestions", "with suggestions")
    assert (dict(answers.first.given), dict(answers.second.given)) == ({"yes": 12, "no": 0}, {"yes": 3, "no": 9})
    expected = order_shift(
        [float(one.value == "no") for one in given],
        [bool(one.dialogue % 2) for one in given],
        annotators=[one.annotator for one in given],
        dialogues=[one.dialogue for one in given],
    )
    assert isinstance(answers.shift, Estimate)
    assert answers.shift.value == 0.75
    assert answers.shift == expected
    assert isinstance(agreement.shift, Estimate)
    assert agreement.measured == "share of answers equal to the judge's"
    assert agreement.shift.value == pytest.approx(2 / 3), "the judge has not read dialogue 7"
    assert (agreement.first.n, agreement.second.n, agreement.second.n_without_value) == (12, 9, 3)


def test_answers_outside_the_experiment_show_no_effect_of_suggestions() -> None:
    plain = [GivenAnswer("p", number, number, "yes", sitting=number + 1) for number in range(5)]
    assert suggestion_effects(GUIDELINE, FLAG, answer_arrays(plain), "judge") == []


def test_suggestions_without_answers_of_the_judge_leave_agreement_undefined() -> None:
    given = [
        GivenAnswer("p", d, d, "yes" if d % 3 else "no", shown=ShownOrder(suggestions=d < 4).text, sitting=d + 1)
        for d in range(8)
    ]
    _, agreement = suggestion_effects(GUIDELINE, FLAG, answer_arrays(given), "judge")
    assert agreement.shift == Undefined(reason=ONE_WAY, n=0, unit=SHARE, method=METHOD)


def drawn(rng: np.random.Generator, people: int, dialogues: int, moved: float) -> Estimate | Undefined:
    """Let two people answer each dialogue, one each way, with habits and dialogues of their own."""
    habits, harms = rng.normal(0, 0.7, people), rng.normal(0, 1.0, dialogues)
    who = np.array([rng.permutation(people)[:2] for _ in range(dialogues)]).ravel()
    what, way = np.repeat(np.arange(dialogues), 2), np.tile([0, 1], dialogues)
    chance = 1 / (1 + np.exp(1.4 - habits[who] - harms[what] - moved * way))
    said = rng.random(len(what)) < chance
    return order_shift(
        said.astype(float).tolist(), way.astype(bool).tolist(), annotators=who.tolist(), dialogues=what.tolist()
    )


def test_without_a_shift_none_is_detected_in_nineteen_of_twenty_simulations() -> None:
    rng = np.random.default_rng(20261122)
    found = [drawn(rng, 6, 60, 0.0) for _ in range(200)]
    held = [one.low <= 0 <= one.high for one in found if isinstance(one, Estimate)]
    assert len(held) == 200
    assert 0.92 <= np.mean(held) <= 0.99


def test_a_true_shift_is_detected() -> None:
    rng = np.random.default_rng(1)
    found = [drawn(rng, 10, 200, 1.5) for _ in range(20)]
    assert all(isinstance(one, Estimate) and one.low > 0 for one in found)


def test_the_value_is_the_difference_of_means() -> None:
    shift = order_shift([1, 0, 1, 1], [False, False, True, True], annotators="abab", dialogues=[1, 2, 3, 4])
    assert isinstance(shift, Estimate)
    assert (shift.value, shift.n, shift.n_clusters) == (0.5, 4, 2)


@pytest.mark.parametrize(
    ("values", "ways", "reason"),
    [
        ([1, 0, 1], [True, True, True], ONE_WAY),
        ([1, 0, 1], [False, False, True], TOO_FEW_EACH_WAY),
        ([0, 0, 0, 0], [False, False, True, True], NO_SPREAD),
        ([0, 0, 1, 1], [False, False, True, True], NO_SPREAD),
    ],
)
def test_an_undefined_effect_states_its_reason(values: list[float], ways: list[bool], reason: str) -> None:
    n = len(values)
    shift = order_shift(values, ways, annotators=["a"] * n, dialogues=list(range(n)))
    assert isinstance(shift, Undefined)
    assert shift.reason == reason


def test_answers_without_an_order_are_refused() -> None:
    with pytest.raises(InputError):
        order_shift([1, 0], [True], annotators="ab", dialogues=[1, 2])
