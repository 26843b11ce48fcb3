from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.event import an_event, an_open_event
from theodolite.domain.choices import Identification, Impact
from theodolite.domain.errors import InputError
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.study_parts import Risk
from theodolite.usecases.measuring import keep_review, reviews_of

RISKS = (Risk(name="both", identified_by=Identification.BOTH), Risk(name="plain"))
FOUND = CombinedReview(
    study="small", risk="both", session="s" * 64, materialised=True, reviewer="r", magnitude=4, impact=Impact.NEGATIVE
)


@pytest.fixture
def event():
    return an_open_event(replace(an_event(), risks=RISKS))


def test_reviews_are_stored_and_none_is_overwritten(event):
    for review in (FOUND, replace(FOUND, materialised=False, rationale="read again"), FOUND):
        keep_review(event.store, event.study, event.run, review)

    kept = reviews_of(event.store, event.study)
    assert [(one.revision, one.materialised) for one in kept] == [(1, True), (2, False), (3, True)]


@pytest.mark.parametrize("risk", ["plain", "unknown"])
def test_a_risk_that_needs_no_combined_review_gets_none(event, risk):
    with pytest.raises(InputError, match="not identified by questionnaire and dialogue"):
        keep_review(event.store, event.study, event.run, replace(FOUND, risk=risk))


def test_blind_annotators_review_nothing(event, monkeypatch):
    label = type("Label", (), {"annotator": "r-risk-assessment"})
    monkeypatch.setattr(event.store, "labels", lambda run: [label])

    with pytest.raises(InputError, match="must see no questionnaire"):
        keep_review(event.store, event.study, event.run, FOUND)
