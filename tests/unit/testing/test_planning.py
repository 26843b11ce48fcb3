from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.fakes.builders import group, guideline, live, recorded, recording, rule, scripts, sessions_of, study
from theodolite.domain.dialogue import Level, Passage, TesterType
from theodolite.domain.errors import PlanError, TemplateError
from theodolite.domain.event import LevelPlan
from theodolite.domain.persona import Script
from theodolite.domain.scenario import Scenario, Task
from theodolite.domain.study import Sampling
from theodolite.testing.planning import draw_plan, planned_sessions

OLD = study(applications=(recorded(),), scenarios=(), personas=(), models=())


def test_one_application_has_consecutive_numbers():
    assert [session.label for session in sessions_of(study())] == ["d001", "d002"]


def test_several_applications_share_numbers_and_pair_keys():
    blue, green, *rest = sessions_of(study(applications=(live("blue"), live("green"))))

    assert (blue.label, green.label) == ("blue/d001", "green/d001")
    assert blue.pair_key == green.pair_key
    assert [session.label for session in rest] == ["blue/d002", "green/d002"]


def test_every_tester_is_combined_with_every_scenario():
    scenes = (Scenario(name="a", goal="Ask", scripts=scripts("s")), Scenario(name="b", personas=("other",)))
    people = (group("Ana", "Ben"), group("Chi", name="other", text="Be {{ name }}."))

    met = Counter(session.scenario for session in sessions_of(study(scenarios=scenes, personas=people)))

    assert met == {"a": 4, "b": 1}


def test_personas_are_not_combined_with_scripts_without_a_goal_unless_named():
    cases, named = (
        Scenario(name="a", scripts=scripts("s")),
        Scenario(name="b", scripts=scripts("t"), personas=("people",)),
    )

    met = Counter(one.scenario for one in sessions_of(study(scenarios=(cases, named), personas=(group("Ana", "Ben"),))))

    assert met == {"a": 1, "b": 3}


def test_personas_are_simulated_users_and_scripts_are_scripts():
    scene = Scenario(name="a", goal="Ask", scripts=scripts("s"))

    ana, script = sessions_of(study(scenarios=(scene,), personas=(group("Ana"),)))

    assert (ana.held_by, ana.cluster) == (TesterType.SIMULATED_USER, "people-1")
    assert (script.held_by, script.cluster) == (TesterType.SCRIPT, "s")
    assert ana.level is Level.MODEL_TESTING


@pytest.mark.parametrize("wanted", [1, 2, 3, 4, 5, 7, 12, 13])
def test_dialogues_are_divided_as_evenly_as_possible(wanted):
    people = (group("Ana", "Ben", "Chi", "Dov"),)

    sessions = sessions_of(study(personas=people, sampling=Sampling(dialogues=wanted)))

    held = Counter(session.cluster for session in sessions)
    assert len(sessions) == wanted
    assert max(held.values()) - min(held.get(f"people-{n}", 0) for n in range(1, 5)) <= 1
    assert len({session.pair_key for session in sessions}) == wanted


def test_first_repeats_of_all_precede_second_ones():
    sessions = sessions_of(study(sampling=Sampling(repeats=3)))

    assert [session.repeat for session in sessions] == [1, 1, 2, 2, 3, 3]


def test_the_level_of_model_testing_may_set_the_number():
    levels = (LevelPlan(level=Level.MODEL_TESTING, repeats=2),)

    assert len(sessions_of(study(levels=levels))) == 4


def test_another_seed_draws_different_dialogues_from_the_same_set():
    people = (group(*"abcdefghij"),)
    drawn = [
        frozenset(s.pair_key for s in sessions_of(study(personas=people, sampling=Sampling(seed=seed, dialogues=4))))
        for seed in range(5)
    ]

    assert len(set(drawn)) > 1
    assert len(frozenset.union(*drawn)) <= 10


def test_recorded_dialogues_are_in_the_order_of_their_file():
    rows = (recording("b"), recording("a"), recording("b", repeat=2))

    sessions = sessions_of(OLD, *rows)

    assert [session.label for session in sessions] == ["old/b", "old/a", "old/b#2"]
    assert {session.held_by for session in sessions} == {TesterType.RECORDED}
    assert {session.scenario for session in sessions} == {"recorded"}


def test_recorded_applications_pair_by_prompt():
    both = study(applications=(recorded("one"), recorded("two")), scenarios=(), personas=())

    first, second = sessions_of(both, recording("a", "one"), recording("a", "two"))

    assert first.pair_key == second.pair_key


