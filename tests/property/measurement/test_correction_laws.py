"""Laws of corrections by people's labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.correction import corrected_mean, corrected_rate, judge_accuracy, rogan_gladen_rate
from theodolite.measurement.stratified_correction import plan_labels

OF_CORRECTION = {"corrected_rate", "judge_accuracy", "corrected_mean", "rogan_gladen_rate", "plan_labels"}
"""Measures whose laws stand here."""

UNITS = st.lists(st.tuples(st.booleans(), st.sampled_from([True, False, None])), min_size=1, max_size=40)
FEW = settings(deadline=None, max_examples=25)


def columns(units):
    return [verdict for verdict, _ in units], [label for _, label in units]


@given(units=UNITS, clustered=st.booleans())
@FEW
def test_a_corrected_rate_is_in_its_interval_and_the_interval_in_0_to_1(units, clustered):
    ids = [place % 4 for place in range(len(units))] if clustered else None

    rate = corrected_rate(*columns(units), clusters=ids)

    assert isinstance(rate, Undefined) or 0.0 <= rate.low <= rate.value <= rate.high <= 1.0


@given(units=UNITS)
@FEW
def test_the_rate_of_non_defects_mirrors_that_of_defects(units):
    verdicts, labels = columns(units)

    rate = corrected_rate(verdicts, labels)
    mirror = corrected_rate(verdicts, [None if label is None else not label for label in labels])

    assert isinstance(rate, Estimate) == isinstance(mirror, Estimate)
    if isinstance(rate, Estimate):
        assert rate.value == pytest.approx(1 - mirror.value)
        assert (rate.low, rate.high) == pytest.approx((1 - mirror.high, 1 - mirror.low), abs=2e-2)


@given(units=UNITS)
@FEW
def test_every_accuracy_figure_of_a_judge_is_in_its_range(units):
    judge = judge_accuracy(*columns(units))

    for name in ("rate", "judge_rate", "sensitivity", "specificity", "precision", "clean_rate"):
        part = getattr(judge, name)
        assert isinstance(part, Undefined) or 0.0 <= part.low <= part.value <= part.high <= 1.0
    assert isinstance(judge.bias, Undefined) or -1.0 <= judge.bias.low <= judge.bias.value <= judge.bias.high <= 1.0


@given(
    scores=st.lists(st.floats(1, 5), min_size=4, max_size=30),
    labels=st.lists(st.floats(1, 5), min_size=2, max_size=3),
    shift=st.floats(-3, 3),
)
@FEW
def test_a_judge_with_a_constant_bias_corrects_equally_well(scores, labels, shift):
    found = [*labels, *[None] * (len(scores) - len(labels))]

    one = corrected_mean(scores, found, scale=(1, 5))
    other = corrected_mean([score + shift for score in scores], found, scale=(1, 5))

    assert one.value == pytest.approx(other.value, abs=1e-6)
    assert one.low <= one.value <= one.high


@given(judged=st.integers(1, 200), caught=st.integers(0, 50), passed=st.integers(0, 50), data=st.data())
@FEW
def test_a_rate_corrected_by_external_errors_grows_with_the_alarms(judged, caught, passed, data):
    positives = data.draw(st.integers(0, judged - 1))
    errors = {"sensitivity": (caught, 50), "specificity": (passed, 50)}

    fewer, more = rogan_gladen_rate(positives, judged, **errors), rogan_gladen_rate(positives + 1, judged, **errors)

    either = isinstance(fewer, Undefined) or isinstance(more, Undefined)
    assert either or caught + passed > 50
    assert either or 0.0 <= fewer.low <= fewer.value <= more.value <= more.high <= 1.0


@given(units=UNITS, data=st.data())
@FEW
def test_a_plan_spends_the_budget_on_unlabelled_dialogues(units, data):
    verdicts, labels = columns(units)
    budget = data.draw(st.integers(0, labels.count(None)))

    plan = plan_labels(verdicts, labels, budget=budget)

    assert len(set(plan.dialogues)) == budget
    assert all(labels[place] is None for place in plan.dialogues)
    assert 0.0 <= plan.width <= 1.0
