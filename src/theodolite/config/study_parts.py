"""Parts of a study that are read so far, for checks across its sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from theodolite.config.load_context import Entry
from theodolite.config.personas import GroupReading
from theodolite.config.scenarios import ScenarioSpec
from theodolite.domain.annotator import Annotator
from theodolite.domain.application import Application
from theodolite.domain.network_settings import NetworkSettings
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Reference

if TYPE_CHECKING:
    from theodolite.config.recordings import Recorded


@dataclass(slots=True, kw_only=True)
class StudyParts:
    """What has been read of a study so far, for the checks that look across sections."""

    entry: Entry[Any]
    network: NetworkSettings = field(default_factory=NetworkSettings)
    applications: list[Application] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    recorded: list[tuple[Entry[Any], Recorded]] = field(default_factory=list)
    scenarios: list[tuple[Scenario, Entry[ScenarioSpec]]] = field(default_factory=list)
    groups: list[GroupReading] = field(default_factory=list)
    annotators: list[Annotator] = field(default_factory=list)
    reference: Reference | None = None
