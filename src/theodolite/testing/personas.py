"""Personas: templates and rows become people to be played."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import version_of
from theodolite.domain.persona import ParameterRow, Persona, PersonaGroup
from theodolite.domain.scenario import Scenario
from theodolite.testing.tasks import TASKS
from theodolite.testing.templates import fill

NAME_COLUMN = "name"
"""The column that people are called by, where a table has it."""


def completed_personas(group: PersonaGroup, scenario: Scenario) -> Iterator[Persona]:
    """Yield each row of a group as a persona for one scenario.

    Raises:
        TemplateError: If a slot has no value; names the group and the row.
    """
    template_version = version_of(group.template)
    for number, row in enumerate(group.rows, start=1):
        try:
            yield _completed(group, row, number, scenario, template_version)
        except TemplateError as error:
            message = f"persona {number} of `{group.name}`: {error}"
            raise TemplateError(message) from error


def _completed(
    group: PersonaGroup, row: ParameterRow, number: int, scenario: Scenario, template_version: str
) -> Persona:
    goal = fill(scenario.goal, row.values)
    slots = {"goal": goal, "scenario": scenario.name, "task": scenario.task.value, "turns": scenario.turns}
    return Persona(
        key=f"{group.name}-{number}",
        name=row.values.get(NAME_COLUMN, f"{group.name} {number}"),
        group=group.name,
        text=fill(group.template.text, {**slots, **row.values}),
        goal=goal,
        model=group.model,
        starter=fill(scenario.starter, row.values),
        parameters=row.values,
        template_version=template_version,
        style=group.style,
        language=fill(group.language, row.values),
        history=group.history,
        material=row.values.get(TASKS[scenario.task].column, ""),
    )
