"""Rewording: how many dialogues show what other words of a question move, and what they moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from theodolite.domain.annotating.rewording import DialogueAnswers, MeasuredShift, SampleAim, SamplePlan, SampleWish
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import shared_clusters
from theodolite.measurement.comparison.paired import RATE_DIFFERENCE, paired_difference
from theodolite.measurement.comparison.planning import n_for_flips, n_for_rate
from theodolite.measurement.fraction import mean_fraction

ASSUMED: Final = 0.1
"""Share of answers that change by themselves, where no two people answered about the same; fraction."""

FEWEST_PAIRS: Final = 20
"""Pairs of answers from which that share is taken from what people said; count."""

NO_RULE: Final = "No rule says which answers to this question are defects."
NO_BOTH: Final = "No dialogue has been answered by both versions yet."
ALIKE: Final = "fraction of pairs of answers, dialogue by dialogue"

_GRID = 1_000

IsDefect = Callable[[str], bool]


def sample_plan(answered: Sequence[DialogueAnswers], wish: SampleWish) -> SamplePlan:
    """Return how many dialogues are to be annotated again by the new words.

    Two people differ about the same words too; as much is expected to change, in both directions
    alike, whether the words matter or not. For a shift of `d` the shares that change to a defect and
    back are then (changing + d) / 2 and (changing - d) / 2, each dialogue counting as one pair of a
    yes or no, independent of the others. For agreement the share that stays is 1 - changing.

    Args:
        answered: What people said by the old words.
        wish: What the sample is for.

    Returns:
        The plan; where fewer dialogues are there than it takes, with what all of them would do.

    Source:
        Shift: Connor (1987), Biometrics 43:207-211, the sample size of McNemar's test.
        Agreement: Wilson's interval solved for n, Wilson (1927), Journal of the American
        Statistical Association 22:209-212.
    """
    share, n_pairs = differing(answered)
    is_assumed = n_pairs < FEWEST_PAIRS
    changing = ASSUMED if is_assumed else share
    n_there = sum(any(value is not None for _, _, value in answer.said) for answer in answered)
    n_needed = _needed(wish, changing, wish.size)
    plan = SamplePlan(
        wish=wish, n_needed=n_needed, n_there=n_there, changing=changing, is_assumed=is_assumed, n_pairs=n_pairs
    )
    return plan if n_needed <= n_there else replace(plan, reached=_reached(wish, changing, n_there))


def _needed(wish: SampleWish, changing: float, size: float) -> int:
    if wish.aim is SampleAim.AGREEMENT:
        return n_for_rate(1.0 - changing, size, confidence=wish.confidence)
    together = min(1.0, max(changing, size))
    up, down = (together + size) / 2, (together - size) / 2
    return n_for_flips(up, down, confidence=wish.confidence, power=wish.power)


def _reached(wish: SampleWish, changing: float, n: int) -> float | None:
    """Return the smallest size, in steps of a thousandth, that so many dialogues are enough for; None for none."""
    sizes = (step / _GRID for step in range(math.ceil(wish.size * _GRID), _GRID // 2))
    return next((size for size in sizes if _needed(wish, changing, size) <= n), None)


def differing(answered: Sequence[DialogueAnswers]) -> tuple[float, int]:
    """Return the share of pairs of two people's answers about the same that differ, and the pairs; fraction, count."""
    n_pairs = n_apart = 0
    for answer in answered:
        by_turn: dict[int | None, dict[str, str]] = {}
        for annotator, turn, value in answer.said:
            if value is not None:
                by_turn.setdefault(turn, {})[annotator] = value
        for values in by_turn.values():
            for a, b in combinations(values.values(), 2):
                n_pairs, n_apart = n_pairs + 1, n_apart + (a != b)
    return (n_apart / n_pairs if n_pairs else 0.0), n_pairs


def measured_shift(
    question: str,
    before: Sequence[DialogueAnswers],
    after: Sequence[DialogueAnswers],
    *,
    sample: Collection[str],
    rules: tuple[IsDefect | None, IsDefect | None],
    confidence: float = 0.95,
) -> MeasuredShift:
    """Return what the new words moved, on the dialogues that were answered by both versions.

    Each dialogue counts as much as any other, and each answer about it as much as any other: no
    label is made from several. Dialogues of one tester resemble each other and are clusters.

    Args:
        question: Name of the question.
        before: What people said by the old words.
        after: What people said by the new words.
        sample: Keys of the dialogues that were to be annotated again.
        rules: Which values are defects by the old version, and by the new one; None where nobody says.
        confidence: Coverage; fraction.

    Returns:
        The difference of defect rates with its interval, and the share of pairs of an old and a new
        answer that are the same.

    Source:
        Rates: `paired_difference`, Newcombe's interval for yes and no, Student's t over clusters else.
        Agreement: `mean_fraction`, Korn, Graubard (1998), Survey Methodology 24:193-201.
    """
    old = {answer.dialogue: answer for answer in before}
    new = {answer.dialogue: answer for answer in after}
    both = [key for key in old if key in new and _has_value(old[key]) and _has_value(new[key])]
    clusters = [old[key].cluster or key for key in both]
    was, now = rules
    shift: Estimate | Undefined = Undefined(reason=NO_RULE, n=len(both), unit=RATE_DIFFERENCE)
    if was is not None and now is not None:
        shares = [[_share(side[key], rule) for key in both] for side, rule in ((old, was), (new, now))]
        shift = paired_difference(
            shares[0], shares[1], clusters=shared_clusters(clusters), scale=(0.0, 1.0), confidence=confidence
        )
    return MeasuredShift(
        question=question,
        shift=shift if both else Undefined(reason=NO_BOTH, unit=RATE_DIFFERENCE),
        alike=_alike(old, new, both, clusters, confidence),
        n_both=len(both),
        n_missing=sum(1 for key in sample if key not in new or not _has_value(new[key])),
    )


def _has_value(answer: DialogueAnswers) -> bool:
    return any(value is not None for _, _, value in answer.said)


def _share(answer: DialogueAnswers, is_defect: IsDefect) -> float:
    values = [value for _, _, value in answer.said if value is not None]
    return sum(map(is_defect, values)) / len(values)


def _alike(
    old: Mapping[str, DialogueAnswers],
    new: Mapping[str, DialogueAnswers],
    both: Sequence[str],
    clusters: Sequence[str],
    confidence: float,
) -> Estimate | Undefined:
    shares = {key: share for key in both if (share := _same(old[key], new[key])) is not None}
    kept = [cluster for key, cluster in zip(both, clusters, strict=True) if key in shares]
    return mean_fraction(
        list(shares.values()), clusters=shared_clusters(kept), unit=ALIKE, confidence=confidence, otherwise=NO_BOTH
    )


def _same(old: DialogueAnswers, new: DialogueAnswers) -> float | None:
    """Return the share of pairs of an old and a new answer about the same that are the same; None without a pair."""
    pairs = [
        a == b
        for _, turn, a in old.said
        for _, other, b in new.said
        if turn == other and a is not None and b is not None
    ]
    return sum(pairs) / len(pairs) if pairs else None
