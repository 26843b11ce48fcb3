from __future__ import annotations

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import check_study, load_study
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Orientation, Topic

PACK = """study: a
pack: aria/{pack}
models: {{m: {{script: [Hello]}}, user: {{script: [Hello]}}}}
applications: {{app: {{kind: model, model: m}}}}
judges: {{j: {{guidelines: all, model: m}}}}
"""
PACKS = ["tv-spoilers", "meal-planner", "pathfinder"]


def written(tmp_path, text, **files):
    for name, content in {"study.yaml": text, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("pack", PACKS)
def test_packs_ask_testers_of_both_levels_about_all_four_topics(tmp_path, pack):
    study = load_study(written(tmp_path, PACK.format(pack=pack))).study

    for level in (Level.RED_TEAMING, Level.FIELD_TESTING):
        (asked,) = study.questionnaires_after(pack, level)
        assert {question.topic for question in asked.instrument.questions} == set(Topic)
        assert len(asked.instrument.questions) >= 10
        assert study.scenario(pack).instructions[level.value].startswith("Your task:")


@pytest.mark.parametrize("pack", PACKS)
def test_packs_give_only_the_note_about_the_consent_text_to_complete(tmp_path, pack):
    people = "levels: {field_testing: {people: 3}}\nconsent: consent.md\n"
    (placed,) = check_study(written(tmp_path, PACK.format(pack=pack) + people))

    assert (placed.file, "still the sample text" in placed.words) == ("consent.md", True)


def test_a_consent_text_with_placeholders_is_not_complete(tmp_path):
    people = "levels: {field_testing: {people: 3}}\nconsent: ours.md\n"
    text = "Ask [contact] about it, see [the law](law.html); approved by [ethics body]."
    (placed,) = check_study(written(tmp_path, PACK.format(pack="pathfinder") + people, **{"ours.md": text}))

    assert "[contact], [ethics body];" in placed.words


def test_a_questionnaire_may_have_a_file_of_its_own(tmp_path):
    own = "scenarios: {s: {goal: g, scripts: {a: b}, questionnaires: {field_testing: mine}}}\n"
    text = PACK.format(pack="tv-spoilers") + own
    file = {"questionnaires/mine.yaml": "title: Mine\nquestions: {ok: {ask: Was it?}}\n"}
    study = load_study(written(tmp_path, text, **file)).study

    assert study.questionnaires_after("s", Level.FIELD_TESTING)[0].title == "Mine"


def test_the_long_form_is_the_same_questionnaire(tmp_path):
    study = load_study(written(tmp_path, PACK.format(pack="pathfinder"))).study
    consent_and_source = {"source.md": study.scenario("pathfinder").packet.sources[0].text}
    again = load_study(written(tmp_path, expanded(study), **consent_and_source)).study

    assert [version_of(each) for each in again.questionnaires] == [version_of(each) for each in study.questionnaires]


def test_likert_scales_name_every_point(tmp_path):
    study = load_study(written(tmp_path, PACK.format(pack="pathfinder"))).study
    question = study.questionnaire("pathfinder-field-testing").instrument.question("helpful")

    assert [label.value for label in question.scale.labels] == ["1", "2", "3", "4", "5", "6", "7"]
    assert question.scale.orientation is Orientation.LOWER_IS_WORSE
