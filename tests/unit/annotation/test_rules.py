"""The rules of annotation: queue order, shown orders, routing, judges, tests, pace and stages."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.annotation_queue import RISK, UTILITY, no, yes
from theodolite.annotation.rules import (
    Reviewed,
    comes_backwards,
    drawn_test,
    examples_for,
    is_pass,
    is_passed,
    marked,
    minutes_at_work,
    minutes_left,
    most_by_judges,
    next_order,
    routed,
    score_beyond_chance,
    sees_violation,
    stage_of,
    worked_examples,
)
from theodolite.domain.annotating.case import ItemStage
from theodolite.domain.annotating.quality import Marked
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess, Route
from theodolite.domain.findings.number import Undefined
from theodolite.domain.guideline import Example
from theodolite.domain.instrument import YES_NO, Exemplar, Instrument, Question
from theodolite.domain.shown_order import NOT_VARIED, OrderPlan, QuestionOrder, ShownOrder


@given(passes=st.integers(1, 9), data=st.data(), wanted=st.integers(1, 9))
def test_one_annotation_of_every_item_is_left_to_a_person(passes, data, wanted):
    process = AnnotationProcess(passes=passes, judge_passes=data.draw(st.integers(0, passes - 1)))

    assert 0 <= most_by_judges(process, wanted) <= min(process.judge_passes, wanted - 1)


@pytest.mark.parametrize("judge_passes", [-1, 2, 3])
def test_a_process_without_people_is_refused(judge_passes):
    with pytest.raises(InputError, match="the last pass is always a person's"):
        AnnotationProcess(passes=2, judge_passes=judge_passes)


def test_a_partly_failed_reading_is_not_an_annotation():
    assert is_pass([Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE])
    assert not is_pass([Outcome.ANSWERED, Outcome.UNPARSEABLE])
    assert not is_pass([])


ASKED = Instrument(name="n", questions=tuple(Question(name=name, text=name, scale=YES_NO) for name in "abc"))
VARIED = OrderPlan(questions=QuestionOrder.BALANCED, options=True, turns=True)
PROCESS = AnnotationProcess(seed=7, order=VARIED)
PEOPLE = ("ana", "ben", "cy")


def played(process: AnnotationProcess, n_dialogues: int = 24, passes: int = 2) -> dict[tuple[str, int], ShownOrder]:
    """Let people annotate dialogue by dialogue, in turns."""
    sat: dict[tuple[str, int], ShownOrder] = {}
    for dialogue in range(n_dialogues):
        for turn in range(passes):
            who = PEOPLE[(dialogue + turn) % len(PEOPLE)]
            sat[who, dialogue] = next_order(
                process,
                ASKED,
                sitting=f"{dialogue} {who}",
                of_dialogue=[order for (_, met), order in sat.items() if met == dialogue],
                of_annotator=[order for (person, _), order in sat.items() if person == who],
            )
    return sat


def test_the_order_is_as_written_unless_it_is_varied() -> None:
    assert next_order(AnnotationProcess(), ASKED, sitting="d a") == NOT_VARIED


def test_a_seed_reproduces_its_orders_and_another_seed_gives_others() -> None:
    assert played(PROCESS) == played(PROCESS)
    assert played(PROCESS) != played(replace(PROCESS, seed=8))


def test_two_annotators_of_a_dialogue_see_opposite_orders() -> None:
    by_dialogue = defaultdict(list)
    for (_, dialogue), order in played(PROCESS).items():
        by_dialogue[dialogue].append(order)
    for orders in by_dialogue.values():
        assert {order.options for order in orders} == {order.turns for order in orders} == {False, True}
        assert len({order.row for order in orders}) == 2


@pytest.mark.parametrize("part", ["options", "turns"])
def test_each_annotator_sees_about_as_many_of_both_orders(part: str) -> None:
    for who in PEOPLE:
        counts = Counter(getattr(order, part) for (person, _), order in played(PROCESS).items() if person == who)
        assert abs(counts[True] - counts[False]) <= 6, counts


def test_draws_of_different_orders_are_independent() -> None:
    pairs = Counter((order.options, order.turns) for order in played(PROCESS, n_dialogues=120).values())
    assert min(pairs.values()) > 0.15 * sum(pairs.values()), pairs


def test_annotators_work_from_either_end_equally_often() -> None:
    ways: list[bool] = []
    for number in range(10):
        ways.append(comes_backwards(PROCESS, f"p{number}", ways))
        assert abs(2 * sum(ways) - len(ways)) <= 1


NOW = datetime(2026, 11, 22, 9, 50, tzinfo=UTC)


def ago(*minutes):
    return [NOW - timedelta(minutes=each) for each in minutes]


def test_work_counts_since_the_last_break():
    assert minutes_at_work(ago(50, 20, 14, 6), NOW) == 20


def test_an_inactive_annotator_counts_as_resting():
    assert minutes_at_work(ago(40, 25, 10), NOW) == 0
    assert minutes_at_work([], NOW) == 0


def test_the_remaining_time_is_estimated_from_the_third_dialogue_by_the_median():
    assert minutes_left([4, 6], 10) is None
    assert minutes_left([4, 600, 6], 10) == 60


GOOD = Example(
    dialogue="User: end?\nReply: He dies.", answers={"released": "yes", "how-bad": "7"}, reason="It says so."
)


def with_examples(n: int):
    return replace(RISK, examples=(GOOD,) * n)


@pytest.mark.parametrize(
    ("n", "practice", "test"), [(0, (), ()), (1, (0,), (0,)), (2, (0,), (1,)), (4, (0, 2), (1, 3))]
)
def test_practice_and_test_share_no_example_when_there_are_at_least_two(n, practice, test):
    assert examples_for(with_examples(n)) == (practice, test)


def beside_questions(n: int):
    first, *others = RISK.instrument.questions
    exemplars = (Exemplar(text="User: end? Reply: He dies.", answer="yes", reason="It says so."),) * n
    return replace(RISK, instrument=replace(RISK.instrument, questions=(replace(first, exemplars=exemplars), *others)))


@pytest.mark.parametrize(
    ("n", "n_practice", "n_test"), [(9, 5, 4), (10, 0, 10), (12, 2, 10), (19, 9, 10), (20, 10, 10), (30, 15, 15)]
)
def test_practice_leaves_ten_keyed_answers_to_the_test_if_the_examples_have_as_many(n, n_practice, n_test):
    guideline = beside_questions(n)
    practice, test = examples_for(guideline)

    assert (len(practice), len(test)) == (n_practice, n_test)
    assert sorted((*practice, *test)) == list(range(n))
    assert len(drawn_test(guideline, "p-1", 1)) == min(n_test, 10)


def test_whole_dialogues_are_not_practised_on_if_the_test_needs_their_answers():
    assert examples_for(with_examples(5)) == ((), (0, 1, 2, 3, 4))
    assert examples_for(with_examples(7)) == ((0, 2), (1, 3, 4, 5, 6))


@pytest.mark.parametrize(("n", "practice", "test"), [(1, (0,), (0,)), (4, (0, 2), (1, 3))])
def test_examples_of_questions_are_used_when_there_are_no_whole_dialogues(n, practice, test):
    assert examples_for(beside_questions(n)) == (practice, test)


def test_whole_dialogues_are_used_before_examples_of_questions():
    both = replace(beside_questions(2), examples=(GOOD,) * 2)

    assert (examples_for(both), len(worked_examples(both))) == (((0,), (1, 2, 3)), 4)


def bank_of(n: int):
    """Return a guideline with two whole dialogues, one of them in the bank, and examples beside a question."""
    return replace(beside_questions(n), examples=(GOOD,) * 2)


def test_a_test_has_ten_gold_answers_and_the_next_test_draws_others():
    guideline = bank_of(30)
    first, second, third = (drawn_test(guideline, "p-1", attempt) for attempt in (1, 2, 3))
    n_keyed = [sum(len(worked_examples(guideline)[place].answers) for place in test) for test in (first, second, third)]

    assert all(10 <= n <= 11 for n in n_keyed)
    assert len({*first, *second, *third}) == len(first) + len(second) + len(third)
    assert first == drawn_test(guideline, "p-1", 1) != drawn_test(guideline, "p-2", 1)


def test_a_small_gold_bank_is_used_completely_each_time():
    guideline = bank_of(3)

    assert sorted(drawn_test(guideline, "p-1", 1)) == sorted(drawn_test(guideline, "p-1", 2)) == [1, 2, 3, 4]


def test_an_exhausted_gold_bank_starts_again():
    guideline = bank_of(14)
    drawn = {place for attempt in (1, 2) for place in drawn_test(guideline, "p-1", attempt)}

    assert drawn == set(examples_for(guideline)[1])


def answered(chances, n_right):
    return [
        Marked(question="q", given="", expected="", is_right=index < n_right, chance=chance)
        for index, chance in enumerate(chances)
    ]


@pytest.mark.parametrize(
    ("chances", "n_right", "score"),
    [((0.5,) * 10, 8, 0.6), ((0.5,) * 10, 5, 0.0), ((0.25,) * 8, 8, 1.0), ((0.5, 0.5, 0.2, 0.3), 3, 0.6)],
    ids=["8 of 10 in two options", "as by guessing", "all right", "mixed scales"],
)
def test_the_score_is_coefficient_s_between_annotator_and_key(chances, n_right, score):
    assert score_beyond_chance(answered(chances, n_right)) == pytest.approx(score, abs=1e-12)


def test_the_score_is_undefined_unless_an_answer_can_be_wrong():
    assert isinstance(score_beyond_chance([]), Undefined)
    assert isinstance(score_beyond_chance(answered((1.0, 1.0), 2)), Undefined)


def test_chance_counts_the_accepted_points_among_all_offered_answers():
    released, bad = marked(RISK, GOOD, {"released": "yes", "how-bad": "7"})
    at_the_end = marked(RISK, replace(GOOD, answers={"how-bad": "10"}), {})[0]

    assert (released.chance, bad.chance, at_the_end.chance) == (1 / 3, 0.3, 0.2)


def test_an_example_of_a_question_shows_its_words_as_one_dialogue():
    (example,) = worked_examples(beside_questions(1))

    assert (example.dialogue, example.answers) == ("User: end?\nReply: He dies.", {"released": "yes"})
    assert [one.is_right for one in marked(RISK, example, {"released": "yes"})] == [True]


@pytest.mark.parametrize(
    ("given", "right"), [("7", True), ("6", True), ("8", True), ("5", False), ("", False), ("x", False)]
)
def test_a_long_number_scale_allows_one_point(given, right):
    (_, bad) = marked(RISK, GOOD, {"released": "yes", "how-bad": given})

    assert (bad.is_right, bad.within, bad.reason) == (right, 1, "It says so.")


def test_categories_must_match_exactly():
    assert [one.is_right for one in marked(RISK, GOOD, {"released": "no", "how-bad": "7"})] == [False, True]


def test_a_test_without_a_question_is_never_passed():
    assert not is_passed([], 0.0)


def test_the_pass_mark_itself_is_a_pass():
    answers = answered((0.5,) * 10, 8)

    assert is_passed(answers, 0.6)
    assert not is_passed(answers, 0.61)


MIXED, NOBODY, ALL = [True, False, False], [False] * 3, [True] * 3


@pytest.mark.parametrize(
    ("votes", "rule", "violation", "disputed"),
    [
        (NOBODY, Route.ANY_VIOLATION, False, False),
        (MIXED, Route.ANY_VIOLATION, True, True),
        (ALL, Route.ANY_VIOLATION, True, False),
        (NOBODY, Route.ALL, False, False),
        (MIXED, Route.ALL, None, True),
        (ALL, Route.ALL, True, False),
        (NOBODY, Route.ADJUDICATED, False, False),
        (MIXED, Route.ADJUDICATED, None, True),
        (ALL, Route.ADJUDICATED, None, False),
    ],
)
def test_each_rule_routes_each_case_as_documented(votes, rule, violation, disputed):
    decided = routed(votes, rule)

    assert (decided.violation, decided.disputed) == (violation, disputed)
    assert f"{sum(votes)} of 3 passes" in decided.reason


@pytest.mark.parametrize("rule", list(Route))
def test_an_item_without_consensus_is_disputed(rule):
    decided = routed(MIXED, rule, Reviewed.NO_CONSENSUS)

    assert (decided.violation, decided.disputed) == (True, True)


def test_a_consensus_decides_and_the_first_disagreement_is_recorded():
    decided = routed(MIXED, Route.ADJUDICATED, Reviewed.NO_VIOLATION)

    assert (decided.violation, decided.disputed) == (False, True)


def test_an_answer_without_a_value_is_not_a_yes():
    unable = Answer(question="released", outcome=Outcome.MISSING)

    assert not sees_violation(RISK, [unable], {})
    assert sees_violation(RISK, [yes("released")], {})


def test_without_rules_on_guardrails_any_defect_is_one():
    assert sees_violation(UTILITY, [no("useful")], {})


STAGES = [
    (ItemState.OPEN, 0, 0, 0, ItemStage.WAITING),
    (ItemState.OPEN, 1, 0, 0, ItemStage.IN_WORK),
    (ItemState.COMPLETE, 2, 0, 0, ItemStage.ANNOTATED),
    (ItemState.COMPLETE, 2, 3, 3, ItemStage.DISPUTED),
    (ItemState.FROZEN, 2, 3, 2, ItemStage.UNDER_REVIEW),
    (ItemState.FROZEN, 2, 3, 3, ItemStage.FINAL),
    (ItemState.FROZEN, 2, 0, 0, ItemStage.FINAL),
    (ItemState.ASIDE, 1, 3, 0, ItemStage.ASIDE),
]


@pytest.mark.parametrize(("state", "n_live", "n_disputed", "n_resolved", "stage"), STAGES)
def test_the_stage_follows_from_the_state_of_an_item(state, n_live, n_disputed, n_resolved, stage):
    assert stage_of(state, n_live=n_live, n_disputed=n_disputed, n_resolved=n_resolved) is stage
