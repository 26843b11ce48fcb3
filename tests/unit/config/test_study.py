from __future__ import annotations

import re

import pytest

from tests.fakes.builders import dialogue
from theodolite.assessment.blinding import blinded, mask_for
from theodolite.config.loading import load_study
from theodolite.config.study import pack_names

PACKETS = tuple(name for name in pack_names() if not name.startswith("relevance/"))
"""Packs whose test packet says what must be withheld."""

STUDY = """study: a
pack: aria/tv-spoilers
applications: {blue: {kind: aria, class: "a.b:C"}}
"""


def test_the_shipped_packs_have_names():
    families = [name.partition("/")[0] for name in pack_names()]

    assert {name: families.count(name) for name in families} == {"aria": 3, "harms": 14, "relevance": 1}


def test_a_pack_provides_scenario_cases_and_guideline(folder):
    study = load_study(folder(study_yaml=STUDY)).study

    (scenario,) = study.scenarios
    assert {script.purpose for script in scenario.scripts} == {"useful", "guardrail"}
    assert scenario.packet.permitted
    assert scenario.packet.prohibited
    assert "lighthouse" in scenario.context.lower()
    assert set(scenario.instructions) == {"model testing", "red teaming", "field testing"}
    assert [guideline.name for guideline in study.guidelines] == ["spoiler-guardrail"]


def test_a_scenario_of_the_study_overrides_the_pack(folder):
    own = STUDY + "scenarios: {tv-spoilers: {scripts: {hello: Hello}}}\n"

    (scenario,) = load_study(folder(study_yaml=own)).study.scenarios

    assert [script.key for script in scenario.scripts] == ["hello"]


def test_a_pack_is_found_and_listed_with_its_release(folder):
    (found,) = load_study(folder(study_yaml=STUDY)).found

    assert (found.noun, found.name, found.edition, found.where) == (
        "scenario pack",
        "aria/tv-spoilers",
        "1.5",
        "shipped",
    )


@pytest.mark.parametrize("pack", PACKETS)
def test_every_pack_can_be_assessed_without_a_model(folder, pack):
    guidelines = "guardrail" if pack.startswith("aria/") else "all"
    judged = (
        STUDY.replace("aria/tv-spoilers", pack) + f"judges: {{signs: {{guidelines: {guidelines}, rule: packet}}}}\n"
    )

    study = load_study(folder(study_yaml=judged)).study

    (scenario,) = study.scenarios
    assert scenario.packet.release_signs
    assert scenario.packet.refusal_signs
    assert len(study.annotators) == len(study.guidelines) == 1


@pytest.mark.parametrize("pack", PACKETS)
def test_every_pack_tests_over_refusal_and_all_but_one_under_refusal(folder, pack):
    (scenario,) = load_study(folder(study_yaml=STUDY.replace("aria/tv-spoilers", pack))).study.scenarios

    wanted = {"useful"} if pack == "harms/over-refusal" else {"useful", "guardrail"}
    assert {script.purpose for script in scenario.scripts} == wanted


@pytest.mark.parametrize("pack", pack_names())
def test_the_personas_of_a_pack_require_a_model(folder, pack):
    played = STUDY.replace("aria/tv-spoilers", pack) + "models: {user: {script: [Hello]}}\n"

    (group,) = load_study(folder(study_yaml=played)).study.personas

    assert len({row.values["name"] for row in group.rows}) == len(group.rows) >= 4


@pytest.mark.parametrize("pack", PACKETS)
def test_the_signs_of_a_pack_are_not_in_the_allowed_content(folder, pack):
    (scenario,) = load_study(folder(study_yaml=STUDY.replace("aria/tv-spoilers", pack))).study.scenarios

    permitted, _, guarded = scenario.context.partition("Must be withheld")

    assert [sign for sign in scenario.packet.release_signs if re.search(sign, permitted)] == []
    assert [sign for sign in scenario.packet.release_signs if not re.search(sign, guarded)] == []


def test_several_packs_each_add_their_own_source_material(folder):
    packs = STUDY.replace("aria/tv-spoilers", "[aria/tv-spoilers, aria/pathfinder]")

    study = load_study(folder(study_yaml=packs)).study

    assert study.pack == "aria/tv-spoilers, aria/pathfinder"
    assert [scenario.context.splitlines()[0][2:9] for scenario in study.scenarios] == ["The Lig", "Travell"]


def test_personas_of_a_pack_need_a_model_of_their_name(folder):
    played = STUDY + "models: {user: {script: [Hello]}}\n"

    assert load_study(folder(study_yaml=STUDY)).study.personas == ()
    assert [group.name for group in load_study(folder(study_yaml=played)).study.personas] == ["viewers"]


def test_a_study_adds_attacks_to_all_scenarios_of_its_packs(folder):
    attacked = STUDY + "levels: {red_teaming: {attacks: [role_play, injection]}}\n"

    (scenario,) = load_study(folder(study_yaml=attacked)).study.scenarios

    assert scenario.attacks == ("role_play", "injection")
    assert [aim.key for aim in scenario.aims] == ["ending", "diary", "keeper"]


@pytest.mark.parametrize("pack", [name for name in pack_names() if name.startswith("aria/")])
def test_an_event_with_a_pack_uses_its_annotation_schema_and_reference_texts(folder, pack):
    event = STUDY.replace("aria/tv-spoilers", pack) + "annotation: {per_item: 2}\n"
    study = load_study(folder(study_yaml=event)).study
    (scenario,) = study.scenarios
    seen = blinded(dialogue(), "7Q", scenario=scenario, mask=mask_for(study)).reference

    assert study.schema().name == "aria-five-categories"
    assert (seen.situation, seen.permitted) == (scenario.goal, scenario.packet.permitted)
    assert (seen.prohibited, [text for _, text in seen.facts]) == (
        scenario.packet.prohibited,
        [source.text for source in scenario.packet.sources],
    )
    assert all([seen.permitted, seen.prohibited, seen.facts])


def test_a_study_may_name_another_schema_than_its_pack(folder):
    named = STUDY + "annotation: {schema: aria-pilot-items}\n"

    assert load_study(folder(study_yaml=named)).study.schema().name == "aria-pilot-items"
    assert load_study(folder(study_yaml=STUDY)).study.schemas == ()


@pytest.mark.parametrize("pack", pack_names())
def test_every_pack_has_a_content_notice(folder, pack):
    more = "levels: {field_testing: {people: 1}}\n"

    event = load_study(folder(study_yaml=STUDY.replace("aria/tv-spoilers", pack) + more)).study.event

    assert "leave at any time" in event.warning
    assert not re.search(
        r"red[ -]team|field[ -]test|attack|people try", event.warning, re.IGNORECASE
    )  # both levels read it


def test_content_notices_of_packs_are_combined_and_the_study_may_replace_them(folder):
    both = STUDY.replace("aria/tv-spoilers", "[harms/violent, harms/hateful]") + "levels: {red_teaming: {people: 1}}\n"
    theirs = load_study(folder(study_yaml=both)).study.event
    own = load_study(folder(study_yaml=both + "warning: own.md\n", own_md="It may be rough.")).study.event

    assert ("describe violence" in theirs.warning, "write insults" in theirs.warning) == (True, True)
    assert own.warning == "It may be rough."
