"""Estimates, their subjects and confusion matrices as entries of the results file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.domain.comparison import Comparison, GroupGap, PairedRate, TypologyRate
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Confusion, Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue
from theodolite.domain.findings.number import PluginMeasurement
from theodolite.domain.guideline import Violation
from theodolite.domain.identity import Json


def estimate_entry(measurement: Measurement) -> dict[str, Json]:
    """Return one entry of the list `estimates`."""
    return {
        "measure": measurement.measure.value,
        "subject": subject_entry(measurement.subject),
        "weighting": measurement.weighting.value if measurement.weighting else None,
        "statistic": measurement.statistic.value if measurement.statistic else None,
        **number_entry(measurement.result),
        "outcomes": outcomes_entry(measurement.outcomes),
        "versions": dict(measurement.versions),
        "bounds": list(measurement.bounds) if measurement.bounds is not None else None,
        "dialogues": list(measurement.dialogues),
        "non_defects": list(measurement.non_defects),
        "unlabelled": list(measurement.unlabelled),
    }


def plugin_measure_entry(found: PluginMeasurement) -> dict[str, Json]:
    """Return one entry of the list `plugin_measures`."""
    return {
        "measure": found.name,
        "title": found.title,
        "application": found.application,
        "guideline": found.guideline,
        "question": found.question,
        "annotator": found.annotator,
        **_entry(found.result, _SHORT, ("n", "n_clusters", "unit", "method")),
        "outcomes": outcomes_entry(found.outcomes),
    }


def confusion_entry(confusion: Confusion) -> dict[str, Json]:
    """Return one entry of the list `confusions`."""
    return {
        "application": confusion.application,
        "guideline": confusion.guideline,
        "question": confusion.question,
        "first": confusion.first,
        "second": confusion.second,
        "categories": list(confusion.matrix.categories),
        "counts": [list(row) for row in confusion.matrix.counts],
    }


_SHORT = ("value", "low", "high", "confidence")

_WHOLE = (*_SHORT, "count", "chance", "design_effect")


def number_entry(result: Estimate | Undefined) -> dict[str, Json]:
    """Return the number itself, or nulls and the reason."""
    return _entry(result, _WHOLE, ("n", "n_clusters", "unit", "method"))


def short_number_entry(result: Estimate | Undefined, *more: str) -> dict[str, Json]:
    """Return a number outside the list `estimates`, or nulls and the reason.

    Args:
        result: The number.
        more: Further fields in addition to value, interval and counts, e.g. `count`.
    """
    return _entry(result, (*_SHORT, *more), ("n", "unit", "method"))


def _entry(result: Estimate | Undefined, own: Sequence[str], common: Sequence[str]) -> dict[str, Json]:
    is_undefined = isinstance(result, Undefined)
    return {
        **{name: None if is_undefined else getattr(result, name) for name in own},
        **{name: getattr(result, name) for name in common},
        "undefined_reason": result.reason if isinstance(result, Undefined) else None,
    }


def outcomes_entry(outcomes: Outcomes) -> dict[str, Json]:
    """Return the outcomes of a number's units; counts."""
    return {
        "planned": outcomes.planned,
        "used": outcomes.used,
        "missing": outcomes.missing,
        "failed": outcomes.failed,
        "refused": outcomes.refused,
        "unparseable": outcomes.unparseable,
        "not_applicable": outcomes.not_applicable,
    }


def subject_entry(subject: EstimateSubject) -> dict[str, Json]:
    """Return a subject as an object; fields that set no limit are left out.

    `application` is null for an estimate over all applications together.
    """
    entry: dict[str, Json] = {
        "guideline": subject.guideline,
        "question": subject.question,
        "label": subject.label,
        "rule": subject.rule,
        "condition": subject.condition,
        "violation": subject.violation.value if subject.violation else "",
        "annotators": list(subject.annotators),
        "corrected_by": subject.corrected_by,
        "calibrated_on": subject.calibrated_on,
        "level": subject.level.value if subject.level else "",
        "tester_type": subject.tester_type.value if subject.tester_type else "",
        "among": [_group_entry(group) for group in subject.among],
        "group": _group_entry(subject.group) if subject.group else "",
        "scenario": subject.scenario,
        "annotator_group": _group_entry(subject.annotator_group) if subject.annotator_group else "",
        "n_people": subject.n_people,
        "human_ceiling": subject.is_human_ceiling,
        "attempt": subject.attempt,
        "repetition": subject.repetition,
    }
    application = None if subject.application == ALL_APPLICATIONS else subject.application
    return {"application": application, **{name: value for name, value in entry.items() if value}}


