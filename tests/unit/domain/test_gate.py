"""Gates: their forms, and when a rate keeps them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from theodolite.domain.errors import InputError
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.number import Estimate, Outcomes, Undefined
from theodolite.domain.gate import Gate, GateForm, GateState, gate_result, needed, validation_result, worst_of

SUBJECT = EstimateSubject(application="bot", guideline="tone", rule="defect")


def rate(count, n, *, interval=None):
    low, high = interval or stats.binomtest(count, n).proportion_ci(method="wilson")
    return Estimate(
        value=count / n, low=low, high=high, confidence=0.95, n=n, unit="fraction", method="wilson", count=count
    )


def state_of(text, result, outcomes=None):
    known = outcomes or Outcomes(planned=result.n, used=result.n)
    return gate_result(Gate.parse("tone", text), SUBJECT, result, known)


@pytest.mark.parametrize(
    ("text", "form", "limit"),
    [
        ("upper <= 20%", GateForm.UPPER, 0.2),
        ("rate<=2.5 %", GateForm.RATE, 0.025),
        (" count <=  0 ", GateForm.COUNT, 0),
        ("worse_by <= 5 points", GateForm.WORSE_BY, 0.05),
        ("validated <= 90 days", GateForm.VALIDATED, 90),
        ("completeness >= 95%", GateForm.COMPLETENESS, 0.95),
    ],
)
def test_each_form_of_a_gate_is_parsed(text, form, limit):
    gate = Gate.parse("tone", text)

    assert (gate.form, gate.limit) == (form, pytest.approx(limit))
    assert gate.text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uper <= 20%", "expected `upper <= 20%`"),
        ("upper < 20%", "expected `upper <= 20%`"),
        ("upper <= 20", "takes a percentage, e.g. `upper <= 20%`"),
        ("upper >= 20%", "`upper` takes `<=`"),
        ("completeness <= 20%", "`completeness` takes `>=`"),
        ("count <= 3%", "takes a whole number"),
        ("count <= 1.5", "takes a whole number"),
        ("rate <= 120%", "at most 100"),
        ("worse_by <= 5%", "`worse_by` takes points, e.g. `worse_by <= 5 points`"),
        ("validated <= 90", "`validated` takes days, e.g. `validated <= 90 days`"),
        ("count <= 3 days", "takes a whole number"),
        ("", "expected `upper <= 20%`"),
    ],
)
def test_any_other_text_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        Gate.parse("tone", text)


@pytest.mark.parametrize(
    ("count", "n", "state"),
    [
        (9, 57, GateState.INCONCLUSIVE),  # 15.8 %, 8.5 to 27.4
        (0, 57, GateState.MET),  # at most 6.3 %
        (30, 57, GateState.NOT_MET),  # 39.9 to 65.0
    ],
)
def test_an_upper_end_is_compared_with_both_ends_of_the_interval(count, n, state):
    assert state_of("upper <= 20%", rate(count, n)).state is state


def test_a_rate_is_compared_without_its_interval():
    assert state_of("rate <= 20%", rate(9, 57)).state is GateState.MET
    assert state_of("rate <= 10%", rate(9, 57)).state is GateState.NOT_MET


@pytest.mark.parametrize(
    ("count", "missing", "state"),
    [(0, 0, GateState.MET), (0, 1, GateState.INCONCLUSIVE), (1, 0, GateState.NOT_MET), (1, 5, GateState.NOT_MET)],
)
def test_a_dialogue_without_a_label_could_be_a_defect(count, missing, state):
    outcomes = Outcomes(planned=20 + missing, used=20, missing=missing)

    assert state_of("count <= 0", rate(count, 20), outcomes).state is state


@pytest.mark.parametrize(("used", "state"), [(95, GateState.MET), (94, GateState.NOT_MET)])
def test_completeness_counts_labelled_dialogues_of_those_that_apply(used, state):
    outcomes = Outcomes(planned=110, used=used, failed=100 - used, not_applicable=10)
    result = state_of("completeness >= 95%", rate(0, used), outcomes)

    assert result.state is state
    assert result.reason == ("" if state is GateState.MET else "6 of 100 planned have no label")


def test_an_empty_plan_is_not_complete():
    result = state_of("completeness >= 0%", Undefined(reason="no label"), Outcomes(planned=0, used=0))

    assert result.state is GateState.NOT_MET


@pytest.mark.parametrize("text", ["upper <= 20%", "rate <= 20%", "count <= 0"])
def test_without_a_rate_no_gate_passes(text):
    result = state_of(text, Undefined(reason="no label"), Outcomes(planned=3, used=0, missing=3))

    assert (result.state, result.reason) == (GateState.INCONCLUSIVE, "no rate can be computed: no label")


@given(
    value=st.floats(0, 1),
    limit=st.floats(0.01, 0.99),
)
def test_the_required_number_of_dialogues_decides(value, limit):
    """By statsmodels' formula of the score interval: at n it excludes the limit, at n - 2 it does not."""
    n = needed(value, limit, 0.95)
    if n is None:
        assert abs(value - limit) < 1e-2
        return
    assert not crosses(value, limit, n)
    assert n <= 2 or crosses(value, limit, n - 2)


def crosses(value, limit, n):
    z = stats.norm.ppf(0.975)
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
    return centre - half < limit * (1 - 1e-9) and centre + half > limit * (1 + 1e-9)


def test_the_overall_state_is_the_worst_one():
    met, open_ = state_of("upper <= 20%", rate(0, 57)), state_of("upper <= 20%", rate(9, 57))
    broken = state_of("upper <= 20%", rate(30, 57))

    assert worst_of([]) is GateState.MET
    assert worst_of([met, open_]) is GateState.INCONCLUSIVE
    assert worst_of([open_, broken, met]) is GateState.NOT_MET


def difference(value, low, high):
    return Estimate(value=value, low=low, high=high, confidence=0.95, n=57, unit="fraction", method="paired")


@pytest.mark.parametrize(
    ("ends", "state"),
    [
        pytest.param((-0.10, 0.04), GateState.MET, id="inside"),
        pytest.param((0.06, 0.20), GateState.NOT_MET, id="outside"),
        pytest.param((-0.02, 0.08), GateState.INCONCLUSIVE, id="crosses"),
    ],
)
def test_a_deterioration_is_judged_by_the_interval_of_the_difference(ends, state):
    result = state_of("worse_by <= 5 points", difference(sum(ends) / 2, *ends))

    assert (result.state, result.n_needed) == (state, None)


def test_a_difference_that_cannot_be_computed_is_inconclusive():
    result = state_of("worse_by <= 5 points", Undefined(reason="no pairs", n=0), Outcomes(planned=3, used=3))

    assert result.state is GateState.INCONCLUSIVE
    assert result.reason == "no difference can be computed: no pairs"


@pytest.mark.parametrize(
    ("days", "state"),
    [(12.0, GateState.MET), (90.0, GateState.MET), (90.1, GateState.NOT_MET), (None, GateState.NOT_MET)],
    ids=["recent", "limit", "old", "never"],
)
def test_a_validation_must_be_recent(days, state):
    result = validation_result(Gate.parse("judge", "validated <= 90 days"), SUBJECT, days)

    assert (result.state, result.days) == (state, days)
    assert bool(result.reason) == (state is GateState.NOT_MET)
