"""Personas: templates and rows become people to be played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import version_of
from theodolite.domain.persona import Persona, PersonaGroup
from theodolite.domain.scenario import Scenario
from theodolite.testing.tasks import TASKS
from theodolite.testing.templates import fill

NAME_COLUMN = "name"
"""The column that people are called by, where a table has it."""


class Cast:
    """The personas of one group in one scenario, each completed when it is asked for."""

    __slots__ = ("_group", "_scenario", "_template_version")

    def __init__(self, group: PersonaGroup, scenario: Scenario) -> None:
        """Remember who plays where."""
        self._group, self._scenario = group, scenario
        self._template_version = version_of(group.template)

    def __len__(self) -> int:
        """Return how many personas there are; count."""
        return len(self._group.rows)

    def __getitem__(self, place: int) -> Persona:
        """Return a persona, its template filled.

        Raises:
            TemplateError: If a slot has no value; names the group and the row.
        """
        try:
            return _completed(self._group, place, self._scenario, self._template_version)
        except TemplateError as error:
            message = f"persona {place + 1} of `{self._group.name}`: {error}"
            raise TemplateError(message) from error

    def __iter__(self) -> Iterator[Persona]:
        """Yield all personas, in order of the rows."""
        return (self[place] for place in range(len(self)))

    @property
    def model(self) -> str:
        """Name of the model that plays them."""
        return self._group.model

    def key(self, place: int) -> str:
        """Return the key of a persona without completing it."""
        return _key(self._group, place)

    def values(self, place: int) -> Mapping[str, str]:
        """Return the row that fills a persona."""
        return self._group.rows[place].values


def _key(group: PersonaGroup, place: int) -> str:
    return f"{group.name}-{place + 1}"


def _completed(group: PersonaGroup, place: int, scenario: Scenario, template_version: str) -> Persona:
    row = group.rows[place]
    goal = fill(scenario.goal, row.values)
    slots = {"goal": goal, "scenario": scenario.name, "task": scenario.task.value, "turns": scenario.turns}
    return Persona(
        key=_key(group, place),
        name=row.values.get(NAME_COLUMN, f"{group.name} {place + 1}"),
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
