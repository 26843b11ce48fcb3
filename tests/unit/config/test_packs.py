from __future__ import annotations

from theodolite.config.loading import load_study
from theodolite.config.packs import pack_names

STUDY = """study: a
pack: aria/tv-spoilers
applications: {blue: {kind: aria, class: "a.b:C"}}
"""


def test_the_shipped_packs_have_names():
    assert pack_names() == ("aria/tv-spoilers",)


def test_a_pack_brings_scenario_packet_scripts_and_guideline(folder):
    study = load_study(folder(study_yaml=STUDY)).study

    (scenario,) = study.scenarios
    assert {script.purpose for script in scenario.scripts} == {"useful", "guardrail"}
    assert scenario.packet.permitted
    assert scenario.packet.prohibited
    assert "lighthouse" in scenario.context.lower()
    assert set(scenario.instructions) == {"model testing", "red teaming", "field testing"}
    assert [guideline.name for guideline in study.guidelines] == ["spoiler-guardrail"]


def test_a_study_s_own_scenario_takes_the_place_of_the_pack_s(folder):
    own = STUDY + "scenarios: {tv-spoilers: {scripts: {hello: Hello}}}\n"

    (scenario,) = load_study(folder(study_yaml=own)).study.scenarios

    assert [script.key for script in scenario.scripts] == ["hello"]


def test_a_pack_is_found_and_named_with_its_edition(folder):
    (found,) = load_study(folder(study_yaml=STUDY)).found

    assert (found.noun, found.name, found.edition, found.where) == (
        "scenario pack",
        "aria/tv-spoilers",
        "1.0",
        "shipped",
    )
