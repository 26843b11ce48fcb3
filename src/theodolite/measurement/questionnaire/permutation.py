"""Permutation: whether people answer differently about two things, by giving the people's answers to the other one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.significance import Significance
from theodolite.measurement.questionnaire.ranks import ALL_ALIKE
from theodolite.measurement.scores import average_ranks

Floats = NDArray[np.float64]

MOST_WAYS: Final = 20_000
"""Arrangements that are all looked at; where there are more, some are drawn."""

TOO_FEW_PEOPLE: Final = "Fewer than two people on a side, and fewer than two who answered about both."
"""Why a test is undefined."""

SAME: Final = 1e-9
"""Difference of two statistics below which they are equal."""


def people_permutation(
    answers: Sequence[float | None],
    sides: Sequence[str],
    people: Sequence[str],
    *,
    draws: int = 9_999,
    seed: int = 1,
) -> Significance | Undefined:
    """Test whether people answer higher about one of two things, each person counting once.

    Answers enter by their ranks, so that only the order of the scale counts. Where
    two people or more answered about both things, each of those is compared with
    themself and their two sides are exchanged; else whole people are exchanged
    between the sides, all arrangements at once where they are of two kinds alone.
    It assumes nothing but that people are independent.

    Args:
        answers: Points of an ordered scale; None = none given, left out.
        sides: What each answer is about; two different ones.
        people: Who gave each answer.
        draws: Arrangements that are drawn where there are more than can be looked at.
        seed: Of the draws.

    Returns:
        Two-sided p-value, exact where there are few people; n counts answers,
        clusters people. The statistic is the mean difference of ranks, second
        side (in order of the alphabet) minus first; the effect runs from -1 to 1:
        people, or pairs of people, for whom the second is higher minus those for
        whom it is lower. `Undefined` with too few people or equal answers.

    Raises:
        InputError: If lengths differ, or there are not two sides.

    Example:
        >>> test = people_permutation([1, 5, 2, 4, 1, 4], ["a", "b"] * 3, ["p", "p", "q", "q", "r", "r"])
        >>> test.p_value, test.effect, test.method
        (0.25, 1.0, 'permutation within people, exact')

    Source:
        Fisher (1935), The Design of Experiments, section 21; drawn arrangements
        count the observed one: Phipson, Smyth (2010), "Permutation P-values should
        never be zero", Statistical Applications in Genetics and Molecular Biology
        9, article 39.
    """
    names = sorted(set(sides))
    if not len(answers) == len(sides) == len(people) or len(names) > 2:
        message = f"`answers`, `sides` and `people` need one length and two sides; got {len(answers)} and {names}"
        raise InputError(message)
    kept = [place for place, answer in enumerate(answers) if answer is not None]
    values = np.array([float(answers[place] or 0.0) for place in kept])
    if len(set(values.tolist())) < 2:
        return Undefined(reason=ALL_ALIKE if len(values) else TOO_FEW_PEOPLE, n=len(values), method="permutation")
    by_person: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rank, place in zip(average_ranks(values), kept, strict=True):
        by_person[people[place]][sides[place]].append(float(rank))
    return _within(by_person, names, draws, seed) or _between(by_person, names, draws, seed)


def _within(
    by_person: dict[str, dict[str, list[float]]], names: Sequence[str], draws: int, seed: int
) -> Significance | None:
    """Return the test of those who answered about both sides; None where they are fewer than two."""
    both = [ranks for ranks in by_person.values() if len(ranks) == 2]
    if len(both) < 2:
        return None
    gaps = np.array([np.mean(ranks[names[1]]) - np.mean(ranks[names[0]]) for ranks in both])
    is_whole = 2 ** len(gaps) <= MOST_WAYS
    signs: Floats = (
        np.array(list(product((1.0, -1.0), repeat=len(gaps))))
        if is_whole
        else np.random.default_rng(seed).choice((1.0, -1.0), size=(draws, len(gaps)))
    )
    found = float(gaps.mean())
    rises, falls = int((gaps > SAME).sum()), int((gaps < -SAME).sum())
    return Significance(
        p_value=_share((signs * gaps).mean(axis=1), found, is_whole=is_whole),
        statistic=found,
        method=f"permutation within people, {'exact' if is_whole else f'{draws:,} draws'}",
        n=sum(len(ranks[name]) for ranks in both for name in names),
        effect=(rises - falls) / len(gaps),
        effect_name="people with the second higher minus people with it lower, as a share",
        n_clusters=len(gaps),
    )


def _between(
    by_person: dict[str, dict[str, list[float]]], names: Sequence[str], draws: int, seed: int
) -> Significance | Undefined:
    """Return the test of whole people: who answered about both counts on the side of most of their answers."""
    side = {person: _main_side(ranks, names) for person, ranks in by_person.items()}
    means = np.array([np.mean(ranks[side[person]]) for person, ranks in by_person.items()])
    second = np.array([side[person] == names[-1] for person in by_person])
    n, m = int((~second).sum()), int(second.sum())
    total = sum(len(ranks[side[person]]) for person, ranks in by_person.items())
    if min(n, m) < 2 or len(names) < 2:
        return Undefined(reason=TOO_FEW_PEOPLE, n=total, n_clusters=len(means), method="permutation")
    if np.ptp(means) < SAME:
        return Undefined(reason=ALL_ALIKE, n=total, n_clusters=len(means), method="permutation")
    found = float(means[second].mean() - means[~second].mean())
    if len(levels := np.unique(means)) == 2:
        p_value, is_whole = _of_two_kinds(means == levels[1], second), True
    else:
        is_whole = math.comb(n + m, m) <= MOST_WAYS
        chosen = np.array(list(_arrangements(n + m, m, draws, seed, is_whole=is_whole)))
        sums = means[chosen].sum(axis=1)
        p_value = _share(sums / m - (means.sum() - sums) / n, found, is_whole=is_whole)
    higher = np.sign(np.where(np.abs(gap := means[second][:, None] - means[~second][None, :]) < SAME, 0.0, gap))
    return Significance(
        p_value=p_value,
        statistic=found,
        method=f"permutation of people, {'exact' if is_whole else f'{draws:,} draws'}",
        n=total,
        effect=float(higher.mean()),
        effect_name="Cliff's delta of people",
        n_clusters=n + m,
    )


def _of_two_kinds(is_high: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the p-value where people are of two kinds alone: all arrangements at once, by the hypergeometric law."""
    n, m, high = int((~second).sum()), int(second.sum()), int(is_high.sum())
    there = np.arange(max(0, high - n), min(high, m) + 1)
    gaps = np.abs(there / m - (high - there) / n)
    seen = int((is_high & second).sum())
    ways = gammaln(m + 1) - gammaln(there + 1) - gammaln(m - there + 1)
    ways += gammaln(n + 1) - gammaln(high - there + 1) - gammaln(n - high + there + 1)
    shares = np.exp(ways - logsumexp(ways))
    return min(1.0, float(shares[gaps >= abs(seen / m - (high - seen) / n) - SAME].sum()))


def _main_side(ranks: dict[str, list[float]], names: Sequence[str]) -> str:
    """Return the side of most of a person's answers; the first of two that have as many."""
    return max(names, key=lambda name: len(ranks.get(name, ())))


def _arrangements(n: int, m: int, draws: int, seed: int, *, is_whole: bool) -> Iterator[Sequence[int]]:
    """Yield which m of n people are the second side."""
    if is_whole:
        yield from combinations(range(n), m)
        return
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield rng.permutation(n)[:m].tolist()


def _share(statistics: Floats, found: float, *, is_whole: bool) -> float:
    """Return the share of arrangements at least as far out; drawn ones are joined by the observed one."""
    as_far = int((np.abs(statistics) >= abs(found) - SAME).sum())
    return as_far / len(statistics) if is_whole else (as_far + 1) / (len(statistics) + 1)
