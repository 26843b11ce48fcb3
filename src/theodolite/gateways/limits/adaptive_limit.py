"""An adaptive limit: how many calls an account bears at once, found by asking.

Additive increase, multiplicative decrease. It begins low and grows by one with each
answer while it is used up, which doubles it with each round trip, until the first
refusal. From then on it is cut by a fifth at most once a cooldown, comes back by halves
to just below where it was refused last, and after the cooldown tries more in small steps.
It knows no time and no event loop: whoever uses it says when things happen.
"""

from __future__ import annotations

START = 8
"""Calls in flight before anything is known of an account; count."""

COOLDOWN_S = 1.0
"""Time after a cut in which there is no other one; seconds."""

LONGEST_COOLDOWN_S = 60.0
"""Longest cooldown that an endpoint may ask for; seconds."""

SATURATED = 0.8
"""Share of the limit that must have been in use before it may grow: an idle limit proves nothing."""

_FIRST_CUT = 0.5  # back to what it was a round trip ago
_CUT = 0.8
_STEP = 0.05


class AdaptiveLimit:
    """The number of calls that may be in flight, and how it changes.

    Attributes:
        limit: Calls that may be in flight now; count.
        ceiling: Calls that may ever be in flight; count.
    """

    __slots__ = (
        "_clean",
        "_counted_from",
        "_cut_to",
        "_in_flight_at_most",
        "_next_cut_s",
        "_refused_at",
        "_round",
        "_size",
        "_start",
        "ceiling",
        "limit",
    )

    def __init__(self, ceiling: int, *, start: int = START) -> None:
        """Begin low.

        Args:
            ceiling: Calls that may ever be in flight; count.
            start: Calls that may be in flight at first; count.
        """
        self.ceiling = ceiling
        self.limit = min(start, ceiling)
        self._start = start
        self._round = 0
        self._counted_from = 0
        self._size = self.limit
        self._clean = 0
        self._in_flight_at_most = 0
        self._refused_at = 0
        self._cut_to = 0
        self._next_cut_s = float("-inf")

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow at least so many calls; one account may serve several models."""
        self.ceiling = max(self.ceiling, ceiling)
        if not self._round and not self._clean:  # nothing is known yet but where to begin
            self.limit = self._size = min(self._start, self.ceiling)

    def began(self, in_flight: int) -> int:
        """Take note of a call that begins, and return the number of the round that it belongs to.

        Args:
            in_flight: Calls in flight, this one among them; count.
        """
        self._in_flight_at_most = max(self._in_flight_at_most, in_flight)
        return self._round

    def answered(self, begun_in: int, in_flight: int, *, now_s: float) -> None:
        """Take note of an answer, by which the limit may grow; after a first refusal, of a round of them.

        Args:
            begun_in: What `began` returned.
            in_flight: Calls in flight, this one among them; count.
            now_s: The present moment; seconds.
        """
        if begun_in < self._counted_from:
            return
        self._clean += 1
        is_used_up = self._in_flight_at_most >= SATURATED * self._size
        if is_used_up and not self._refused_at:
            self.limit = min(self.ceiling, self.limit + 1)
        if self._clean < self._size:
            return
        if is_used_up and self._refused_at:
            self.limit = max(self.limit, self._grown(now_s))
        self._new_round(in_flight)

    def refused(self, begun_in: int, in_flight: int, *, now_s: float, asked_wait_s: float | None = None) -> None:
        """Take note of a refusal; it ends the round, and mostly cuts the limit.

        Calls that began before the last cut were let out by a limit that is gone,
        so their refusals say nothing about the present one.

        Args:
            begun_in: What `began` returned.
            in_flight: Calls in flight, this one among them; count.
            now_s: The present moment; seconds.
            asked_wait_s: How long the endpoint asks to wait; seconds.
        """
        if begun_in < self._counted_from:
            return
        factor = _CUT if self._refused_at else _FIRST_CUT
        self._refused_at = max(1, min(self.limit, self._in_flight_at_most))
        if now_s >= self._next_cut_s:
            self._cut_to = max(1, int(factor * self._refused_at))
            self._next_cut_s = now_s + min(LONGEST_COOLDOWN_S, max(COOLDOWN_S, asked_wait_s or 0.0))
        self.limit = min(self.limit, self._cut_to)
        self._new_round(in_flight)

    def _grown(self, now_s: float) -> int:
        below = self._refused_at - 1  # so many were borne before the one that was refused
        grown = max(self.limit + max(1, round(_STEP * self.limit)), (self.limit + below) // 2)
        return min(self.ceiling, grown if now_s >= self._next_cut_s else min(grown, below))

    def _new_round(self, in_flight: int) -> None:
        """Begin to count anew; once the limit was found, what the former one let out is not counted."""
        self._round += 1
        self._size = self.limit
        self._clean = 0
        if self._refused_at:
            self._counted_from = self._round
        self._in_flight_at_most = min(in_flight, self.limit)
