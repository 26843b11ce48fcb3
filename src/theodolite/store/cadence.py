"""The cadence of a writer: how long a batch waits for others to join it.

A batch costs a few dozen statements, two changes of threads and a commit, however
many writes it holds. Against an endpoint that takes its time, replies trickle in, and
a writer that takes each at once spends most of its work on batches of a handful. So
there is a shortest time between two batches. It costs no throughput, since more
sessions are under way than there are places for calls. Whoever writes seldom never
waits, and where waiting brought nobody, as when all wait for the writer, it is left
for a while.
"""

from __future__ import annotations

PERIOD_S = 0.01
"""Shortest time from one batch to the next; seconds."""

BATCHES_LEFT = 16
"""Batches that do not wait after one that waited for nobody; count."""


class Cadence:
    """Says how long a batch waits; whoever asks tells the time."""

    def __init__(self) -> None:
        """Have nothing handed over yet."""
        self._due_s = float("-inf")
        self._left = 0
        self._n_before: int | None = None

    def wait_s(self, n_waiting: int, now_s: float) -> float:
        """Return how long writes that wait are to wait for others; seconds, 0 or less where they go at once.

        Args:
            n_waiting: How many there are; count.
            now_s: The present moment; seconds.
        """
        wait_s = 0.0 if self._left else self._due_s - now_s
        if wait_s > 0 and self._n_before is None:
            self._n_before = n_waiting
        return wait_s

    def handed_over(self, n: int, now_s: float) -> None:
        """Learn that a batch goes to the database.

        Args:
            n: Writes in it; count.
            now_s: The present moment; seconds.
        """
        if self._left:
            self._left -= 1
        elif self._n_before is not None and n <= self._n_before:
            self._left = BATCHES_LEFT
        self._n_before = None
        self._due_s = now_s + PERIOD_S
