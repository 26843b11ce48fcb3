"""Accuracy: how often a judge is right about defects and about sound dialogues."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds
from theodolite.measurement.correction.chances import middle
from theodolite.measurement.correction.rate import between, corrected_rate
from theodolite.measurement.correction.strata import Labels, Strata, strata
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.proportion import DIALOGUES, defect_rate

Floats = NDArray[np.float64]

RATE_DIFFERENCE: Final = "difference of fractions of dialogues"
"""Unit of the bias: the judge's rate minus people's."""

NO_DEFECT: Final = "People found no defect, so nothing tells how many the judge would catch."
NO_SOUND: Final = "People found no sound dialogue, so nothing tells how many the judge would pass."
NEVER_LOOKED_AT: Final = "No person has labelled a dialogue that the judge called `{}`."

DEFECT, SOUND = "defect", "sound"
"""How the two verdicts are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAccuracy:
    """How a judge's verdicts relate to people's labels.

    Attributes:
        rate: Rate that people would find in all judged dialogues.
        judge_rate: Rate by the judge's verdicts.
        bias: The judge's rate minus people's; above 0 the judge sees too much.
        sensitivity: Share of defects that the judge catches.
        specificity: Share of sound dialogues that it passes.
        precision: Share of its alarms that are defects, at the rate observed (PPV).
        clean_rate: Share of what it passes that is sound (NPV).
    """

    rate: Estimate | Undefined
    judge_rate: Estimate | Undefined
    bias: Estimate | Undefined
    sensitivity: Estimate | Undefined
    specificity: Estimate | Undefined
    precision: Estimate | Undefined
    clean_rate: Estimate | Undefined


