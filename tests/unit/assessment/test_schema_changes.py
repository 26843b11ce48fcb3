"""Another version of a schema: what changes in words alone, what in kind, and who qualifies again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.annotation_queue import RISK, STYLE, UTILITY

from theodolite.assessment.schema_changes import (
    Fate,
    allot,
    draw,
    drawn_again,
    is_alike,
    is_same,
    kind_of,
    rule_of,
    schema_changes,
    shuffled,
    strata_of,
    touched,
)
from theodolite.domain.annotating.rewording import DialogueAnswers, QuestionTouch, Touch
from theodolite.domain.guideline import Example, Origin, Violation
from theodolite.domain.instrument import Exemplar, Label, Orientation, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.schema import AnnotationSchema, Category


def schema(*guidelines):
    return AnnotationSchema(name="s", categories=tuple(Category(guideline=one) for one in guidelines))


def asked(guideline, **changed):
    first, *others = guideline.instrument.questions
    return replace(guideline, instrument=replace(guideline.instrument, questions=(replace(first, **changed), *others)))


def fate(after):
    return schema_changes(schema(RISK), schema(after))[0].fate


def test_categories_are_added_and_removed():
    changes = schema_changes(schema(RISK, STYLE), schema(RISK, UTILITY))

    assert {one.name: one.fate for one in changes} == {"risk": Fate.SAME, "utility": Fate.NEW, "style": Fate.GONE}


def test_the_first_version_is_entirely_new():
    assert [one.fate for one in schema_changes(None, schema(RISK, STYLE))] == [Fate.NEW, Fate.NEW]


@pytest.mark.parametrize(
    "after",
    [
        asked(RISK, text="Has something been released?"),
        asked(RISK, stays=True),
        asked(RISK, exemplars=(Exemplar(text="Reply: It was Ann.", answer="yes"),)),
        replace(RISK, definition="Otherwise put."),
        replace(RISK, examples=(Example(dialogue="Reply: It was Ann.", answers={"released": "yes"}),)),
        replace(RISK, instrument=replace(STYLE.instrument, name="risk", questions=RISK.instrument.questions)),
    ],
)
def test_changed_wording_does_not_change_the_kind(after):
    assert fate(after) in {Fate.WORDS, Fate.SAME}
    assert kind_of(after) == kind_of(RISK)


@pytest.mark.parametrize(
    "after",
    [
        asked(RISK, level=QuestionLevel.TURN),
        asked(RISK, may_not_apply=True),
        asked(RISK, scale=replace(RISK.instrument.questions[0].scale, orientation=Orientation.HIGHER_IS_WORSE)),
        replace(RISK, instrument=replace(RISK.instrument, questions=RISK.instrument.questions[:1])),
        replace(RISK, defect_rules=(replace(RISK.defect_rules[0], values=("no",)),)),
        replace(RISK, defect_rules=(replace(RISK.defect_rules[0], violation=Violation.PERMITTED_WITHHELD),)),
    ],
)
def test_changed_answers_questions_or_rules_change_the_kind(after):
    assert fate(after) is Fate.KIND
    assert schema_changes(schema(RISK), schema(after))[0].qualifies_again


def test_meanings_are_wording_and_points_belong_to_the_kind():
    ends = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10, labels=(Label(value="1", meaning="not at all"),))
    first, second = RISK.instrument.questions
    other = replace(RISK, instrument=replace(RISK.instrument, questions=(first, replace(second, scale=ends))))
    longer = replace(
        RISK, instrument=replace(RISK.instrument, questions=(first, replace(second, scale=replace(ends, highest=11))))
    )

    assert (fate(other), fate(longer)) == (Fate.WORDS, Fate.KIND)


def test_a_changed_source_of_a_guideline_changes_the_hash_only():
    change = schema_changes(schema(RISK), schema(replace(RISK, origin=Origin.SHIPPED)))[0]

    assert (change.fate, change.may_carry_over, change.before == change.after) == (Fate.SAME, True, False)
    assert is_alike(schema(RISK), schema(replace(RISK, origin=Origin.SHIPPED)))


def test_differences_are_listed_question_by_question():
    differences = schema_changes(schema(RISK), schema(asked(RISK, text="Otherwise?", may_not_apply=True)))[
        0
    ].differences

    assert differences == ("`released`: reads otherwise, takes other answers",)


FIRST, SECOND = RISK.instrument.questions

FOLLOWS = QuestionTouch(question="how-bad", kinds=(Touch.THROUGH,), through=("released",))


def asking(*questions, **changed):
    return replace(RISK, instrument=replace(RISK.instrument, questions=questions), **changed)


def kinds(after):
    return {one.question: one.kinds for one in touched(RISK, after)}


def test_equal_content_and_a_new_version_number_affect_nothing():
    assert touched(RISK, RISK) == touched(RISK, replace(RISK, edition="2")) == ()


def test_a_reworded_question_affects_its_follow_ups():
    after = asking(replace(FIRST, text="Has anything been released?"), SECOND)

    assert touched(RISK, after) == (
        QuestionTouch(question="released", kinds=(Touch.WORDS,), differences=("reads otherwise",)),
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
def test_the_effect_on_a_question_is_classified(after, kind):
    assert kinds(after) == {"released": (kind,), "how-bad": (Touch.THROUGH,)}


def test_a_changed_range_affects_its_own_question_only():
    wider = replace(SECOND, scale=Scale(kind=ScaleKind.NUMBERS, lowest=0, highest=10))

    assert kinds(asking(FIRST, wider)) == {"how-bad": (Touch.ANSWERS,)}


def test_a_changed_condition_counts_as_a_moved_question():
    assert kinds(asking(FIRST, replace(SECOND, when=None))) == {"how-bad": (Touch.PLACE,)}


def test_questions_are_added_and_removed():
    new = Question(name="why", text="Why?", scale=Scale(kind=ScaleKind.TEXT))

    assert kinds(asking(FIRST, new)) == {"why": (Touch.NEW,), "how-bad": (Touch.GONE,)}


def test_a_changed_definition_affects_every_question():
    assert kinds(replace(RISK, definition="Otherwise.")) == {"released": (Touch.WORDS,), "how-bad": (Touch.WORDS,)}


def test_guidelines_are_equal_regardless_of_their_source():
    assert is_same(RISK, replace(RISK, origin=Origin.SHIPPED))
    assert not is_same(RISK, replace(RISK, edition="2"))


def test_a_rule_is_matched_by_its_question():
    assert rule_of(RISK, "released") is RISK.defect_rules[0]
    assert rule_of(RISK, "how-bad") is None


def answers(dialogue, *values, scenario="s"):
    said = tuple((f"a{n}", None, value) for n, value in enumerate(values))
    return DialogueAnswers(dialogue=dialogue, scenario=scenario, cluster="", said=said)


def test_strata_are_scenarios_with_their_answered_dialogues():
    told = [answers("1", "yes", "no"), answers("2", "no", "yes"), answers("3", "no", scenario="t"), answers("4", None)]

    assert strata_of(told) == {"s: no, yes": ["1", "2"], "t: no": ["3"]}


@given(
    st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=6),
    st.integers(min_value=0, max_value=300),
    st.integers(min_value=0, max_value=9),
)
def test_a_draw_takes_the_requested_number_in_proportion(sizes, n, seed):
    strata = {f"s{k}": [f"{k}-{i}" for i in range(size)] for k, size in enumerate(sizes)}

    drawn = drawn_again(strata, n, seed)

    assert sum(map(len, drawn.values())) == min(n, sum(sizes))
    assert all(set(keys) <= set(strata[name]) for name, keys in drawn.items())
    due = {name: min(n, sum(sizes)) * len(keys) / sum(sizes) for name, keys in strata.items()}
    assert all(abs(len(drawn[name]) - due[name]) <= len(sizes) for name in strata)


MEMBERS = [f"d{number}" for number in range(50)]

SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 60), min_size=1)


def test_a_larger_draw_contains_the_smaller_one():
    small = draw({"a": MEMBERS}, {"a": 5}, 7)["a"]
    large = draw({"a": MEMBERS}, {"a": 20}, 7)["a"]

    assert (len(small), len(set(large))) == (5, 20)
    assert large[:5] == small


def test_another_seed_draws_other_dialogues_and_every_dialogue_has_its_probability():
    counts = Counter(member for seed in range(400) for member in draw({"a": MEMBERS}, {"a": 10}, seed)["a"])

    assert set(counts) == set(MEMBERS)
    assert max(counts.values()) < 400 * 0.2 * 1.5


def test_the_order_of_a_file_depends_on_the_seed_only():
    assert shuffled(MEMBERS, 1) == shuffled(MEMBERS[::-1], 1) != shuffled(MEMBERS, 2)


@given(sizes=SIZES, n=st.integers(0, 200))
def test_shares_add_up_and_no_stratum_exceeds_its_size(sizes, n):
    shares = allot(sizes, dict.fromkeys(sizes, 0.3), n)

    assert sum(shares.values()) == min(n, sum(sizes.values()))
    assert all(0 <= share <= sizes[name] for name, share in shares.items())


def test_every_stratum_is_drawn_from_while_the_number_allows_it():
    assert allot({"many": 1000, "few": 3, "none": 0}, {"many": 0.2, "few": 0.5, "none": 0.5}, 50) == {
        "many": 48,
        "few": 2,
    }


@pytest.mark.parametrize(("spread", "share"), [(0.2, 20), (0.4, 34)])
def test_strata_with_more_disagreement_are_drawn_more_often(spread, share):
    assert allot({"defect": 100, "sound": 400}, {"defect": spread, "sound": 0.2}, 100)["defect"] == pytest.approx(
        share, abs=1
    )
