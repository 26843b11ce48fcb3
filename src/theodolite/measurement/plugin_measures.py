"""Measures of plugins: a number over labelled dialogues, with an interval from a bootstrap of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from theodolite.domain.answer_rules import QuestionLabels, annotators_of, cluster_of, positions_of
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import PluginMeasurement
from theodolite.domain.instrument import QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.undefined_reasons import NO_LABEL

REPLICATES = 1000
"""Number of bootstrap samples; count."""

FEW_CLUSTERS = 10
"""Clusters below which a percentile interval is too narrow to be shown; count."""

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDialogue:
    """One dialogue with its label, as a measure of a plugin reads it.

    Attributes:
        dialogue: Label of the dialogue, e.g. `d001`.
        scenario: Name of the scenario.
        groups: Values of the dialogue's groups, by name.
        cluster: Name of the cluster; its dialogues resemble each other, e.g. those of one persona.
        label: The label.
        score: The label as a number; None on scales without numbers.
        defect: Whether the label is a defect by the first defect rule of the question; None without a rule.
    """

    dialogue: str
    label: str
    scenario: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    score: float | None = None
    defect: bool | None = None


ComputeMeasure: TypeAlias = Callable[[Sequence[LabelledDialogue]], float | None]
"""Computes one number from labelled dialogues; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginMeasure:
    """A measure that a plugin adds; studies name it under `measures`.

    Attributes:
        name: Name in studies, with a version: `our-house/mean-score@1`.
        compute: The function; it does no I/O and draws no random numbers, because it is called for each sample.
        title: Short description.
        unit: Unit of the value, e.g. `fraction of dialogues`.
        needs_scores: Whether the measure applies only to questions with numbers.
    """

    name: str
    compute: ComputeMeasure
    title: str = ""
    unit: str = ""
    needs_scores: bool = False


def measure_labels(measure: PluginMeasure, labelled: Sequence[LabelledDialogue], *, seed: int) -> Estimate | Undefined:
    """Return the measure of labelled dialogues with the percentile interval of a bootstrap of clusters.

    Whole clusters are drawn with replacement, because dialogues of one cluster are correlated. Fewer than
    `FEW_CLUSTERS` clusters, and values that are the same in every sample, have no interval: a percentile
    interval would be too narrow, or claim certainty.

    Args:
        measure: The measure.
        labelled: The dialogues.
        seed: Seed of the random generator.

    Returns:
        `Undefined` if the measure has no value, returns no finite number or raises an exception.

    Example:
        >>> def share_of_yes(rows: Sequence[LabelledDialogue]) -> float:
        ...     return sum(row.label == "yes" for row in rows) / len(rows)
        >>> share = PluginMeasure(name="x/share@1", compute=share_of_yes)
        >>> rows = [LabelledDialogue(dialogue=f"d{i}", label="yes" if i % 2 else "no") for i in range(40)]
        >>> estimate = measure_labels(share, rows, seed=1)
        >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
        (0.5, 0.35, 0.65)

    Source:
        Field, Welsh (2007), Bootstrapping clustered data, J. R. Stat. Soc. B 69:369-390,
        doi:10.1111/j.1467-9868.2007.00593.x; percentiles: Efron, Tibshirani (1993), An Introduction to the
        Bootstrap, chapter 13.
    """
    clusters: dict[str, list[LabelledDialogue]] = {}
    for row in labelled:
        clusters.setdefault(row.cluster or row.dialogue, []).append(row)
    n, shared = len(labelled), len(clusters) if len(clusters) < len(labelled) else None
    if not n:
        return Undefined(reason=NO_LABEL, unit=measure.unit, method=measure.name)
    value = _value(measure, labelled)
    if isinstance(value, str):
        return Undefined(reason=value, n=n, unit=measure.unit, method=measure.name, n_clusters=shared)
    ends, how = _interval(measure, list(clusters.values()), seed)
    return Estimate(
        value=value,
        low=min(ends[0], value) if ends else None,
        high=max(ends[1], value) if ends else None,
        confidence=_CONFIDENCE,
        n=n,
        unit=measure.unit,
        method=f"{measure.name}; {how}",
        n_clusters=shared,
    )