def judge_accuracy(
    verdicts: Sequence[bool | None],
    labels: Labels,
    *,
    drawn_from: Sequence[Hashable] | None = None,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> JudgeAccuracy:
    """Estimate how often a judge is right, when people labelled some of its alarms and some of the rest.

    Where people looked at alarms more often than at the rest, the plain share
    of defects that were flagged is far too high: most missed ones were never
    looked at. So sensitivity and specificity are built from what is in each
    heap and how large the heaps are, not from the labelled dialogues alone.

    Args:
        verdicts: The judge's verdict on every dialogue, True = defect; None =
            it gave none. Those are left out here.
        labels: Whether people found a defect; None = nobody looked.
        drawn_from: What the labelled ones were drawn from beside the verdict,
            e.g. the application, where shares drawn differ; None = nothing else.
        clusters: The cluster of each dialogue; None = dialogues are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Seven estimates, each `Undefined` where nothing tells about it.

    Raises:
        InputError: If the lengths differ or a label is neither yes, no nor None.

    Example:
        >>> verdicts = [True] * 100 + [False] * 900
        >>> labels = [True] * 40 + [False] * 10 + [None] * 50 + [True] * 1 + [False] * 49 + [None] * 850
        >>> judge = judge_accuracy(verdicts, labels)
        >>> [round(e.value, 3) for e in (judge.precision, judge.sensitivity, judge.specificity, judge.bias)]
        [0.8, 0.816, 0.978, 0.002]

    Source:
        Begg, Greenes (1983), Biometrics 39:207-215
        (labels for some verdicts only). Its coverage: benchmarks/COVERAGE.md.
    """
    check_confidence(confidence)
    kept = [place for place, verdict in enumerate(verdicts) if verdict is not None]
    given = [_heap(verdicts, drawn_from, place) for place in kept]
    found = [labels[place] for place in kept] if len(labels) == len(verdicts) else labels
    ids = None if clusters is None else [clusters[place] for place in kept]
    heaps = strata(given, found, ids)
    rate = corrected_rate(given, found, clusters=ids, confidence=confidence)
    bias, sensitivity, specificity = _joint(heaps, rate, confidence)
    alarms = heaps.verdicts_by_cluster[:, _flagged(heaps) > 0].sum(axis=1)
    sizes = list(zip(alarms.tolist(), heaps.verdicts_by_cluster.sum(axis=1).tolist(), strict=True))
    return JudgeAccuracy(
        rate=rate,
        judge_rate=_share(sizes, heaps, confidence, otherwise="The judge gave no verdict."),
        bias=bias,
        sensitivity=sensitivity,
        specificity=specificity,
        precision=_within(heaps, confidence, flagged=True),
        clean_rate=_within(heaps, confidence, flagged=False),
    )


def _heap(verdicts: Sequence[bool | None], drawn_from: Sequence[Hashable] | None, place: int) -> Hashable:
    if drawn_from is not None and len(drawn_from) != len(verdicts):
        message = f"`drawn_from` must say it of every dialogue; got {len(drawn_from)} for {len(verdicts)}"
        raise InputError(message)
    verdict = bool(verdicts[place])
    return verdict if drawn_from is None else (verdict, drawn_from[place])


def _flagged(heaps: Strata) -> Floats:
    """Return 1 for heaps that the judge called a defect, else 0; shape (verdicts,)."""
    kinds = [part.kind[0] if isinstance(part.kind, tuple) else part.kind for part in heaps.parts]
    return np.array([kind is True for kind in kinds], dtype=np.float64)


def _within(heaps: Strata, confidence: float, *, flagged: bool) -> Estimate | Undefined:
    """Return how often the judge is right where it said one of the two."""
    chosen = _flagged(heaps) == flagged
    parts = [part for part, take in zip(heaps.parts, chosen, strict=True) if take]
    unseen = NEVER_LOOKED_AT.format(DEFECT if flagged else SOUND)
    if not parts or not all(part.labelled for part in parts):
        return Undefined(reason=unseen, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    if len(parts) == 1:
        pairs = [(defects if flagged else n - defects, n) for defects, n in parts[0].by_cluster]
        return _share(pairs, heaps, confidence, otherwise=unseen)
    shares, defects = (table[chosen] for table in heaps.chances())
    right = defects if flagged else 1.0 - defects
    plain = np.array([part.defects / part.labelled for part in parts])
    weights = heaps.shares[chosen]
    value = float(weights @ (plain if flagged else 1.0 - plain) / weights.sum())
    return between(value, (shares * right).sum(axis=0) / shares.sum(axis=0), heaps, confidence)


def _share(
    sizes: Sequence[tuple[int, int]], heaps: Strata, confidence: float, *, otherwise: str
) -> Estimate | Undefined:
    count, n = sum(count for count, _ in sizes), sum(n for _, n in sizes)
    if n == 0:
        return Undefined(reason=otherwise, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    return defect_rate(count, n, confidence=confidence, clusters=None if heaps.alone else sizes)


def _joint(
    heaps: Strata, rate: Estimate | Undefined, confidence: float
) -> tuple[Estimate | Undefined, Estimate | Undefined, Estimate | Undefined]:
    """Return bias, sensitivity and specificity, which rest on both heaps and their sizes."""
    if isinstance(rate, Undefined):
        return replace(rate, unit=RATE_DIFFERENCE), rate, rate
    flagged = _flagged(heaps)
    plain = np.array([part.defects / part.labelled for part in heaps.parts])
    shares, defects = heaps.chances()
    low, high = middle(flagged @ shares - (shares * defects).sum(axis=0), confidence)
    value = float(flagged @ heaps.shares) - rate.value
    bias = replace(rate, value=value, low=min(low, value), high=max(high, value), unit=RATE_DIFFERENCE)
    return (
        bias,
        _part_of(flagged, (heaps.shares * plain, shares * defects), heaps, confidence, otherwise=NO_DEFECT),
        _part_of(
            1.0 - flagged,
            (heaps.shares * (1.0 - plain), shares * (1.0 - defects)),
            heaps,
            confidence,
            otherwise=NO_SOUND,
        ),
    )


def _part_of(
    flagged: Floats, masses: tuple[Floats, Floats], heaps: Strata, confidence: float, *, otherwise: str
) -> Estimate | Undefined:
    """Return which part of what there is lies in the flagged heaps.

    Args:
        flagged: 1 for heaps that count, else 0.
        masses: Share of all dialogues that is in each heap, shape (verdicts,),
            and equally likely ones, shape (verdicts, points).
        heaps: What they rest on.
        confidence: Coverage of the interval; fraction.
        otherwise: Why there is no such part where there is nothing.
    """
    plain, likely = masses
    if plain.sum() <= 0.0:
        return Undefined(reason=otherwise, n=heaps.labelled, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    value = float(flagged @ plain / plain.sum())
    return between(value, (flagged @ likely) / likely.sum(axis=0), heaps, confidence)
