"""Sessions of an event: what a run plans to hold, and what people held or were to hold beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from theodolite.domain.plan import ListedSessions, PlannedSession, Sessions, Setting


class EventSessions:
    """The sessions that a run holds itself, then those of people in the order in which they began, then empty cells.

    Positions of people's dialogues never change, since nothing is put before them.
    Cells that nobody has filled come last and move up as people come.
    """

    __slots__ = ("_people", "planned", "units")

    def __init__(self, planned: Sessions, people: Sequence[PlannedSession], units: Mapping[str, int]) -> None:
        """Put people behind what a run holds itself.

        Args:
            planned: What a run holds itself.
            people: Dialogues of people, then empty cells.
            units: Key of the unit that a dialogue became to its place among `people`.
        """
        self.planned = planned
        self._people = ListedSessions(people)
        self.units: Mapping[str, int] = {unit: len(planned) + place for unit, place in units.items()}

    def __len__(self) -> int:
        """Return how many there are; count."""
        return len(self.planned) + len(self._people)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order."""
        yield from self.planned
        yield from self._people

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position; -1 is the last one."""
        part, place = self._part(position if position >= 0 else position + len(self))
        return part[place]

    def label(self, position: int) -> str:
        """Return what people call the dialogue at a position."""
        part, place = self._part(position)
        return part.label(place)

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        part, place = self._part(position)
        return part.pair_key(place)

    def setting(self, position: int) -> Setting:
        """Return what the session at a position shares with its repeats."""
        part, place = self._part(position)
        return part.setting(place)

    def find(self, label: str) -> int | None:
        """Return the position of a label; None where no session has it."""
        found = self.planned.find(label)
        if found is not None:
            return found
        place = self._people.find(label)
        return None if place is None else len(self.planned) + place

    def _part(self, position: int) -> tuple[Sessions, int]:
        n_planned = len(self.planned)
        return (self.planned, position) if position < n_planned else (self._people, position - n_planned)


def held_by_runs(sessions: Sessions) -> Sessions:
    """Return those among some sessions that a run holds itself."""
    return sessions.planned if isinstance(sessions, EventSessions) else sessions