def _group_entry(group: GroupValue) -> dict[str, Json]:
    return {"name": group.name, "value": group.value}


def subject_from(entry: Mapping[str, Any]) -> EstimateSubject:
    """Return the subject of an object of the results file.

    Raises:
        KeyError: If it has no `application`.
        ValueError: If a word is unknown.
    """
    application = entry["application"]
    return EstimateSubject(
        application=ALL_APPLICATIONS if application is None else application,
        guideline=entry.get("guideline", ""),
        question=entry.get("question", ""),
        label=entry.get("label", ""),
        rule=entry.get("rule", ""),
        condition=entry.get("condition", ""),
        violation=Violation(entry["violation"]) if "violation" in entry else None,
        annotators=tuple(entry.get("annotators", ())),
        corrected_by=entry.get("corrected_by", ""),
        calibrated_on=entry.get("calibrated_on", ""),
        level=Level(entry["level"]) if "level" in entry else None,
        tester_type=TesterType(entry["tester_type"]) if "tester_type" in entry else None,
        among=tuple(_group_from(group) for group in entry.get("among", ())),
        group=_group_from(entry["group"]) if "group" in entry else None,
        scenario=entry.get("scenario", ""),
        annotator_group=_group_from(entry["annotator_group"]) if "annotator_group" in entry else None,
        n_people=entry.get("n_people"),
        is_human_ceiling=entry.get("human_ceiling", False),
        attempt=entry.get("attempt", ""),
        repetition=entry.get("repetition", ""),
    )


def _group_from(entry: Mapping[str, str]) -> GroupValue:
    return GroupValue(name=entry["name"], value=entry["value"])


def comparison_entry(comparison: Comparison) -> dict[str, Json]:
    """Return one entry of the list `comparisons`."""
    return {
        "first": comparison.first.application,
        "second": comparison.second.application,
        "rates": [_paired_rate_entry(rate) for rate in comparison.rates],
    }


def _paired_rate_entry(rate: PairedRate) -> dict[str, Json]:
    return {
        "subject": subject_entry(rate.ruling.subject),
        "pairs": rate.n,
        "defects": [rate.n_first, rate.n_second],
        "fixed": [[flip.first, flip.second] for flip in rate.fixed],
        "regressed": [[flip.first, flip.second] for flip in rate.regressed],
        "unlabelled": rate.n_unmeasured,
        "unpaired": rate.n_unpaired,
        "difference": short_number_entry(rate.difference),
        "p_value": rate.test.p_value if rate.test else None,
        "p_adjusted": rate.adjusted,
        "test": rate.test.method if rate.test else None,
        "pairs_wanted": rate.n_wanted,
        "not_comparable": rate.changed or None,
    }


def typology_entry(rate: TypologyRate) -> dict[str, Json]:
    """Return one entry of the list `typology`."""
    return {
        "subject": subject_entry(rate.subject),
        "user_type": rate.user_type,
        "application_type": rate.application_type,
        "applications": list(rate.applications),
        "users": rate.n_users,
        "outcomes": outcomes_entry(rate.outcomes),
        "withheld": rate.rate is None,
        "rate": short_number_entry(rate.rate, "count") if rate.rate is not None else None,
    }


def gap_entry(gap: GroupGap) -> dict[str, Json]:
    """Return one entry of the list `gaps`."""
    return {
        "subject": subject_entry(gap.subject),
        "group": gap.group,
        "rates": [
            {"value": rate.value, "n": rate.n, "rate": short_number_entry(rate.rate, "count") if rate.rate else None}
            for rate in gap.rates
        ],
        "lowest": gap.lowest or None,
        "highest": gap.highest or None,
        "gap": short_number_entry(gap.gap),
    }
