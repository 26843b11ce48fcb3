"""Two rows of sessions, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.plan import PlannedSession, Sessions, Setting


class JoinedSessions:
    """Sessions of two kinds in one order: the second kind never moves the first."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Sessions, second: Sessions) -> None:
        """Put one behind the other."""
        self._first, self._second = first, second

    def __len__(self) -> int:
        """Return how many there are; count."""
        return len(self._first) + len(self._second)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order."""
        yield from self._first
        yield from self._second

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position; -1 is the last one.

        Raises:
            IndexError: If there is no such position.
        """
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
        found = self._first.find(label)
        if found is not None:
            return found
        place = self._second.find(label)
        return None if place is None else len(self._first) + place

    def _part(self, position: int) -> tuple[Sessions, int]:
        n_first = len(self._first)
        if not 0 <= position < n_first + len(self._second):
            message = f"a plan of {len(self)} sessions has no position {position}"
            raise IndexError(message)
        return (self._first, position) if position < n_first else (self._second, position - n_first)
