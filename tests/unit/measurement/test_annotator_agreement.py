"""Agreement of people on a queue's questions, and the planner."""

from __future__ import annotations

import math
from datetime import date
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tests.fakes.evidence_variants import GivenAnswer
from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Undefined
from theodolite.domain.instrument import YES_NO, Label, Question, QuestionLevel, Scale, ScaleKind
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.annotator_agreement import (
    agreement_per_day,
    groups_of_annotators,
    model_agreements,
    pair_agreements,
    planned_passes,
    question_agreement,
    rater_agreements,
    spreads,
)
from theodolite.measurement.answer_arrays import answer_arrays

YES = Question(name="released", text="Released?", scale=YES_NO)

BAD = Question(name="bad", text="How bad?", scale=Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10))

TABLE = {"anna": "ynynyny", "ben": "ynyyynn", "carl": "-nynyy-"}


def given(table=TABLE):
    names = {"y": "yes", "n": "no"}
    return [
        GivenAnswer(name, unit, unit, names[letter], at=float(unit))
        for name, letters in table.items()
        for unit, letter in enumerate(letters)
        if letter != "-"
    ]


def test_alpha_equals_that_of_the_table():
    codes = {"y": 0.0, "n": 1.0, "-": math.nan}
    table = [[codes[letter] for letter in letters] for letters in TABLE.values()]

    found = question_agreement("risk", YES, answer_arrays(given()))

    assert found.alpha == krippendorff_alpha(table)
    assert (found.alike.count, found.alike.n, found.n_annotators, found.n_shared) == (4, 7, 3, 7)
    assert found.prevalence == (("yes", 11), ("no", 8))


def test_no_overlap_and_no_variation_are_explained_in_words():
    alone = question_agreement("risk", YES, answer_arrays(given({"anna": "yny"})))
    alike = question_agreement("risk", YES, answer_arrays(given({"anna": "nnn", "ben": "nnn"})))

    assert (alone.alpha.reason, alone.n_shared) == ("No dialogue has labels from two annotators.", 0)
    assert isinstance(alike.alpha, Undefined)
    assert "unknown" in alike.alpha.reason
    assert alike.alike.value == 1.0


def test_answers_without_a_value_are_counted_and_excluded_from_agreement():
    answers = [*given(), GivenAnswer("dora", 0, 0, None)]

    found = question_agreement("risk", YES, answer_arrays(answers))

    assert (found.n_without_value, found.alpha) == (1, question_agreement("risk", YES, answer_arrays(given())).alpha)


