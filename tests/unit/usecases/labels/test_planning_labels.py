from __future__ import annotations

import pytest

from tests.fakes.evidence import live_evidence
from tests.fakes.evidence_variants import labelled_evidence
from theodolite.domain.errors import InputError
from theodolite.usecases.labels import LabelRequest, draw_labels, label_counts, planned_labels


def same(said):
    return said or "1"


def test_without_labels_the_rate_is_unknown_and_a_plan_states_the_expected_width():
    counts, plan = planned_labels(live_evidence(), LabelRequest(n=20))

    assert (counts.n_labelled, counts.n_open) == (0, 58)
    assert sum(plan.take.values()) == 20
    assert plan.width < plan.width_now == 1


def test_labels_so_far_are_counted_by_verdict():
    counts = label_counts(labelled_evidence(same), live_evidence().study.guideline("groundedness"), "grounded")

    found = [label for stratum, label in zip(counts.strata, counts.labels, strict=True) if stratum.endswith("sound")]
    assert (counts.n_labelled, counts.n_open) == (30, 28)
    assert {label for label in found if label is not None} == {False}


def test_more_labels_narrow_the_interval_and_are_drawn_as_planned():
    evidence = labelled_evidence(same)

    _, plan = planned_labels(evidence, LabelRequest(n=10))
    drawn = {one.name: one.n_drawn for one in draw_labels(evidence, LabelRequest(n=10)).sample.strata}

    assert plan.width < plan.width_now < 1
    assert {name: n for name, n in plan.take.items() if n} == {name: n for name, n in drawn.items() if n}


def test_no_more_labels_than_dialogues_can_be_planned():
    _, plan = planned_labels(labelled_evidence(same), LabelRequest(n=500))

    assert sum(plan.take.values()) == 28
    with pytest.raises(InputError, match="left to label"):
        planned_labels(labelled_evidence(same, n=58), LabelRequest(n=1))
