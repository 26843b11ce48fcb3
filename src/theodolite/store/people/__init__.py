"""What people do in an event, stored: seats, sessions, live dialogues, answers, withdrawals.

Functions run in a transaction of their own on whichever thread calls, which must be
bound to the workspace's database.

This door opens its rooms only when somebody enters: a run in which no person takes
part loads neither their tables nor their nouns.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.store.people import (
        attempts,
        brought,
        coding,
        ended,
        live,
        persons,
        responses,
        seats,
        sessions,
        withdrawal,
    )
else:
    from importlib import import_module

    def __getattr__(name: str) -> object:
        """Return a room, loading it now."""
        if name not in __all__:
            message = f"module `{__name__}` has no attribute `{name}`"
            raise AttributeError(message)
        return import_module(f"{__name__}.{name}")


__all__ = ["attempts", "brought", "coding", "ended", "live", "persons", "responses", "seats", "sessions", "withdrawal"]
