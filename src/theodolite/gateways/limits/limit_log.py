"""The log of limits: how many calls an account bore when a program last used it.

Without it every run begins with a few calls in flight and finds its way up again.
What is remembered is a place to begin, no promise: a refusal cuts it as ever.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from theodolite.domain.identity import digest
from theodolite.ports.clock import Clock

REMEMBERED_S = 24 * 3600.0
"""How long what an account bore is taken for a hint; seconds."""

PAUSE_S = 1.0
"""Shortest time between two notes; seconds."""


class LimitLog:
    """One small file: a moment in seconds since 1970 and a count of calls.

    Attributes:
        noted: What stands there; 0 where nothing does.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        """Keep the path; the file is made with the first note."""
        self._path = path
        self._clock = clock
        self.noted = 0
        self._next_s = float("-inf")

    def recall(self) -> int | None:
        """Return how many calls the account bore; None where nobody knows or it was long ago."""
        try:
            moment_s, limit = self._path.read_text(encoding="ascii", errors="replace").split()
            age_s = self._clock.now().timestamp() - float(moment_s)
            self.noted = max(0, int(limit))
        except (OSError, ValueError):  # a kill may leave half a line
            return None
        return self.noted if self.noted and age_s <= REMEMBERED_S else None

    def note(self, limit: int) -> None:
        """Write down what an account bears, unless something was written a moment ago.

        A log that cannot be written is done without.
        """
        now_s = self._clock.monotonic_s()
        if now_s < self._next_s:
            return
        self.noted, self._next_s = limit, now_s + PAUSE_S
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(f"{self._clock.now().timestamp():.0f} {limit}\n", encoding="ascii")


def limit_log(folder: Path, clock: Clock, *parts: str) -> LimitLog:
    """Return the log of an account; its name is a hash, since hosts hold any letters."""
    return LimitLog(folder / f"{digest(*parts)[:16]}.limit", clock)
