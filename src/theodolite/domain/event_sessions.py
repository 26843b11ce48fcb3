"""Sessions of an event: what a run plans to hold, and what people held or were to hold beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from theodolite.domain.joined_sessions import JoinedSessions
from theodolite.domain.plan import ListedSessions, PlannedSession, Sessions


class EventSessions(JoinedSessions):
    """The sessions that a run holds itself, then those of people in the order in which they began, then empty cells.

    Positions of people's dialogues never change, since nothing is put before them.
    Cells that nobody has filled come last and move up as people come.
    """

    __slots__ = ("left_out", "planned", "units")

    def __init__(
        self,
        planned: Sessions,
        people: Sequence[PlannedSession],
        units: Mapping[str, int],
        left_out: Collection[str] = (),
    ) -> None:
        """Put people behind what a run holds itself.

        Args:
            planned: What a run holds itself.
            people: Dialogues of people, then empty cells.
            units: Key of the unit that a dialogue became to its place among `people`.
            left_out: Keys of units whose dialogues are about something else by now, so that they do not count.
        """
        super().__init__(planned, ListedSessions(people))
        self.planned = planned
        self.units: Mapping[str, int] = {unit: len(planned) + place for unit, place in units.items()}
        self.left_out = frozenset(left_out)


def held_by_runs(sessions: Sessions) -> Sessions:
    """Return those among some sessions that a run holds itself."""
    return sessions.planned if isinstance(sessions, EventSessions) else sessions
