"""A series' plan is read, held against the study, and its risks are drawn from a taxonomy."""

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.choices import AiType, UserType
from theodolite.domain.event import EvaluationPlan, Series, Team
from theodolite.domain.study import deviations_of

STUDY = """
study: s
series: {series}
applications: {{blue: {{kind: python, call: "app.py:reply"}}, green: {{kind: python, call: "app.py:reply"}}}}
scenarios: {{door: {{risks: [leak], scripts: {{hello: Hello}}}}}}
risks: {{leak: {{taxonomy: {taxonomy}}}}}
judges: {{polite: {{ask: Is it rude?, defect: "== yes", rule: {{any: [stupid], then: yes, else: no}}}}}}
"""
PLAN = """
ai_type: generative
user_types: [adversarial, domain_expert]
risks: [ai-600-1/information-security]
teams: {first: [blue], second: [green]}
scenarios: [door]
requirements: A web address.
criteria: Nothing secret is told.
expected_behaviour: It keeps the secret and stays useful.
methods: Scripts, then people.
"""
KNOWN = "ai-600-1/information-security"


def loaded(folder, *, series="aria-0.1", plan=PLAN, taxonomy=KNOWN, **more):
    texts = {"study_yaml": STUDY.format(series=series, taxonomy=taxonomy), "app_py": "def reply(p): return p\n"}
    plans = {"series__aria-0.1_yaml": plan} if plan else {}
    return load_study(folder(**texts, **plans, **more))


def said(placed):
    return " ".join(render_diagnostics(placed).split())


def test_the_plan_of_a_series_has_its_own_file(folder):
    study = loaded(folder).study

    assert study.series == "aria-0.1"
    assert study.preregistered == Series(
        name="aria-0.1",
        ai_type=AiType.GENERATIVE,
        user_types=(UserType.ADVERSARIAL, UserType.DOMAIN_EXPERT),
        risks=("ai-600-1/information-security",),
        teams=(Team(name="first", applications=("blue",)), Team(name="second", applications=("green",))),
        plan=EvaluationPlan(
            requirements="A web address.",
            scenarios=("door",),
            criteria="Nothing secret is told.",
            expected_behaviour="It keeps the secret and stays useful.",
            methods="Scripts, then people.",
        ),
    )
    assert deviations_of(study) == ()


def test_a_plan_does_not_change_the_requests_of_a_run(folder):
    assert (
        loaded(folder).study.run_fingerprint == loaded(folder, plan=PLAN.replace("A web", "An")).study.run_fingerprint
    )


def test_joining_a_series_does_not_change_the_run(folder):
    alone = loaded(folder, series="another", plan="").study

    assert alone.run_fingerprint == loaded(folder).study.run_fingerprint


def test_the_long_form_preserves_a_series(folder):
    inline = "{name: aria-0.1, ai_type: predictive, teams: {t: [blue, green]}}"
    study = loaded(folder, series=inline, plan="").study

    again = load_study(folder(study_yaml=expanded(study))).study

    assert study.preregistered.ai_type is AiType.PREDICTIVE
    assert (again.series, again.preregistered) == ("aria-0.1", study.preregistered)


def test_a_plain_name_is_a_label(folder):
    study = loaded(folder, plan="").study

    assert (study.series, study.preregistered, deviations_of(study)) == ("aria-0.1", None, ())


def test_a_name_missing_in_the_folder_is_an_error(folder):
    with pytest.raises(InvalidStudyError) as caught:
        loaded(folder, series="aria-0.2")

    assert "there is no series `aria-0.2` in `series/`. Did you mean `aria-0.1`?" in said(caught.value.placed)


def test_deviations_from_the_published_plan_are_noted_at_the_series(folder):
    plan = PLAN.replace("[green]", "[]").replace("[door]", "[gate]").replace("information-security", "confabulation")
    read = loaded(folder, plan=plan)

    assert deviations_of(read.study) == (
        "application `green` belongs to none of its teams",
        "scenario `door` is not in its plan",
        "risk `leak` is none of those that it announced",
    )
    assert "series/aria-0.1.yaml" in said(read.notes)
    assert "application `green` belongs to none of its teams" in said(read.notes)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (PLAN.replace("[green]", "[blue, green]"), "application `blue` is named twice"),
        (
            PLAN.replace("information-security", "informaton-security"),
            "has no risk `informaton-security`. Did you mean",
        ),
        (PLAN.replace("generative", "both"), "ai_type"),
        (PLAN.replace("adversarial", "curious"), "user_types"),
    ],
    ids=["twice", "unknown risk", "unknown type of AI", "unknown type of users"],
)
def test_an_invalid_series_is_an_error(folder, plan, words):
    with pytest.raises(InvalidStudyError) as caught:
        loaded(folder, plan=plan)

    assert words in said(caught.value.placed)


def test_a_risk_missing_in_its_taxonomy_is_an_error(folder):
    with pytest.raises(InvalidStudyError) as caught:
        loaded(folder, taxonomy="ai-600-1/confabulations")

    assert "taxonomy `ai-600-1` has no risk `confabulations`. Did you mean `confabulation`?" in said(
        caught.value.placed
    )


def test_an_undefined_taxonomy_is_noted(folder):
    assert "taxonomy `ours` is not known" in said(loaded(folder, taxonomy="ours/leak").notes)


def test_a_study_may_contain_its_own_taxonomy(folder):
    own = {"taxonomies__ours_yaml": "title: Ours\nrisks: {leak: Leaks}\n"}

    read = loaded(folder, taxonomy="ours/leak", **own)

    assert "ours" not in said(read.notes)
    assert ("taxonomy", "ours", "taxonomies/ours.yaml") in {(one.noun, one.name, one.where) for one in read.found}


def test_a_crosswalk_of_the_study_refers_to_existing_risks(folder):
    own = {
        "taxonomies__ours_yaml": "title: Ours\nrisks: {leak: Leaks}\n"
        "crosswalk: {leak: [owasp-llm-2025/LLM2], leek: [mitre-atlas/AML.T0057]}\n"
    }

    with pytest.raises(InvalidStudyError) as caught:
        loaded(folder, taxonomy="ours/leak", **own)

    words = said(caught.value.placed)
    assert "taxonomy `owasp-llm-2025` has no risk `LLM2`. Did you mean `LLM02`?" in words
    assert "`crosswalk` names `leek`, which is not a risk of this taxonomy. Did you mean `leak`?" in words
