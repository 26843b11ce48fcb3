"""Agreement of people on a queue's questions, and the planner."""

from __future__ import annotations

import math

from tests.fakes.answers import GivenAnswer
from theodolite.domain.findings.number import Undefined
from theodolite.domain.instrument import YES_NO, Question, QuestionLevel, Scale, ScaleKind
from theodolite.measurement import krippendorff_alpha
from theodolite.measurement.annotating import (
    groups_of_annotators,
    model_agreements,
    pair_agreements,
    question_agreement,
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


def test_alpha_is_that_of_the_table():
    codes = {"y": 0.0, "n": 1.0, "-": math.nan}
    table = [[codes[letter] for letter in letters] for letters in TABLE.values()]

    found = question_agreement("risk", YES, answer_arrays(given()))

    assert found.alpha == krippendorff_alpha(table)
    assert (found.alike.count, found.alike.n, found.n_annotators, found.n_shared) == (4, 7, 3, 7)
    assert found.prevalence == (("yes", 11), ("no", 8))


def test_nobody_met_and_all_alike_are_said_in_words():
    alone = question_agreement("risk", YES, answer_arrays(given({"anna": "yny"})))
    alike = question_agreement("risk", YES, answer_arrays(given({"anna": "nnn", "ben": "nnn"})))

    assert (alone.alpha.reason, alone.n_shared) == ("No dialogue has answers of two people yet.", 0)
    assert isinstance(alike.alpha, Undefined)
    assert "unknown" in alike.alpha.reason
    assert alike.alike.value == 1.0


def test_answers_without_a_value_are_counted_and_agree_with_nothing():
    answers = [*given(), GivenAnswer("dora", 0, 0, None)]

    found = question_agreement("risk", YES, answer_arrays(answers))

    assert (found.n_without_value, found.alpha) == (1, question_agreement("risk", YES, answer_arrays(given())).alpha)


def test_turns_are_clustered_in_their_dialogues():
    at_turns = Question(name="q", text="?", scale=YES_NO, level=QuestionLevel.TURN)
    answers = [one._replace(unit=(one.unit // 2, one.unit), dialogue=one.unit // 2) for one in given()]

    found = question_agreement("style", at_turns, answer_arrays(answers))

    assert (found.alpha.n_clusters, found.alike.n_clusters) == (4, 4)


def test_the_history_is_cut_into_stretches_of_equally_many_units():
    found = question_agreement("risk", YES, answer_arrays(given({"anna": "yn" * 20, "ben": "yn" * 10 + "ny" * 10})))

    assert [stretch.alike.n for stretch in found.over_time] == [10, 10, 10, 10]
    assert [stretch.alike.value for stretch in found.over_time] == [1.0, 1.0, 0.0, 0.0]
    assert found.over_time[0].ended < found.over_time[1].begun


def test_every_two_who_met_are_compared_and_models_are_marked():
    pairs = pair_agreements(YES, answer_arrays(given()))
    models = model_agreements(YES, answer_arrays(given({"anna": "yy-", "judge": "yn-"})), {"judge", "new"})

    assert [(one.first, one.second, one.alike.n) for one in pairs] == [
        ("anna", "ben", 7),
        ("anna", "carl", 5),
        ("ben", "carl", 5),
    ]
    assert [(one.first, one.second, one.is_model, one.alike.value) for one in models] == [("anna", "judge", True, 0.5)]


def test_groups_that_see_it_their_own_way_are_told_from_the_rest():
    table = {f"a{number}": "yynn" * 3 for number in range(3)} | {f"b{number}": "ynyn" * 3 for number in range(3)}
    group_of = {name: name[0] for name in table if name != "b2"}

    first, second = groups_of_annotators(YES, answer_arrays(given(table)), group_of, draws=99)

    assert (first.group, first.n_raters, first.within.value) == ("a", 3, 1.0)
    assert first.across.value < 0.2
    assert (second.group, second.n_raters) == ("b", 2)
    assert groups_of_annotators(YES, answer_arrays(given(table)), {"a0": "a"}) == ()
