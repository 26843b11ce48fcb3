"""Estimates and confusions as entries of the results file."""

from __future__ import annotations

from theodolite.domain.estimate import Confusion, Measurement
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry, outcomes_entry
from theodolite.reporting.results.subjects import subject_entry


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