def test_turns_are_clustered_in_their_dialogues():
    at_turns = Question(name="q", text="?", scale=YES_NO, level=QuestionLevel.TURN)
    answers = [one._replace(unit=(one.unit // 2, one.unit), dialogue=one.unit // 2) for one in given()]

    found = question_agreement("style", at_turns, answer_arrays(answers))

    assert (found.alpha.n_clusters, found.alike.n_clusters) == (4, 4)


def test_the_history_is_divided_into_segments_of_equal_size():
    found = question_agreement("risk", YES, answer_arrays(given({"anna": "yn" * 20, "ben": "yn" * 10 + "ny" * 10})))

    assert [stretch.alike.n for stretch in found.over_time] == [10, 10, 10, 10]
    assert [stretch.alike.value for stretch in found.over_time] == [1.0, 1.0, 0.0, 0.0]
    assert found.over_time[0].ended < found.over_time[1].begun


def test_days_are_those_of_the_latest_label_and_need_five_units():
    table = {"anna": "ynynynyyny", "ben": "ynyyynyyny"}
    letters = {"y": "yes", "n": "no"}
    answers = [
        GivenAnswer(name, unit, unit, letters[letter], at=86_400.0 * (unit >= 7) + 3600 * (23 if name == "ben" else 1))
        for name, row in table.items()
        for unit, letter in enumerate(row)
    ]

    utc, later = (agreement_per_day(YES, answer_arrays(answers), ZoneInfo(zone)) for zone in ("UTC", "Asia/Tokyo"))

    assert [(one.day, one.n_shared) for one in utc] == [(date(1970, 1, 1), 7), (date(1970, 1, 2), 3)]
    assert [one.day for one in later] == [date(1970, 1, 2), date(1970, 1, 3)]
    assert utc[0].alpha == question_agreement("risk", YES, answer_arrays([a for a in answers if a.unit < 7])).alpha
    assert "Fewer than 5" in utc[1].alpha.reason
    assert agreement_per_day(YES, answer_arrays([]), ZoneInfo("UTC")) == ()


def test_every_pair_with_common_units_is_compared_and_models_are_marked():
    pairs = pair_agreements(YES, answer_arrays(given()))
    models = model_agreements(YES, answer_arrays(given({"anna": "yy-", "judge": "yn-"})), {"judge", "new"})

    assert [(one.first, one.second, one.alike.n) for one in pairs] == [
        ("anna", "ben", 7),
        ("anna", "carl", 5),
        ("ben", "carl", 5),
    ]
    assert [(one.first, one.second, one.is_model, one.alike.value) for one in models] == [("anna", "judge", True, 0.5)]


def test_groups_with_a_separate_view_are_identified():
    table = {f"a{number}": "yynn" * 3 for number in range(3)} | {f"b{number}": "ynyn" * 3 for number in range(3)}
    group_of = {name: name[0] for name in table if name != "b2"}

    first, second = groups_of_annotators(YES, answer_arrays(given(table)), group_of, draws=99)

    assert (first.group, first.n_raters, first.within.value) == ("a", 3, 1.0)
    assert first.across.value < 0.2
    assert (second.group, second.n_raters) == ("b", 2)
    assert groups_of_annotators(YES, answer_arrays(given(table)), {"a0": "a"}) == ()


def answered(table):
    return answer_arrays(given(table))


def test_each_annotator_is_compared_with_all_others():
    anna, ben, carl = rater_agreements(YES, answered({"anna": "yyn", "ben": "yyy", "carl": "-n-"}))

    assert (anna.annotator, anna.prevalence, anna.n_answers) == ("anna", (("yes", 2), ("no", 1)), 3)
    assert (anna.alike.value, anna.alike.n) == (pytest.approx((1 + 1 / 2 + 0) / 3), 3)
    assert (carl.alike.value, carl.alike.n) == (0.0, 1)
    assert ben.alike.value == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_an_annotator_without_common_units_has_no_figure():
    (anna,) = rater_agreements(YES, answered({"anna": "yyn"}))

    assert isinstance(anna.alike, Undefined)
    assert rater_agreements(YES, answered({})) == ()


def test_the_most_disputed_dialogue_is_first_with_its_distribution():
    first, second, third = spreads(YES, answered({"a": "yyyy", "b": "nyy-", "c": "nny-", "d": "nyy-"}))

    assert [one.dialogue for one in (first, second, third)] == [0, 1, 2]
    assert first.counts == (("yes", 1), ("no", 3))
    assert (first.n, third.counts) == (4, (("yes", 4), ("no", 0)))
    assert spreads(YES, answered({})) == ()


def test_the_planned_number_reaches_the_promised_width():
    rng = np.random.default_rng(5)
    levels = rng.normal(5.0, 1.0, 4000)
    answers = [
        GivenAnswer(f"p{person}", unit, unit, str(int(np.clip(round(level + rng.normal(0, 1.0)), 1, 10))))
        for unit, level in enumerate(levels)
        for person in range(2)
    ]
    one, two = planned_passes(BAD, answer_arrays(answers), 0.2, most_passes=2)

    spread = {k: [np.mean(levels_of(answers, unit)[:k]) for unit in range(4000)] for k in (1, 2)}
    for plan in (one, two):
        reached = 1.96 * np.std(spread[plan.passes]) / math.sqrt(plan.n_dialogues)
        assert reached == pytest.approx(0.2, rel=0.05)
    assert two.n_dialogues < one.n_dialogues
    assert two.n_annotations == 2 * two.n_dialogues


def levels_of(answers, unit):
    return [int(one.value) for one in answers[2 * unit : 2 * unit + 2]]


def test_perfect_agreement_makes_a_second_annotation_useless():
    plans = planned_passes(YES, answer_arrays(given({"anna": "ynyn" * 5, "ben": "ynyn" * 5})), 0.1)

    assert len({plan.n_dialogues for plan in plans}) == 1


def test_an_impossible_plan_states_why():
    three = Question(
        name="t", text="?", scale=Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=v) for v in "abc"))
    )
    assert isinstance(planned_passes(YES, answer_arrays(given({"anna": "yn"})), 0.1), Undefined)
    for question, width in ((YES, 0.0), (three, 0.1)):
        with pytest.raises(InputError):
            planned_passes(question, answer_arrays(given()), width)
