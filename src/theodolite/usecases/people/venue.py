"""The venue: an event put together, so that people can test in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.passage import Search, found_text, material_with
from theodolite.domain.plan import Plan
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.ports.clock import Clock
from theodolite.ports.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Venue:
    """An event put together.

    Attributes:
        study: What is tested, as it was when the venue was opened.
        plan: The same fully drawn.
        run: The run that dialogues of people join.
        store: Keeps what people do.
        clock: Tells the time.
        searches: What searches the corpora of scenarios, by name of the scenario.
        keeps_hours: Whether the times of the study hold; not where it was opened ahead of them, e.g. to rehearse it.
    """

    study: Study
    plan: Plan
    run: Run
    store: People
    clock: Clock
    searches: Mapping[str, Search] = field(default_factory=dict)
    keeps_hours: bool = True

    def material(self, scenario: str, *found: str) -> str:
        """Return the source material of a scenario, with what searches have found for it."""
        return material_with(self.study.scenario(scenario).context, *found)

    def found(self, scenario: str, prompt: str) -> str:
        """Return what a prompt finds in the corpus of a scenario, in words; empty where it has none."""
        search = self.searches.get(scenario)
        return found_text(prompt, search(prompt)) if search else ""
