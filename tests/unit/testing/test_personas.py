from __future__ import annotations

import pytest
from tests.fakes.builders import group

from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import version_of
from theodolite.domain.persona import ParameterRow, PersonaGroup, PersonaTemplate
from theodolite.domain.scenario import Scenario
from theodolite.testing.personas import Cast

SHOP = Scenario(name="shop", goal="Buy a {{ thing }}", starter="Hi, a {{ thing }}?", turns=3)
TEXT = "You are {{ name }} and want: {{ goal }} ({{ scenario }}, {{ task }}, {{ turns }})"


def customers(*rows, text=TEXT):
    filled = tuple(ParameterRow(values=row) for row in rows)
    return PersonaGroup(name="customers", template=PersonaTemplate(name="t", text=text), rows=filled, model="large")


def test_a_row_and_a_scenario_fill_a_persona():
    group = customers({"name": "Ana", "thing": "mixer"})

    (ana,) = Cast(group, SHOP)

    assert ana.text == "You are Ana and want: Buy a mixer (shop, chat, 3)"
    assert ana.starter == "Hi, a mixer?"
    assert (ana.key, ana.name, ana.group, ana.model) == ("customers-1", "Ana", "customers", "large")
    assert ana.parameters == {"name": "Ana", "thing": "mixer"}
    assert ana.template_version == version_of(group.template)


def test_a_persona_without_a_name_is_called_by_its_place():
    first, second = Cast(customers({"thing": "a"}, {"thing": "b"}, text="{{ thing }}"), SHOP)

    assert (first.name, second.name) == ("customers 1", "customers 2")


def test_a_column_may_be_named_like_a_slot_of_the_scenario():
    (ana,) = Cast(customers({"thing": "a", "turns": "many"}, text="{{ turns }}"), SHOP)

    assert ana.text == "many"


@pytest.mark.parametrize(
    ("rows", "scenario"),
    [
        ([{"thing": "a", "name": "Ana"}, {"thing": "b"}], SHOP),
        ([{"thing": "a", "name": "Ana"}, {"name": "Ben"}], SHOP),
    ],
)
def test_a_slot_without_a_value_names_the_persona(rows, scenario):
    with pytest.raises(TemplateError, match="persona 2 of `customers`"):
        list(Cast(customers(*rows), scenario))


def test_personas_are_filled_one_by_one():
    personas = Cast(group("Ana", "Ben"), Scenario(name="s"))

    assert next(iter(personas)).name == personas[0].name == "Ana"
