"""Named sets of cases: what opens when a number, a cell or a bar is clicked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """Cases that a reader may walk through.

    Attributes:
        name: Identifier within the page.
        title: What they have in common.
        cases: Places in the plan, in order.
    """

    name: str
    title: str
    cases: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class SetBook:
    """Collects the sets of a page while its views are made."""

    sets: dict[str, CaseSet] = field(default_factory=dict)

    def add(self, name: str, title: str, cases: Iterable[int]) -> str:
        """Keep a set under its name, and return the name; empty for an empty set."""
        places = tuple(sorted(set(cases)))
        if not places:
            return ""
        self.sets[name] = CaseSet(name=name, title=title, cases=places)
        return name
