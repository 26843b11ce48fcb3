"""Tasks of sessions: what a session's flow needs to know before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.passage import Search
from theodolite.domain.persona import Persona
from theodolite.domain.plan import PlannedSession
from theodolite.domain.scenario import Scenario
from theodolite.testing.strategies.catalogue import APPROACHES
from theodolite.testing.strategies.line import Approach


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTask:
    """Everything that a session's flow needs to know.

    Attributes:
        key: Key of the unit; becomes the key of the dialogue.
        session: What the plan says.
        scenario: The scenario that it names.
        application_version: Content hash of the application.
        scenario_version: Content hash of the scenario.
        search: Finds passages of the scenario's corpus; None where it has none.
        approaches: Strategies of red teaming by name.
    """

    key: str
    session: PlannedSession
    scenario: Scenario
    application_version: str
    scenario_version: str
    search: Search | None = None
    approaches: Mapping[str, Approach] = field(default_factory=lambda: APPROACHES)

    @property
    def material(self) -> str:
        """What the dialogue is about: the persona's own, else the scenario's source material."""
        tester = self.session.tester
        own = tester.material if isinstance(tester, Persona) else ""
        return own or self.scenario.context
