"""A comparison as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.comparison import ComparedSide, Comparison, PairedRate
from theodolite.domain.identity import Json
from theodolite.reporting.monitoring.document import number
from theodolite.reporting.results.subjects import subject_entry

SCHEMA_VERSION = "2.0"
"""Version of the document's form; the first number rises when readers break."""


def comparison_document(comparisons: Sequence[Comparison]) -> dict[str, Json]:
    """Return comparisons as plain values, every flip with both labels."""
    return {"schema_version": SCHEMA_VERSION, "comparisons": [_comparison(one) for one in comparisons]}


def _comparison(comparison: Comparison) -> dict[str, Json]:
    return {
        "first": _side(comparison.first),
        "second": _side(comparison.second),
        "mitigation": comparison.mitigation or None,
        "rates": [_rate(rate) for rate in comparison.rates],
    }


def _side(side: ComparedSide) -> dict[str, Json]:
    return {
        "name": side.name,
        "application": side.application,
        "study": side.study,
        "run": side.run,
        "plan": side.plan,
        "mitigations": list(side.mitigations),
    }


def _subject(rate: PairedRate) -> dict[str, Json]:
    """Return the subject of both sides: all but the application."""
    return {name: value for name, value in subject_entry(rate.ruling.subject).items() if name != "application"}


def _rate(rate: PairedRate) -> dict[str, Json]:
    test = rate.test
    return {
        "subject": _subject(rate),
        "n": rate.n,
        "defects": [rate.n_first, rate.n_second],
        "fixed": [[flip.first, flip.second] for flip in rate.fixed],
        "regressed": [[flip.first, flip.second] for flip in rate.regressed],
        "unlabelled": rate.n_unmeasured,
        "unpaired": rate.n_unpaired,
        "difference": number(rate.difference),
        "p_value": test.p_value if test else None,
        "p_adjusted": rate.adjusted,
        "test": test.method if test else None,
        "pairs_wanted": rate.n_wanted,
        "not_comparable": rate.changed or None,
    }
