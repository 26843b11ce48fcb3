"""What another version of a category touches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.annotation_queue import RISK

from theodolite.assessment.schema_impact import drawn_again, is_same, rule_of, strata_of, touched
from theodolite.domain.annotating.rewording import DialogueAnswers, QuestionTouch, Touch
from theodolite.domain.guideline import Origin
from theodolite.domain.instrument import Exemplar, Orientation, Question, QuestionLevel, Scale, ScaleKind

FIRST, SECOND = RISK.instrument.questions
FOLLOWS = QuestionTouch(question="how-bad", kinds=(Touch.THROUGH,), through=("released",))


def asking(*questions, **changed):
    return replace(RISK, instrument=replace(RISK.instrument, questions=questions), **changed)


def kinds(after):
    return {one.question: one.kinds for one in touched(RISK, after)}


def test_nothing_is_touched_by_the_same_and_by_another_edition():
    assert touched(RISK, RISK) == touched(RISK, replace(RISK, edition="2")) == ()


def test_a_question_in_other_words_touches_those_that_follow_it():
    after = asking(replace(FIRST, text="Has anything been released?"), SECOND)

    assert touched(RISK, after) == (
        QuestionTouch(question="released", kinds=(Touch.WORDS,), told=("reads otherwise",)),
        FOLLOWS,
    )


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (asking(replace(FIRST, exemplars=(Exemplar(text="Reply: Ann.", answer="yes"),)), SECOND), Touch.WORDS),
        (asking(replace(FIRST, may_not_apply=True), SECOND), Touch.ANSWERS),
        (asking(FIRST, SECOND, defect_rules=(replace(RISK.defect_rules[0], values=("no",)),)), Touch.ANSWERS),
        (asking(replace(FIRST, level=QuestionLevel.TURN), SECOND), Touch.PLACE),
        (
            asking(replace(FIRST, scale=replace(FIRST.scale, orientation=Orientation.HIGHER_IS_WORSE)), SECOND),
            Touch.ANSWERS,
        ),
    ],
    ids=["example", "answers", "rule", "level", "bad end"],
)
def test_how_a_question_is_touched(after, kind):
    assert kinds(after) == {"released": (kind,), "how-bad": (Touch.THROUGH,)}


def test_another_range_touches_the_question_alone():
    wider = replace(SECOND, scale=Scale(kind=ScaleKind.NUMBERS, lowest=0, highest=10))

    assert kinds(asking(FIRST, wider)) == {"how-bad": (Touch.ANSWERS,)}


def test_another_condition_is_another_place():
    assert kinds(asking(FIRST, replace(SECOND, when=None))) == {"how-bad": (Touch.PLACE,)}


def test_questions_come_and_go():
    new = Question(name="why", text="Why?", scale=Scale(kind=ScaleKind.TEXT))

    assert kinds(asking(FIRST, new)) == {"why": (Touch.NEW,), "how-bad": (Touch.GONE,)}


def test_a_definition_touches_every_question():
    assert kinds(replace(RISK, definition="Otherwise.")) == {"released": (Touch.WORDS,), "how-bad": (Touch.WORDS,)}


def test_guidelines_are_the_same_wherever_they_come_from():
    assert is_same(RISK, replace(RISK, origin=Origin.SHIPPED))
    assert not is_same(RISK, replace(RISK, edition="2"))


def test_a_rule_is_found_by_its_question():
    assert rule_of(RISK, "released") is RISK.defect_rules[0]
    assert rule_of(RISK, "how-bad") is None


def answers(dialogue, *values, scenario="s"):
    said = tuple((f"a{n}", None, value) for n, value in enumerate(values))
    return DialogueAnswers(dialogue=dialogue, scenario=scenario, cluster="", said=said)


def test_strata_are_scenarios_with_all_that_was_answered():
    told = [answers("1", "yes", "no"), answers("2", "no", "yes"), answers("3", "no", scenario="t"), answers("4", None)]

    assert strata_of(told) == {"s: no, yes": ["1", "2"], "t: no": ["3"]}


@given(
    st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=6),
    st.integers(min_value=0, max_value=300),
    st.integers(min_value=0, max_value=9),
)
def test_a_draw_takes_as_many_as_wanted_in_proportion(sizes, n, seed):
    strata = {f"s{k}": [f"{k}-{i}" for i in range(size)] for k, size in enumerate(sizes)}

    drawn = drawn_again(strata, n, seed)

    assert sum(map(len, drawn.values())) == min(n, sum(sizes))
    assert all(set(keys) <= set(strata[name]) for name, keys in drawn.items())
    due = {name: min(n, sum(sizes)) * len(keys) / sum(sizes) for name, keys in strata.items()}
    assert all(abs(len(drawn[name]) - due[name]) <= len(sizes) for name in strata)
