"""Profiles: RELEVANCE's metrics of one sequence, with the level that they cannot see."""

from __future__ import annotations

import math
from collections.abc import Sequence

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import FEWEST_SCORES, Band, OrderProfile, OrderValue
from theodolite.measurement.order.bands import Bands, published_bands
from theodolite.measurement.order.chance import (
    chance_levels,
    entropy_of_rows,
    not_falling_of_rows,
    rising_of_rows,
    trend_chance,
)
from theodolite.measurement.order.entropy import permutation_entropy
from theodolite.measurement.order.inversions import inversion_count
from theodolite.measurement.order.patterns import possible_patterns, tied_patterns
from theodolite.measurement.order.sequence import Floats, as_scores, check_pattern, n_patterns
from theodolite.measurement.order.subsequence import longest_increasing_subsequence
from theodolite.measurement.proportion import DIALOGUES, defect_rate

MANY_TIES = 0.3
"""Share of patterns with equal scores from which `stable` and `weak` tell different stories."""


def relevance_profile(
    scores: Sequence[float | None],
    *,
    order: int = 3,
    delay: int = 1,
    defect_at_most: float | None = None,
    seed: int = 0,
) -> OrderProfile:
    """Return all order metrics of a sequence, their bands and chance levels, and its level.

    Order metrics see order: slides, alternation, sequences that are stuck. They
    do not see level; eight fives and eight ones have the same three values. So
    mean and defect share stand beside them, and what cannot be told is said.

    Args:
        scores: In order of time; None or NaN where one is missing. The missing
            are counted, and the scores beside them become neighbours.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        defect_at_most: Highest score that is a defect; None where there is no rule.
        seed: Of random orders, where there are too many to enumerate.

    Returns:
        Entropy in nats; CIN, LIS and LNDS are counts; level in points of the scale.

    Raises:
        InputError: If fewer scores are left than a pattern needs.

    Example:
        >>> profile = relevance_profile([5, 4] * 4, defect_at_most=3)
        >>> round(profile.pen.value, 6), profile.cin.value, profile.lis.value
        (0.693147, 10, 2)
        >>> profile.pen.band.value, profile.pen.in_gap, round(profile.pen.chance.at_most, 3)
        ('medium', True, 0.071)
        >>> profile.level, profile.defect_share.value
        (4.5, 0.0)

    Source:
        Microsoft Research (2024), RELEVANCE, project page: its three metrics.
        Chance levels: permutation of the scores found, so given their ties.
        Golden values: tests/golden/order.json.
    """
    check_pattern(order, delay)
    present = as_scores([score for score in scores if score is not None and not math.isnan(score)])
    least = delay * (order - 1) + 1
    if len(present) < max(least, 2):
        message = (
            f"a profile of order {order} needs {max(least, 2)} scores at least; got {len(present)} of {len(scores)}"
        )
        raise InputError(message)
    values = _values(present, order, delay)
    normalized = values["pen"] / math.log(possible_patterns(order, "stable"))
    bands = published_bands(normalized, int(values["cin"]), int(values["lis"]), len(present))
    numbers = _with_chance(present, values, bands, order, delay, seed)
    return OrderProfile(
        n=len(present),
        n_missing=len(scores) - len(present),
        order=order,
        delay=delay,
        pen=numbers["pen"],
        pen_normalized=normalized,
        pen_weak=permutation_entropy(present.tolist(), order=order, delay=delay, ties="weak"),
        cin=numbers["cin"],
        lis=numbers["lis"],
        lnds=numbers["lnds"],
        level=float(present.mean()),
        defect_share=_defect_share(present, defect_at_most),
        tied_patterns=tied_patterns(present, order, delay) or 0.0,
        bands=bands.name,
        notes=_notes(present, len(scores) - len(present), order, delay),
    )


def profile_or_reason(scores: Sequence[float | None], *, order: int = 3, delay: int = 1) -> OrderProfile | Undefined:
    """Return the order metrics of a sequence, or why they are not told: below eight scores chance gives any value.

    Args:
        scores: In order of time; None where one is missing.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.

    Raises:
        InputError: If `order` or `delay` means nothing.
    """
    check_pattern(order, delay)
    n = sum(score is not None for score in scores)
    fewest = max(FEWEST_SCORES, delay * (order - 1) + 1)
    if n < fewest:
        reason = f"Order metrics need {fewest} scores; there {'is 1' if n == 1 else f'are {n}'}."
        return Undefined(reason=reason, n=n, unit="scores", method=relevance_profile.__name__)
    return relevance_profile(scores, order=order, delay=delay)


def _values(present: Floats, order: int, delay: int) -> dict[str, float]:
    row = present.tolist()
    return {
        "pen": permutation_entropy(row, order=order, delay=delay),
        "cin": inversion_count(row),
        "lis": longest_increasing_subsequence(row),
        "lnds": longest_increasing_subsequence(row, strict=False),
    }


def _with_chance(
    present: Floats, values: dict[str, float], bands: Bands, order: int, delay: int, seed: int
) -> dict[str, OrderValue]:
    metrics = {
        "pen": (entropy_of_rows(order, delay, "stable"), values["pen"]),
        "lis": (rising_of_rows, values["lis"]),
        "lnds": (not_falling_of_rows, values["lnds"]),
    }
    chance = {**chance_levels(present, metrics, seed=seed), "cin": trend_chance(present, int(values["cin"]))}
    # Equal scores alone keep LIS low, so its band says nothing where nothing could rise.
    of_metric: dict[str, Band | None] = {"pen": bands.pen, "cin": bands.cin, "lis": bands.lis, "lnds": None}
    if present.min() == present.max():
        of_metric = dict.fromkeys(of_metric)
    return {
        name: OrderValue(
            value=values[name],
            band=of_metric[name],
            in_gap=name == "pen" and bands.pen_in_gap and of_metric[name] is not None,
            chance=chance[name],
        )
        for name in ("pen", "cin", "lis", "lnds")
    }


def _defect_share(present: Floats, defect_at_most: float | None) -> Estimate | Undefined:
    if defect_at_most is None:
        return Undefined(reason="No rule says which scores are defects.", n=len(present), unit=DIALOGUES)
    return defect_rate(int((present <= defect_at_most).sum()), len(present))


def _notes(present: Floats, n_missing: int, order: int, delay: int) -> tuple[str, ...]:
    notes, n = [], len(present)
    if present.min() == present.max():
        notes.append(
            f"All {n} scores are equal, so their order tells nothing: all fives and all ones would look the same."
            " Read the level"
        )
    tied = tied_patterns(present, order, delay) or 0.0
    if tied > MANY_TIES and present.min() != present.max():
        notes.append(f"{tied:.0%} of the patterns hold equal scores, which PEN reads as rising; see PEN with weak ties")
    codes, possible = n_patterns(n, order, delay), possible_patterns(order, "stable")
    if codes < 10 * possible:
        notes.append(
            f"{codes} patterns cannot fill {possible} kinds evenly, so PEN stays low of itself (by about"
            f" {(possible - 1) / (2 * codes):.2f} nats): compare windows of one length only"
        )
    n_values = len(set(present.tolist()))
    if 1 < n_values < n:
        notes.append(f"With {n_values} different scores LIS cannot pass {n_values}; LNDS lets equal scores follow")
    if n_missing:
        notes.append(f"{n_missing} of {n + n_missing} scores are missing; those beside them were taken as neighbours")
    return tuple(notes)
