"""Another version of a schema: what changes in words alone, what in kind, and who qualifies again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.annotation_queue import RISK, STYLE, UTILITY

from theodolite.assessment.schema_changes import Fate, is_alike, kind_of, schema_changes
from theodolite.domain.guideline import Example, Origin, Violation
from theodolite.domain.instrument import Exemplar, Label, Orientation, QuestionLevel, Scale, ScaleKind
from theodolite.domain.schema import AnnotationSchema, Category


def schema(*guidelines):
    return AnnotationSchema(name="s", categories=tuple(Category(guideline=one) for one in guidelines))


def asked(guideline, **changed):
    first, *others = guideline.instrument.questions
    return replace(guideline, instrument=replace(guideline.instrument, questions=(replace(first, **changed), *others)))


def fate(after):
    return schema_changes(schema(RISK), schema(after))[0].fate


def test_categories_come_and_go():
    changes = schema_changes(schema(RISK, STYLE), schema(RISK, UTILITY))

    assert {one.name: one.fate for one in changes} == {"risk": Fate.SAME, "utility": Fate.NEW, "style": Fate.GONE}


def test_a_first_version_is_new_throughout():
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
def test_other_words_are_no_other_kind(after):
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
def test_other_answers_questions_or_rules_are_another_kind(after):
    assert fate(after) is Fate.KIND
    assert schema_changes(schema(RISK), schema(after))[0].qualifies_again


def test_meanings_of_a_scale_are_words_and_its_points_are_kind():
    ends = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10, labels=(Label(value="1", meaning="not at all"),))
    first, second = RISK.instrument.questions
    other = replace(RISK, instrument=replace(RISK.instrument, questions=(first, replace(second, scale=ends))))
    longer = replace(
        RISK, instrument=replace(RISK.instrument, questions=(first, replace(second, scale=replace(ends, highest=11))))
    )

    assert (fate(other), fate(longer)) == (Fate.WORDS, Fate.KIND)


def test_where_a_guideline_comes_from_is_no_change_but_another_hash():
    change = schema_changes(schema(RISK), schema(replace(RISK, origin=Origin.SHIPPED)))[0]

    assert (change.fate, change.may_carry_over, change.before == change.after) == (Fate.SAME, True, False)
    assert is_alike(schema(RISK), schema(replace(RISK, origin=Origin.SHIPPED)))


def test_what_differs_is_told_question_by_question():
    told = schema_changes(schema(RISK), schema(asked(RISK, text="Otherwise?", may_not_apply=True)))[0].told

    assert told == ("`released`: reads otherwise, takes other answers",)
