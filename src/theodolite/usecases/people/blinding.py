"""Blinding: what testers guessed at the end, against chance."""

from __future__ import annotations

from theodolite.domain.people.leak import Leak
from theodolite.usecases.people.venue import Venue


def leaks(venue: Venue) -> tuple[Leak, ...]:
    """Return how far the testers of a study saw through the blinding: in all, and level by level."""
    from theodolite.measurement.blinding import leaks_of  # numpy and scipy: only who asks waits for them

    name = venue.study.name
    return leaks_of(venue.store.guesses(name), venue.store.sessions(name))
