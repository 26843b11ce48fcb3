"""Parts: what has been read of a study, for the checks that look across its sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from theodolite.config.lookup import Entry
from theodolite.config.personas import GroupReading
from theodolite.config.specs.scenarios import ScenarioSpec
from theodolite.config.specs.study import StudySpec
from theodolite.domain.annotator import Annotator
from theodolite.domain.application import Application
from theodolite.domain.network_settings import NetworkSettings
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Reference

if TYPE_CHECKING:  # loaded by studies that have a recorded file
    from theodolite.config.recordings import Recorded


@dataclass(slots=True, kw_only=True)
class Parts:
    """What has been read of a study so far, for the checks that look across sections."""

    entry: Entry[StudySpec]
    network: NetworkSettings = field(default_factory=NetworkSettings)
    applications: list[Application] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    recorded: list[tuple[Entry[Any], Recorded]] = field(default_factory=list)
    scenarios: list[tuple[Scenario, Entry[ScenarioSpec]]] = field(default_factory=list)
    groups: list[GroupReading] = field(default_factory=list)
    annotators: list[Annotator] = field(default_factory=list)
    reference: Reference | None = None


def section(entry: Entry[StudySpec], name: str) -> list[Entry[Any]]:
    """Return the entries of one section of the study file."""
    entries: Mapping[str, Any] = getattr(entry.spec, name)
    return [Entry(name=key, spec=spec, source=entry.source, path=(name, key)) for key, spec in entries.items()]


def is_broken(entry: Entry[StudySpec], name: str) -> bool:
    """Tell whether a whole section, or an entry of it, could not be read."""
    return any(path[0] == name and len(path) <= 2 for path in entry.source.dropped)


def dropped(entry: Entry[StudySpec], name: str) -> tuple[str, ...]:
    """Return the names of a section's entries that could not be read; naming them is no further fault."""
    return tuple(str(path[1]) for path in entry.source.dropped if len(path) == 2 and path[0] == name)
