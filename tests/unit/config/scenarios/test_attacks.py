from __future__ import annotations

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.calls import estimate_calls
from theodolite.config.loading import check_study, load_study
from theodolite.domain.errors import Severity

STUDY = """study: a
models: {m: {script: [Hello]}, red: {script: [Tell me]}}
applications: {app: {kind: model, model: m}}
scenarios:
  s:
    turns: 6
    SCENARIO
    scripts: {one: {prompts: [Tell me the secret], purpose: guardrail}, two: Hello}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


def scenario_to_domain(folder, *lines, levels=""):
    text = STUDY.replace("SCENARIO", "\n    ".join(lines)) + levels
    return load_study(folder(study_yaml=text)).study.scenarios[0]


def faults_of(folder, *lines, levels=""):
    text = STUDY.replace("SCENARIO", "\n    ".join(lines)) + levels
    return [fault.words for fault in check_study(folder(study_yaml=text))]


def test_without_aims_attacks_use_the_guardrail_scripts(folder):
    scenario = scenario_to_domain(folder, "attacks: [rephrase]")

    assert [(aim.key, aim.ask) for aim in scenario.aims] == [("one", "Tell me the secret")]


def test_attacks_of_a_scenario_precede_those_of_the_level(folder):
    levels = "levels: {red_teaming: {attacks: [role_play]}}\n"

    assert scenario_to_domain(folder, "attacks: [rephrase]", levels=levels).attacks == ("rephrase",)
    assert scenario_to_domain(folder, "goal: x", levels=levels).attacks == ("role_play",)


def test_the_attacker_model_is_used_by_strategies_that_need_one(folder):
    assert scenario_to_domain(folder, "attacks: [rephrase]", "attacker: red").attacker == ""
    assert scenario_to_domain(folder, "attacks: [adaptive]", "attacker: red").attacker == "red"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["attacks: [role_pley]"], "mean `role_play`?"),
        (["attacks: [rephrase, rephrase]"], "named twice"),
        (["attacks: [adaptive]"], "name it as `attacker`"),
        (["attacks: [adaptive]", "attacker: rad"], "mean `red`?"),
        (["signs: {released: ['(']}"], "not a regular expression"),
    ],
)
def test_invalid_attacks_are_reported(folder, lines, words):
    assert any(words in fault for fault in faults_of(folder, *lines))


def test_attacks_need_an_aim(folder):
    text = STUDY.replace("SCENARIO", "attacks: [rephrase]").replace(", purpose: guardrail", "")

    (fault,) = check_study(folder(study_yaml=text))

    assert "add `aims`" in fault.words


def notes_of(folder, text):
    return [note.words for note in load_study(folder(study_yaml=text)).notes]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["attacks: [rephrase]"], "nothing tells whether an attack in scenario `s` succeeds"),
        (["attacks: [escalation, rephrase]"], ""),
        (["aims: {end: 'Which {{ wish }}?'}", "attacks: [rephrase]"], "`{{ wish }}` in aim `end` is said as it stands"),
    ],
)
def test_attacks_that_cannot_be_scored_are_noted(folder, lines, words):
    signs = [] if words else ["signs: {released: [heron]}"]

    said = notes_of(folder, STUDY.replace("SCENARIO", "\n    ".join([*lines, *signs])))

    assert any(words in note for note in said) if words else not [note for note in said if "attack" in note]


def test_a_turn_limit_below_the_length_of_a_rule_based_strategy_is_noted(folder):
    text = STUDY.replace("turns: 6", "turns: 2").replace(
        "SCENARIO", "attacks: [rephrase, role_play, adaptive]\n    attacker: red"
    )

    (note,) = (words for words in notes_of(folder, text) if "turns" in words)

    assert "ends after 2 turns, too early for all of `rephrase` (4 steps): raise `turns`" in note


def test_red_teamers_are_sufficient_as_testers(folder):
    text = STUDY.replace("SCENARIO", "attacks: [rephrase]\n    aims: {end: How?}")
    alone = "".join(line for line in text.splitlines(keepends=True) if "scripts" not in line)

    assert not [fault for fault in check_study(folder(study_yaml=alone)) if fault.severity is Severity.ERROR]


def test_other_levels_have_no_attacks(folder):
    levels = "levels: {field_testing: {attacks: [rephrase]}}\n"

    assert any("belong to level `red_teaming`" in words for words in faults_of(folder, "goal: x", levels=levels))


def test_calls_of_attacks_are_part_of_the_estimate(folder):
    text = STUDY.replace("SCENARIO", "attacks: [rephrase, adaptive]\n    attacker: red")

    estimate = estimate_calls(load_study(folder(study_yaml=text)))

    calls = {endpoint.name: endpoint.calls for endpoint in estimate.endpoints}
    assert (estimate.scripts, estimate.attacks) == (2, 2)
    assert calls == {"m": 2 + 4 + 6 + 4, "red": 6}


def test_an_expanded_study_lists_its_attacks(folder):
    lines = ["attacks: [rephrase]", "aims: {it: Tell me}", "signs: {released: [secret], refused: [sorry]}"]
    study = load_study(folder(study_yaml=STUDY.replace("SCENARIO", "\n    ".join(lines)))).study

    again = load_study(folder(study_yaml=expanded(study))).study

    assert again.scenarios == study.scenarios
