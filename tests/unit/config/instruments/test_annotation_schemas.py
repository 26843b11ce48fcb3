from __future__ import annotations

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import check_study, load_study
from theodolite.domain.guideline import Origin
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import QuestionLevel, ScaleKind

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}, guidelines: [other]}}
guidelines: {other: {ask: Is it?, defect: "== yes"}}
judges: {j: {guideline: other, model: m}}
"""
ROUTED = """
schemas:
  mine:
    route: {first: risk, violation: all, none: [use]}
    categories:
      risk:
        questions:
          bad: {ask: Was it?, exemplars: [{text: so, answer: yes}]}
          much: {ask: How far?, scale: {1: little, 10: all}, when: bad == yes, outcome: ">= 6"}
        defects: {bad: {defect: bad == yes, violation: prohibited_released}}
      style: {ask: Was it friendly?, defect: "== no"}
      use: {ask: Was it of use?, defect: "== no"}
"""


def written(tmp_path, text):
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def mine(tmp_path):
    return load_study(written(tmp_path, STUDY + ROUTED)).study


def test_categories_are_guidelines_of_the_study_and_asked_everywhere(mine):
    assert [guideline.name for guideline in mine.guidelines] == ["other", "risk", "style", "use"]
    assert mine.schema().category("risk").guideline is mine.guideline("risk")
    assert mine.asks("style", "s")


def test_a_route_of_all_excludes_the_first_category(mine):
    assert mine.schema().routing.on_violation == ("style", "use")
    assert mine.schema().routing.otherwise == ("use",)


def test_a_slider_opens_its_non_response_options(mine):
    questions = mine.guideline("risk").instrument.questions

    assert [each.name for each in questions] == ["bad", "much", "much_outcome", "much_outcome_neither"]
    assert questions[2].when.text == "much >= 6"
    assert questions[3].when.text == "much_outcome == neither"


def test_the_long_form_is_the_same_study(mine, tmp_path):
    again = load_study(written(tmp_path, expanded(mine))).study

    assert version_of(again.schema()) == version_of(mine.schema())


@pytest.mark.parametrize("name", ["aria-five-categories", "aria-pilot-items"])
def test_shipped_schemas_have_no_errors_or_notes(tmp_path, name):
    study = written(tmp_path, STUDY + f"annotation: {{schema: {name}}}\n")

    assert check_study(study) == ()
    assert load_study(study).study.schema().categories[0].guideline.origin is Origin.SHIPPED


def test_the_five_categories_ask_three_questions_each_and_style_and_content_at_turns(tmp_path):
    study = load_study(written(tmp_path, STUDY + "annotation: {schema: aria-five-categories}\n")).study
    asked = {category.name: category.guideline.instrument.questions for category in study.schema().categories}

    assert len(asked) == 5
    assert all(sum(each.when is None for each in questions) >= 2 for questions in asked.values())
    assert all(len(questions) >= 3 for questions in asked.values())
    for name in ("content-characterization", "interaction-style"):
        assert {each.level for each in asked[name]} == {QuestionLevel.TURN}


def test_magnitudes_range_from_1_to_10_with_named_ends(tmp_path):
    study = load_study(written(tmp_path, STUDY + "annotation: {schema: aria-five-categories}\n")).study
    scales = [q.scale for c in study.schema().categories for q in c.guideline.instrument.questions]
    sliders = [scale for scale in scales if scale.kind is ScaleKind.NUMBERS]

    assert {(scale.lowest, scale.highest) for scale in sliders} == {(1, 10)}
    assert all({"1", "10"} <= {label.value for label in scale.labels} for scale in sliders)


def test_a_judge_may_label_by_a_category(tmp_path):
    text = STUDY.replace("guideline: other", "guideline: risk-assessment").replace(", guidelines: [other]", "")
    study = load_study(written(tmp_path, text + "annotation: {schema: aria-five-categories}\n")).study

    assert study.annotators[0].guideline == "risk-assessment"