def test_recorded_rows_belong_to_the_only_scenario():
    (session,) = sessions_of(replace(OLD, scenarios=(Scenario(name="shop"),)), recording("a"))

    assert session.scenario == "shop"


def test_live_and_recorded_applications_share_one_plan():
    both = study(applications=(live(), recorded()))

    assert [session.label for session in sessions_of(both, recording("a"))] == ["d001", "d002", "old/a"]


@pytest.mark.parametrize(
    "rows",
    [
        (recording("a#2"), recording("a"), recording("a", repeat=2)),
        (recording("b/c", "a"), recording("c", "a/b")),
    ],
)
def test_duplicate_dialogue_labels_are_refused(rows):
    with pytest.raises(PlanError, match="two dialogues would be called"):
        sessions_of(OLD, *rows)


def test_groups_come_from_splits_and_rules():
    asked = guideline(rules=[rule(among={"kind": "safe"})])
    grouped = replace(OLD, guidelines=(asked,), groups=("type",))

    (session,) = sessions_of(grouped, recording("a", kind="safe", type="x", label="no"))

    assert session.groups == {"kind": "safe", "type": "x"}


def test_live_dialogues_are_grouped_by_scenario_and_row():
    ana, _ = sessions_of(study(groups=("scenario", "name", "nothing")))

    assert ana.groups == {"scenario": "shop", "name": "Ana"}


def test_a_plan_is_determined_by_the_hash_of_its_study():
    plan, sessions = draw_plan(study())

    assert (plan.n_sessions, plan.seed) == (len(sessions), 1)
    assert draw_plan(study(groups=("name",)))[0].run_fingerprint != plan.run_fingerprint
    assert draw_plan(study(title="Other"))[0] == plan


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"personas": ()}, "nobody speaks to `bot`"),
        ({"scenarios": ()}, "nobody speaks to `bot`"),
        ({"applications": (recorded(),)}, "plans no dialogue"),
        ({"personas": (group("Ana", "Ana"),)}, "`d002` is the same dialogue as `d001`"),
        ({"scenarios": (Scenario(name="a", scripts=scripts("s", "s")),)}, "would count twice"),
    ],
)
def test_an_impossible_plan_states_why(parts, words):
    with pytest.raises(PlanError, match=words):
        draw_plan(study(**parts))


def test_an_unfillable_persona_prevents_the_plan():
    with pytest.raises(TemplateError, match="persona 1 of `people`"):
        draw_plan(study(personas=(group("Ana", text="{{ nme }}"),)))


def test_sessions_are_planned_lazily():
    endless = study(personas=(group("Ana"),), sampling=Sampling(repeats=1_000_000))

    assert planned_sessions(endless)[0].label == "d001"
    assert planned_sessions(endless)[-1].label == "d1000000"


@pytest.mark.parametrize(
    "change",
    [
        {"goal": "Sell"},
        {"turns": 3},
        {"stop": "bye"},
        {"starter": "Hi"},
        {"name": "other"},
        {"task": Task.REWRITING},
        {"corpus": (Passage(name="faq", text="Free."),)},
    ],
)
def test_information_visible_to_the_tester_is_part_of_the_pair_key(change):
    scene = Scenario(name="shop", goal="Buy", turns=2)
    before, *_ = sessions_of(study(scenarios=(scene,)))

    after, *_ = sessions_of(study(scenarios=(replace(scene, **change),)))

    assert before.pair_key != after.pair_key


@pytest.mark.parametrize("change", [{"style": ("pls help",)}, {"language": "Polish"}, {"history": 1}])
def test_the_persona_prompt_is_part_of_the_pair_key(change):
    before, *_ = sessions_of(study())

    after, *_ = sessions_of(study(personas=(replace(group("Ana", "Ben"), **change),)))

    assert before.pair_key != after.pair_key


@pytest.mark.parametrize(
    "change", [{"annotators": ()}, {"applications": (live("other"),)}, {"title": "T"}, {"sampling": Sampling(seed=9)}]
)
def test_information_hidden_from_the_tester_is_not_part_of_the_pair_key(change):
    before = [session.pair_key for session in sessions_of(study())]

    assert [session.pair_key for session in sessions_of(study(**change))] == before


def test_a_script_with_another_purpose_is_another_tester():
    plain, guarding = Script(key="s", prompts=("a",)), Script(key="s", prompts=("a",), purpose="guardrail")
    scene = Scenario(name="a", scripts=(plain, guarding))

    first, second = sessions_of(study(scenarios=(scene,), personas=()))

    assert first.pair_key != second.pair_key
