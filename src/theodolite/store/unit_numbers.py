"""Numbers of units' rows: looked up once for all replies of a unit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from theodolite.store.ledger import ids_of_units

KEPT = 10_000
"""Units whose numbers are remembered; the oldest ones are forgotten first. Count."""


class UnitNumbers:
    """Remembers which row is which unit's; units are never removed and never change their number."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._known: dict[str, int] = {}

    def of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the numbers of some units' rows by key.

        Raises:
            NotFound: If one is in no ledger of this workspace.
        """
        wanted = set(keys)
        unknown = wanted - self._known.keys()
        found = ids_of_units(unknown) if unknown else {}
        numbers = {key: self._known[key] for key in wanted - unknown} | found
        self._known |= found
        for key in list(islice(self._known, max(0, len(self._known) - KEPT))):
            del self._known[key]
        return numbers
