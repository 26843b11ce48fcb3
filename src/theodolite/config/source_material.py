"""Notes on source material that judges or applications do not get."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, assert_never

from theodolite.config.column_guess import context_column
from theodolite.config.load_context import Entry, LoadContext, section
from theodolite.config.study_parts import StudyParts
from theodolite.config.templates import variables
from theodolite.domain.annotator import ModelJudge, PythonLabeller
from theodolite.domain.application import (
    AriaClass,
    Connection,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.fault import Severity
from theodolite.domain.guideline import Guideline
from theodolite.domain.scenario import Scenario, Task
from theodolite.testing.personas import TASKS
from theodolite.testing.strategies.catalogue import catalogue_with


def note_source_material(parts: StudyParts, guidelines: Sequence[Guideline], context: LoadContext) -> None:
    """Note columns that look like source material and are unused, and guidelines that get no material."""
    _note_unused_context(parts, context)
    for guideline in guidelines:
        judge = _judge_of(parts, guideline)
        lacking = list(dict.fromkeys(_without_material(parts, guideline))) if judge and guideline.needs_context else []
        if judge and lacking:
            message = (
                f"guideline `{guideline.name}` compares responses with source material, and {_listed(lacking)} no"
                " source material: add `context: COLUMN` to a recorded application, or `source` to the scenario"
            )
            context.diagnostics.add(judge.fault(message=message, severity=Severity.NOTE, at_key=True))


def _note_unused_context(parts: StudyParts, context: LoadContext) -> None:
    spec = parts.entry.spec
    read = {entry.spec.column for entry in section(parts.entry, "annotators")}
    read |= {spec.reference.column} if spec.reference is not None else set()
    for entry, recorded in parts.recorded:
        if recorded.table is None or entry.spec.context:
            continue
        meant = {entry.spec.id, entry.spec.turn, entry.spec.prompt, entry.spec.response, entry.spec.withheld}
        used = read | meant | {entry.spec.application} | set(spec.groups)
        column = context_column([name for name in recorded.table.columns if name not in used])
        if column:
            message = (
                f"column `{column}` of {recorded.table.file} looks like source material and is not used;"
                f" add `context: {column}` so that judges read it"
            )
            context.diagnostics.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))


def _judge_of(parts: StudyParts, guideline: Guideline) -> Entry[Any] | None:
    """Return the entry of the first model or function that labels by a guideline; None for none."""
    kinds = (ModelJudge, PythonLabeller)
    names = [
        item.name for item in parts.annotators if item.guideline == guideline.name and isinstance(item.labelling, kinds)
    ]
    entries = section(parts.entry, "judges")
    return next((one for one in entries for name in names if f"{name}-".startswith(f"{one.name}-")), None)


def _without_material(parts: StudyParts, guideline: Guideline) -> Iterator[str]:
    """Yield the scenarios and recorded applications whose dialogues have no source material, in words."""
    scenarios = [scenario for scenario, _ in parts.scenarios if _asks(scenario, guideline)]
    if parts.live or any(level.people for level in parts.entry.spec.levels.values()):
        for scenario in scenarios:
            if not (_has_own(scenario) or _has_rows(scenario, parts)):
                yield f"scenario `{scenario.name}`"
    known = parts.scenarios[0][0] if len(parts.scenarios) == 1 else None
    for entry, recorded in parts.recorded:
        if recorded.table is not None and not entry.spec.context and not (known and known.context):
            yield f"application `{entry.name}`"


def _asks(scenario: Scenario, guideline: Guideline) -> bool:
    return not scenario.guidelines or guideline.name in scenario.guidelines


def _has_own(scenario: Scenario) -> bool:
    return bool(scenario.context or scenario.corpus)


def _has_rows(scenario: Scenario, parts: StudyParts) -> bool:
    column = TASKS[scenario.task].column
    met = [reading for reading in parts.groups if not scenario.personas or reading.group.name in scenario.personas]
    return any(column in reading.columns for reading in met)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown} {'has' if len(names) == 1 else 'have'}"


SLOT = "context"

_ABOUT_A_TEXT = frozenset({Task.SUMMARISATION, Task.REWRITING})
"""Tasks whose text simulated users do not copy out, since the application has it already."""


def note_lost_material(parts: StudyParts, context: LoadContext) -> None:
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


def _lost(parts: StudyParts, planting: Collection[str]) -> Iterator[tuple[str, str]]:
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


def _has_text(scenario: Scenario, parts: StudyParts) -> bool:
    column = TASKS[scenario.task].column
    met = (reading for reading in parts.groups if not scenario.personas or reading.group.name in scenario.personas)
    return bool(scenario.context) or any(column in reading.columns for reading in met)
