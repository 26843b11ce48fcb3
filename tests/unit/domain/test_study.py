from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import guideline, judge, live, person, question, study

from theodolite.domain.application import (
    Application,
    Claim,
    ClaimKind,
    ModelEndpoint,
    ModelKind,
    PromptedModel,
    PythonCallable,
)
from theodolite.domain.identity import version_of

SMALL = study(annotators=(judge(), person()))


def test_parts_are_found_by_name():
    assert SMALL.model("large").url == "l"
    assert SMALL.application("bot") == live()
    assert SMALL.guideline("polite") == guideline()
    assert SMALL.annotator("ann") == person()


def test_recorded_dialogues_may_name_an_undefined_scenario():
    assert SMALL.scenario("elsewhere").name == "elsewhere"


def test_another_model_of_an_application_is_another_application_version():
    prompted = Application(name="bot", connection=PromptedModel(model="m"))
    first = study(applications=(prompted,), models=(ModelEndpoint(name="m", url="u", model="one"),))
    second = replace(first, models=(ModelEndpoint(name="m", url="u", model="two"),))

    assert first.application_version("bot") != second.application_version("bot")


@pytest.mark.parametrize(
    "change",
    [
        {"guidelines": (guideline(question(text="Really?")),)},
        {"models": (ModelEndpoint(name="large", url="elsewhere"),)},
        {"annotators": (judge(model="user"),)},
    ],
)
def test_guideline_and_model_are_part_of_the_version_of_a_judge(change):
    assert replace(SMALL, **change).annotator_version("grounded") != SMALL.annotator_version("grounded")


def test_a_model_is_not_part_of_the_version_of_a_person():
    changed = replace(SMALL, models=())

    assert changed.annotator_version("ann") == SMALL.annotator_version("ann")


@pytest.mark.parametrize(
    "change", [{"model": "two"}, {"params": {"seed": 1}}, {"kind": ModelKind.ANTHROPIC}, {"url": "v"}]
)
def test_settings_that_change_replies_are_part_of_the_run_fingerprint(change):
    first = ModelEndpoint(name="m", url="u", model="one")
    plain, changed = (study(models=(model,)) for model in (first, replace(first, **change)))

    assert changed.run_fingerprint != plain.run_fingerprint
    assert replace(first, **change).version != first.version


def test_editing_the_claims_of_an_application_repeats_no_request():
    claimed = replace(
        SMALL.applications[0], claims=(Claim(text="It is kind.", kind=ClaimKind.CAPABILITY),), description="A bot."
    )
    edited = replace(SMALL, applications=(claimed, *SMALL.applications[1:]))

    assert edited.application_version(claimed.name) == SMALL.application_version(claimed.name)
    assert edited.run_fingerprint == SMALL.run_fingerprint
    assert version_of(edited) != version_of(SMALL)


def test_the_concurrency_of_an_application_is_not_part_of_its_version():
    one, many = (Application(name="a", connection=PythonCallable(target="a:b", parallel=n)) for n in (1, 64))

    assert version_of(one) == version_of(many)
