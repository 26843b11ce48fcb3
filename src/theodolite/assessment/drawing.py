"""Drawing: which dialogues people are to label.

What a judge calls sound is drawn from as well as what it calls a defect:
the defects that it misses are found nowhere else. Each draw hangs on the seed and
the dialogue alone, so that a larger sample holds the smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theodolite.domain.identity import keyed_draw

_PURPOSE = "label sample"


def draw(strata: Mapping[str, Sequence[str]], shares: Mapping[str, int], seed: int) -> dict[str, tuple[str, ...]]:
    """Return what is drawn from each stratum, each of its members with equal probability.

    Args:
        strata: Stratum to its members.
        shares: Stratum to how many are drawn from it; count.
        seed: Of the draw.
    """
    return {
        name: tuple(sorted(members, key=lambda member: keyed_draw(seed, _PURPOSE, member))[: shares.get(name, 0)])
        for name, members in strata.items()
    }


def shuffled(members: Sequence[str], seed: int) -> list[str]:
    """Return members in an order that tells nothing about where they were drawn from."""
    return sorted(members, key=lambda member: keyed_draw(seed, "order of a label file", member))


def allot(sizes: Mapping[str, int], weights: Mapping[str, float], n: int, *, least: int = 2) -> dict[str, int]:
    """Return how many to draw from each stratum: in proportion to size and weight, none left out.

    Args:
        sizes: Stratum to its members; count.
        weights: Stratum to how much its members are expected to differ; standard
            deviation of a yes or no, fraction.
        n: Wanted in all; count.
        least: Drawn from each stratum at least, as far as it goes; count.

    Returns:
        Counts that add up to `n`, or to all members where there are fewer.
    """
    kept = {name: min(size, least) for name, size in sizes.items() if size}
    while sum(kept.values()) > max(n, 0):
        largest = max(kept, key=lambda name: (kept[name], name))
        kept[largest] -= 1
    wanted = min(n, sum(sizes.values()))
    while sum(kept.values()) < wanted:
        open_ones = [name for name in kept if kept[name] < sizes[name]]
        # The stratum that is furthest behind its due share takes the next one.
        behind = min(open_ones, key=lambda name: ((kept[name] + 0.5) / max(sizes[name] * weights[name], 1e-9), name))
        kept[behind] += 1
    return kept
