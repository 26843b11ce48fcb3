"""Realism: dialogues of simulated users beside those of people in the same scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np

from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.realism import (
    GroupCover,
    RateContrast,
    Realism,
    SpokenSide,
    StyleContrast,
    StyleMark,
    StyleSpread,
)
from theodolite.measurement.comparison.unpaired import unpaired_difference
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED, defect_rate
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.study.spoken import Condition, are_comparable, spoken_sides

CONFIDENCE: Final = 0.95
"""Coverage of the intervals; fraction."""

TOO_FEW: Final = "Fewer than two dialogues or clusters of dialogues have it."
"""Why a mean is undefined."""

NOT_THERE: Final = "No dialogue of this side was held with the application."
"""Why a rate stands on one side alone."""

OTHER_APPLICATIONS: Final = (
    "The application was met by one side alone; a difference to another one would be the application's."
)
"""Why there is no difference of rates."""


def realisms(evidence: Evidence, measurements: Sequence[Measurement]) -> Iterator[Realism]:
    """Yield a comparison of people with simulated users for each scenario that has dialogues of both.

    Levels of testing and kinds of people (held here, recorded) are compared
    each for itself; red teamers with red teamers only. Nothing is pooled.

    Args:
        evidence: All records of one run.
        measurements: Its defect rates.

    Source:
        Means: `mean_estimate`, clusters are personas; differences: `unpaired_difference`; rates: `defect_rate`.
    """
    sides = spoken_sides(evidence)
    for people, simulated in product(sides, sides):
        if are_comparable(_condition_of(people), _condition_of(simulated)):
            yield Realism(
                people=people,
                simulated=simulated,
                styles=tuple(_style(mark, people, simulated) for mark in StyleMark),
                rates=tuple(_rates(evidence, measurements, people, simulated)),
                groups=tuple(_covers(people, simulated)),
            )


def _condition_of(side: SpokenSide) -> Condition:
    return side.scenario, side.level, side.held_by


def _style(mark: StyleMark, people: SpokenSide, simulated: SpokenSide) -> StyleContrast:
    first, second = _spread(mark, people), _spread(mark, simulated)
    return StyleContrast(
        mark=mark, people=first, simulated=second, difference=unpaired_difference(first.mean, second.mean)
    )


def _spread(mark: StyleMark, side: SpokenSide) -> StyleSpread:
    numbers = np.array(side.marks[mark], dtype=np.float64)
    known = np.isfinite(numbers)
    kept = [cluster for cluster, is_known in zip(side.clusters, known, strict=True) if is_known]
    clusters = kept if len(set(kept)) < len(kept) else None
    values = numbers[known]
    mean = mean_estimate(values, clusters=clusters, confidence=CONFIDENCE, unit=mark.value)
    low, middle, high = np.percentile(values, (25, 50, 75)) if len(values) else (0.0, 0.0, 0.0)
    quartiles = (float(low), float(middle), float(high)) if len(values) else None
    return StyleSpread(mean=_honest(mean, mark), quartiles=quartiles)


def _honest(mean: Estimate | Undefined, mark: StyleMark) -> Estimate | Undefined:
    """Return a mean that promises no more than it can: no interval of no width, no share beyond 0 and 1."""
    if isinstance(mean, Undefined):
        return replace(mean, reason=TOO_FEW)
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return replace(mean, low=None, high=None, method=f"{mean.method}; no dialogue differs, so no interval")
    return replace(mean, low=max(mean.low, 0.0), high=min(mean.high, 1.0) if mark.is_share else mean.high)


def _rates(
    evidence: Evidence, measurements: Iterable[Measurement], people: SpokenSide, simulated: SpokenSide
) -> Iterator[RateContrast]:
    """Yield every whole defect rate of the applications that were spoken to, one application and annotator each."""
    found: dict[EstimateSubject, dict[str, Estimate | Undefined]] = {}
    for measurement in measurements:
        if measurement.measure is not Measure.DEFECT_RATE or measurement.subject.group:
            continue
        subject = replace(measurement.subject, level=None, tester_type=None)
        for name, side in (("people", people), ("simulated", simulated)):
            rate = _rate_in(evidence, measurement, side)
            if rate is not None:
                found.setdefault(subject, {})[name] = rate
    for subject, rates in found.items():
        yield _contrast(subject, rates.get("people"), rates.get("simulated"))


def _contrast(
    subject: EstimateSubject, people: Estimate | Undefined | None, simulated: Estimate | Undefined | None
) -> RateContrast:
    absent = Undefined(reason=NOT_THERE, unit=DIALOGUES)
    first, second = people or absent, simulated or absent
    is_alone = people is None or simulated is None
    return RateContrast(
        subject=subject,
        people=first,
        simulated=second,
        difference=Undefined(reason=OTHER_APPLICATIONS) if is_alone else unpaired_difference(first, second),
    )


def _rate_in(evidence: Evidence, measurement: Measurement, side: SpokenSide) -> Estimate | Undefined | None:
    """Return a rate as far as it is about a side; None where it is not about it at all.

    A rate that is about this side alone is taken as it is.
    """
    if measurement.application not in side.applications:
        return None
    defects, non_defects, unlabelled = (
        [cluster for cluster in _clusters(evidence, labels, side) if cluster is not None]
        for labels in (measurement.dialogues, measurement.non_defects, measurement.unlabelled)
    )
    kept = len(defects) + len(non_defects) + len(unlabelled)
    if kept == len(measurement.dialogues) + len(measurement.non_defects) + len(measurement.unlabelled):
        return measurement.result if kept else None
    if not defects and not non_defects:
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES) if unlabelled else None
    labelled, bad = Counter(defects + non_defects), Counter(defects)
    shared = len(labelled) < labelled.total()
    pairs = [(bad[cluster], n) for cluster, n in labelled.items()] if shared else None
    return defect_rate(len(defects), labelled.total(), clusters=pairs)


def _clusters(evidence: Evidence, labels: Iterable[str], side: SpokenSide) -> Iterator[str | None]:
    """Yield the cluster of each dialogue; None for dialogues of another side."""
    for label in labels:
        place = evidence.sessions.find(label)
        setting = None if place is None else evidence.answers.settings[place]
        is_ours = setting is not None and (setting.scenario, setting.level, setting.held_by) == _condition_of(side)
        yield (setting.cluster or label) if setting is not None and is_ours else None


def _covers(people: SpokenSide, simulated: SpokenSide) -> Iterator[GroupCover]:
    for name in dict.fromkeys((*people.groups, *simulated.groups)):
        first, second = people.groups.get(name, ()), simulated.groups.get(name, ())
        yield GroupCover(
            name=name,
            both=tuple(value for value in first if value in second),
            people_only=tuple(value for value in first if value not in second),
            simulated_only=tuple(value for value in second if value not in first),
        )