def _interval(
    measure: PluginMeasure, clusters: Sequence[Sequence[LabelledDialogue]], seed: int
) -> tuple[tuple[float, float] | None, str]:
    """Return the interval and its method; None and the reason if there is none."""
    if len(clusters) < FEW_CLUSTERS:
        return None, f"no interval for fewer than {FEW_CLUSTERS} independent units"
    values: list[float] = []
    rng = np.random.default_rng(seed)
    for _ in range(REPLICATES):
        resampled = rng.integers(0, len(clusters), size=len(clusters))
        value = _value(measure, [row for index in resampled for row in clusters[index]])
        if isinstance(value, float):
            values.append(value)
    if len(values) < REPLICATES // 2:
        return None, "no interval, since most samples have no value"
    if min(values) == max(values):
        return None, "no interval, since all samples have the same value"
    tail = (1.0 - _CONFIDENCE) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return (float(low), float(high)), "bootstrap of clusters, percentiles"


def _value(measure: PluginMeasure, rows: Sequence[LabelledDialogue]) -> float | str:
    """Return the value of a measure, or why it has none."""
    value: Any
    try:
        value = measure.compute(rows)
    except Exception as error:  # noqa: BLE001 - the code of a plugin may raise anything; this is the boundary
        return f"measure `{measure.name}` raised {type(error).__name__}: {error}"
    if value is None:
        return f"measure `{measure.name}` has no value for these dialogues"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return f"measure `{measure.name}` returned {value!r}; expected a finite number or None"
    return float(value)


def plugin_measurements(evidence: Evidence, measures: Mapping[str, PluginMeasure]) -> Iterator[PluginMeasurement]:
    """Yield the measures of a study for each application, question of a dialogue and leading annotator.

    Args:
        evidence: All records of one run.
        measures: The measures of installed plugins, by name.
    """
    for name in evidence.study.measures:
        measure = measures.get(name)
        for application in evidence.study.applications if measure else ():
            for guideline in evidence.study.guidelines:
                positions = positions_of(evidence.study, evidence.answers, application, guideline)
                for question in guideline.instrument.questions if measure else ():
                    labels = QuestionLabels(
                        table=evidence.answers, guideline=guideline, question=question, positions=positions
                    )
                    if measure and question.level is QuestionLevel.DIALOGUE and _fits(measure, labels):
                        yield from _of_question(evidence, measure, application.name, labels)


def _fits(measure: PluginMeasure, labels: QuestionLabels) -> bool:
    kind = labels.question.scale.kind
    numbers = kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}
    return bool(labels.positions) and kind is not ScaleKind.TEXT and (numbers or not measure.needs_scores)


def _of_question(
    evidence: Evidence, measure: PluginMeasure, application: str, labels: QuestionLabels
) -> Iterator[PluginMeasurement]:
    guideline, question = labels.guideline, labels.question
    for source in annotators_of(evidence.study, guideline, application, question.name).headline:
        own = labels.assigned_to(source)
        column = own.labels(source)
        rows = [
            _row(own, position, label.value)
            for position, label in zip(own.positions, column, strict=True)
            if label.value is not None
        ]
        yield PluginMeasurement(
            name=measure.name,
            title=measure.title,
            application=application,
            guideline=guideline.name,
            question=question.name,
            annotator=source.name,
            result=measure_labels(measure, rows, seed=evidence.study.sampling.seed),
            outcomes=column.outcome_counts(),
        )


def _row(labels: QuestionLabels, position: int, label: str) -> LabelledDialogue:
    setting, scale = labels.setting(position), labels.question.scale
    rules = (rule for rule in labels.guideline.defect_rules if rule.question == labels.question.name)
    rule = next((rule for rule in rules if rule.applies_to(setting.groups)), None)
    is_number = scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}
    return LabelledDialogue(
        dialogue=labels.table.sessions.label(position),
        label=label,
        scenario=setting.scenario,
        groups=setting.groups,
        cluster=cluster_of(labels.table, position),
        score=decimal_of(label) if is_number else None,
        defect=rule.is_defect(label, scale) if rule and scale.admits(label) else None,
    )
