from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import group
from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import version_of
from theodolite.domain.persona import ParameterRow, Persona, PersonaGroup, PersonaTemplate
from theodolite.domain.scenario import Scenario, Task
from theodolite.testing.design import TASKS, PersonaSequence, player_rules

SHOP = Scenario(name="shop", goal="Buy a {{ thing }}", starter="Hi, a {{ thing }}?", turns=3)

TEXT = "You are {{ name }} and want: {{ goal }} ({{ scenario }}, {{ task }}, {{ turns }})"


def customers(*rows, text=TEXT):
    filled = tuple(ParameterRow(values=row) for row in rows)
    return PersonaGroup(name="customers", template=PersonaTemplate(name="t", text=text), rows=filled, model="large")


def test_a_row_and_a_scenario_fill_a_persona():
    group = customers({"name": "Ana", "thing": "mixer"})

    (ana,) = PersonaSequence(group, SHOP)

    assert ana.text == "You are Ana and want: Buy a mixer (shop, chat, 3)"
    assert ana.starter == "Hi, a mixer?"
    assert (ana.key, ana.name, ana.group, ana.model) == ("customers-1", "Ana", "customers", "large")
    assert ana.parameters == {"name": "Ana", "thing": "mixer"}
    assert ana.template_version == version_of(group.template)


def test_a_persona_without_a_name_is_named_by_its_position():
    first, second = PersonaSequence(customers({"thing": "a"}, {"thing": "b"}, text="{{ thing }}"), SHOP)

    assert (first.name, second.name) == ("customers 1", "customers 2")


def test_a_column_may_be_named_like_a_slot_of_the_scenario():
    (ana,) = PersonaSequence(customers({"thing": "a", "turns": "many"}, text="{{ turns }}"), SHOP)

    assert ana.text == "many"


@pytest.mark.parametrize(
    ("rows", "scenario"),
    [
        ([{"thing": "a", "name": "Ana"}, {"thing": "b"}], SHOP),
        ([{"thing": "a", "name": "Ana"}, {"name": "Ben"}], SHOP),
    ],
)
def test_a_slot_without_a_value_is_reported_with_the_persona(rows, scenario):
    with pytest.raises(TemplateError, match="persona 2 of `customers`"):
        list(PersonaSequence(customers(*rows), scenario))


def test_personas_are_filled_one_by_one():
    personas = PersonaSequence(group("Ana", "Ben"), Scenario(name="s"))

    assert next(iter(personas)).name == personas[0].name == "Ana"


ANA = Persona(key="p-1", name="Ana", group="p", text="You are Ana.", goal="Buy a mixer", model="user")


def rules(persona: Persona = ANA, task: Task = Task.CHAT, material: str = "FACTS") -> str:
    return player_rules(persona, task, stop="[END]", material=material)


def test_every_task_has_separate_rules():
    assert set(TASKS) == set(Task)
    assert len({one.words for one in TASKS.values()}) == len(Task)


@pytest.mark.parametrize("task", Task)
def test_the_simulated_user_receives_persona_goal_and_task(task):
    told = rules(task=task)

    assert "You are Ana." in told
    assert "Buy a mixer" in told
    assert TASKS[task].words in told
    assert "write [END]" in told


@pytest.mark.parametrize(
    ("task", "is_shown"),
    [
        (Task.QUESTION_ANSWERING, False),
        (Task.CHAT, False),
        (Task.SEARCH, False),
        (Task.SUMMARISATION, True),
        (Task.REWRITING, True),
        (Task.GENERATION, True),
    ],
)
def test_a_user_who_asks_about_unknown_material_does_not_receive_it(task, is_shown):
    assert ("FACTS" in rules(task=task)) is is_shown


def test_without_material_none_is_mentioned():
    assert "<<<" not in rules(task=Task.REWRITING, material="")


def test_example_messages_show_the_style():
    told = rules(replace(ANA, style=("pls help thx", "wht now {x}")))

    assert "- pls help thx\n- wht now {x}" in told
    assert "never the content" in told


def test_a_language_is_requested_only_if_one_is_set():
    assert "language" not in rules()
    assert "answers in: Polish" in rules(replace(ANA, language="Polish"))
