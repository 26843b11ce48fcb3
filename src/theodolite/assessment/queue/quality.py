"""Quality checks: which annotations seniors look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil

from theodolite.domain.annotating.quality import ReviewCandidate
from theodolite.domain.identity import keyed_draw


def review_sample(candidates: Sequence[ReviewCandidate], rate: float, seed: int) -> tuple[str, ...]:
    """Return the keys of the annotations that seniors are to look at, a share of each stratum.

    The share is rounded up, so that every stratum with a rate above 0 is looked at.
    The draw hangs on seed and key alone: who is drawn at some time is drawn again
    later, unless the stratum's share is filled by earlier draws.

    Args:
        candidates: All annotations.
        rate: Share that is looked at; fraction 0..1.
        seed: Of the draw.
    """
    strata: dict[str, list[ReviewCandidate]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate)
    drawn: list[str] = []
    for members in strata.values():
        order = sorted(members, key=lambda one: (keyed_draw(seed, "quality check", one.key), one.key))
        drawn += [one.key for one in order[: ceil(rate * len(members) - 1e-9)]]
    return tuple(drawn)
