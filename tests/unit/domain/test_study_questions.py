from __future__ import annotations

from dataclasses import replace

from tests.unit.domain.test_schema import CATEGORIES

from theodolite.domain.dialogue import Level
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.instrument import YES_NO, Instrument, Question
from theodolite.domain.scenario import Scenario
from theodolite.domain.schema import AnnotationSchema, Questionnaire
from theodolite.domain.study import Study

SCHEMA = AnnotationSchema(name="aria", categories=CATEGORIES)
AFTER = Questionnaire(
    name="after", instrument=Instrument(name="after", questions=(Question(name="ok", text="Was it?", scale=YES_NO),))
)
SCENARIO = Scenario(name="s", guidelines=("other",), questionnaires={"red teaming": ("after",)})
STUDY = Study(
    name="a",
    applications=(),
    scenarios=(SCENARIO,),
    guidelines=tuple(category.guideline for category in CATEGORIES),
    schemas=(SCHEMA,),
    questionnaires=(AFTER,),
)


def test_testers_answer_the_questionnaire_of_their_level_and_scenario():
    assert STUDY.questionnaires_after("s", Level.RED_TEAMING) == (AFTER,)
    assert STUDY.questionnaires_after("s", Level.FIELD_TESTING) == ()


def test_categories_are_asked_in_every_scenario():
    assert STUDY.asks("risk", "s")
    assert not STUDY.asks("spoiler", "s")


def test_the_schema_in_use_is_the_named_one_or_the_only_one():
    second = replace(SCHEMA, name="pilot")
    both = replace(STUDY, schemas=(SCHEMA, second), annotation=AnnotationProcess(schema="pilot"))

    assert STUDY.schema() is SCHEMA
    assert both.schema() is second
    assert both.schema("aria") is SCHEMA


def test_questions_for_people_do_not_change_a_run():
    assert STUDY.run_fingerprint == replace(STUDY, schemas=(SCHEMA,), questionnaires=()).run_fingerprint
    assert STUDY.run_fingerprint == replace(STUDY, schemas=(replace(SCHEMA, edition="2"),)).run_fingerprint
