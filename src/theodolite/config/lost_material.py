"""Lost material: what a dialogue is about, and an application that has no slot for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never

from theodolite.config.lookup import LoadContext
from theodolite.config.parts import Parts, section
from theodolite.config.templates import variables
from theodolite.domain.application import (
    AriaClass,
    Connection,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.fault import Severity
from theodolite.domain.scenario import Scenario, Task
from theodolite.testing.personas import TASKS
from theodolite.testing.strategies.catalogue import catalogue_with

SLOT = "context"

_ABOUT_A_TEXT = frozenset({Task.SUMMARISATION, Task.REWRITING})
"""Tasks whose text simulated users do not copy out, since the application has it already."""


def note_lost_material(parts: Parts, context: LoadContext) -> None:
    """Note every live application that what some dialogues are about will never reach."""
    planting = {name for name, one in catalogue_with(context.resolver.strategies).items() if one.plants}
    entries = {entry.name: entry for entry in section(parts.entry, "applications")}
    for application in parts.applications:
        key = _lacking_slot(application.connection)
        what, scenario = next(_lost(parts, planting), ("", "")) if key else ("", "")
        if what and application.name in entries:
            message = (
                f"{what} in scenario `{scenario}` does not reach application `{application.name}`:"
                f" put {{{{ {SLOT} }}}} into its `{key}`"
            )
            entry = entries[application.name]
            context.diagnostics.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))


def _lacking_slot(connection: Connection) -> str:
    """Return the key in which an application could be given source material and is not; empty where it is, or may."""
    match connection:
        case PromptedModel(system=system):
            return "" if SLOT in variables(system) else "system"
        case HttpEndpoint():
            texts = (connection.url, connection.body, *connection.headers.values())
            return "" if any(SLOT in variables(text) for text in texts) else "body"
        case AriaClass(prompt=prompt):
            return "" if SLOT in variables(prompt) else "prompt"
        case PythonCallable() | RecordedFile():
            return ""  # a function asks for what it wants, and recorded replies were given long ago
        case _:
            assert_never(connection)


def _lost(parts: Parts, planting: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what would be lost, in words, and the scenario that it belongs to.

    Args:
        parts: The study so far.
        planting: Names of the strategies that put text into source material.
    """
    for scenario, _ in parts.scenarios:
        if scenario.corpus:
            yield "what the search finds", scenario.name
        elif scenario.task in _ABOUT_A_TEXT and _has_text(scenario, parts):
            yield "the text that dialogues are about", scenario.name
        else:
            planted = next((name for name in scenario.attacks if name in planting), "")
            if planted:
                yield f"what strategy `{planted}` plants", scenario.name


def _has_text(scenario: Scenario, parts: Parts) -> bool:
    column = TASKS[scenario.task].column
    met = (reading for reading in parts.groups if not scenario.personas or reading.group.name in scenario.personas)
    return bool(scenario.context) or any(column in reading.columns for reading in met)
