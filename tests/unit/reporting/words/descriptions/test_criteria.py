"""Stated criteria as a reader of the report meets them."""

from __future__ import annotations

from datetime import UTC, datetime

from theodolite.domain.study_parts import CriteriaSubject, StatedCriteria
from theodolite.reporting.words.descriptions import criteria_facts


def stated(about, revision, text):
    at = datetime(2026, 11, revision, tzinfo=UTC)
    return StatedCriteria(study="s", about=about, text=text, revision=revision, by="olga", at=at, why="more")


STATED = (
    stated(CriteriaSubject.SELECTION, 1, "Speaks English."),
    stated(CriteriaSubject.SELECTION, 2, "Speaks English and German."),
    stated(CriteriaSubject.RECRUITMENT, 1, "By a notice."),
)


def test_the_report_states_fulfilled_criteria_with_their_dates():
    assert criteria_facts(STATED) == (
        ("Recruitment, statement 1 of 2026-11-01", "By a notice."),
        ("Selection, statement 2 of 2026-11-02", "Speaks English and German."),
    )
