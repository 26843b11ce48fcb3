from __future__ import annotations

import pytest

from theodolite.config.events import people_from_domain
from theodolite.config.loading import check_study, load_study
from theodolite.domain.choices import Assignment
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError, Severity
from theodolite.domain.event import AnnotationProcess, BreakRule, LevelPlan, PreAnnotation
from theodolite.domain.shown_order import OrderPlan, QuestionOrder

STUDY = """study: a
applications: {app: {kind: python, call: "a:b"}}
scenarios: {s: {scripts: {hello: Hello}}}
"""


def test_levels_and_annotation_become_records(folder):
    more = "levels: {model_testing: {repeats: 2}, red_teaming: {people: 3, sessions: 2, minutes: 30}}\n"
    more += (
        "annotation: {per_item: 2, quality_check: 0.1, order: {questions: balanced, options: yes}}\nconsent: mine.md\n"
    )

    study = load_study(folder(study_yaml=STUDY + more, mine_md="Do you agree?\n")).study

    assert study.levels == (
        LevelPlan(level=Level.MODEL_TESTING, repeats=2),
        LevelPlan(level=Level.RED_TEAMING, people=3, sessions=2, minutes=30),
    )
    assert study.annotation == AnnotationProcess(
        passes=2, quality_check=0.1, order=OrderPlan(questions=QuestionOrder.BALANCED, options=True)
    )
    assert study.event.consent == "Do you agree?\n"


JUDGED = """models: {large: {name: gpt-x, url: http://127.0.0.1:9}}
judges: {strict: {guideline: over-refusal, model: large}}
"""


def test_a_judge_may_suggest_labels_in_half_of_the_dialogues_by_default(folder):
    more = JUDGED + "annotation: {pre_annotation: {judge: strict}}\n"

    study = load_study(folder(study_yaml=STUDY + more)).study

    assert study.annotation.pre_annotation == PreAnnotation(judge="strict", share=0.5)
    assert people_from_domain(study)["annotation"]["pre_annotation"] == {"judge": "strict", "share": 0.5}


def test_a_study_suggests_no_labels_by_default(folder):
    study = load_study(folder(study_yaml=STUDY + "annotation: {per_item: 2}\n")).study

    assert study.annotation.pre_annotation is None
    assert "pre_annotation" not in people_from_domain(study)["annotation"]


def test_suggestions_need_a_judge_of_the_study(folder):
    more = JUDGED + "annotation: {pre_annotation: {judge: strikt}}\n"

    (problem,) = [item for item in check_study(folder(study_yaml=STUDY + more)) if "pre_annotation" in item.message]

    assert problem.message.startswith("`pre_annotation` names judge `strikt`")
    assert "strict" in problem.message


@pytest.mark.parametrize("share", [0, 1, 1.5])
def test_suggestions_in_all_dialogues_or_none_allow_no_comparison(share):
    with pytest.raises(InputError, match="between 0 and 1"):
        PreAnnotation(judge="strict", share=share)


def test_an_event_preserves_its_local_times(folder):
    more = "event: {opens: 2026-03-02T09:00, closes: 2026-03-06T17:00, zone: Asia/Kolkata}\nassign: between_subjects\n"

    event = load_study(folder(study_yaml=STUDY + more)).study.event

    assert (event.opens, event.closes, event.zone) == ("2026-03-02T09:00", "2026-03-06T17:00", "Asia/Kolkata")
    assert event.assign is Assignment.BETWEEN_SUBJECTS


@pytest.mark.parametrize("more", ["levels: {red_teaming: {people: 3}}\n", "levels: {field_testing: {people: 1}}\n"])
def test_participants_need_a_consent_text(folder, more):
    open_items = [item for item in check_study(folder(study_yaml=STUDY + more)) if item.severity is Severity.OPEN]

    assert [item.place for item in open_items] == ["study.yaml:4"]


def test_a_study_without_participants_has_no_event(folder):
    assert load_study(folder(study_yaml=STUDY)).study.event is None


def test_participant_texts_and_questionnaires_become_records(folder):
    more = """levels: {red_teaming: {people: 12, quotas: {domain_expert: 4}}}
warning: rough.md
breaks: {every: 25, most: 90, most_severe: 10}
screening: [{ask: Are you 18 or older?}, {ask: Do you work for a maker of one of these?, wanted: no}]
consent: mine.md
"""

    study = load_study(folder(study_yaml=STUDY + more, mine_md="Yes?\n", rough_md="It may be rough.\n")).study

    assert study.levels[0].quotas == {"domain expert": 4}
    assert study.event.warning == "It may be rough.\n"
    assert study.event.breaks == BreakRule(every_min=25, most_min=90, most_severe=10)
    assert [(one.text[:6], one.wanted) for one in study.event.screening] == [("Are yo", True), ("Do you", False)]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("levels: {red_teaming: {people: 3, quotas: {everyday: 4}}}\n", "call for 4 people and the level has 3"),
        ("levels: {red_teaming: {people: 3, quotas: {expert: 1}}}\n", "domain_expert"),
        ("warning: nowhere.md\nlevels: {red_teaming: {people: 3}}\n", "nowhere.md"),
    ],
)
def test_an_impossible_event_is_an_error(folder, more, words):
    assert any(words in item.message for item in check_study(folder(study_yaml=STUDY + more)))


@pytest.mark.parametrize(("more", "n_open"), [("", 1), ("warning: ours.md\n", 0)])
def test_participants_see_a_content_notice_where_risks_are_tested(folder, more, n_open):
    more += "risks: {rude: {description: It is rude.}}\nlevels: {red_teaming: {people: 3}}\nconsent: ours.md\n"
    noted = check_study(folder(study_yaml=STUDY + more, ours_md="Do you agree?\n"))

    assert [item.severity for item in noted if "looks for risks" in item.message] == [Severity.OPEN] * n_open
