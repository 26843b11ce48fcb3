from dataclasses import replace

import pytest

from tests.fakes.evidence import changed as changed_evidence
from tests.fakes.evidence import facts, live_evidence
from tests.fakes.report import evidence_named, findings_named, report_named, words
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.run import Spending
from theodolite.measurement.interval import wilson
from theodolite.measurement.sample_size import n_for_difference, n_for_rate
from theodolite.reporting.page.precision import COST_UNKNOWN, cost_of, precision_of, precision_table
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.rates import lead_rates


def subject(name, evidence=None):
    return subject_of(evidence or evidence_named(name), findings_named(name), facts(), words())


def rate_of(name, rule, application):
    made = subject(name)
    guideline = made.study.guidelines[0]
    return next(
        rate for rate in lead_rates(made.rates, guideline.name, rule) if rate.measurement.application == application
    )


@pytest.fixture
def withheld():
    return rate_of("xstest", "withheld", "llama2orig")


def altered(rate, **changes):
    return replace(rate, measurement=replace(rate.measurement, result=replace(rate.measurement.result, **changes)))


def test_independent_dialogues_get_the_wilson_interval_at_twice_and_four_times_the_number(withheld):
    found = precision_of(withheld)

    for width, growth in ((found.half_width, 1), (found.expected[0], 2), (found.expected[1], 4)):
        low, high = wilson(95 * growth, 250 * growth, 0.95)
        assert width == pytest.approx((high - low) / 2, abs=1e-12)
    assert n_for_rate(0.38, found.expected[0] + 1e-12) == 500


def test_dialogues_for_a_difference_are_those_of_the_sample_size_function(withheld):
    assert precision_of(withheld).n_difference == n_for_difference(0.05, 0.38 * 0.62 + 0.43 * 0.57)


def test_clusters_widen_the_forecast_and_require_more_dialogues():
    rate = rate_of("live", subject("live").study.guidelines[0].defect_rules[0].name, "bot-1.4")
    result = rate.measurement.result
    found = precision_of(rate)
    share = result.value
    independent = n_for_difference(0.05, share * (1 - share) + (share + 0.05) * (0.95 - share))

    assert result.n_clusters == 6
    assert found.half_width == pytest.approx((result.high - result.low) / 2)
    assert found.n_difference > 3 * independent
    assert found.half_width / 2 < found.expected[1] < found.expected[0] < found.half_width


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n": 9}, "Fewer than 10 dialogues have a label."),
        ({"low": None, "high": None}, "The method gives no interval."),
        ({"value": 0.0, "low": 0.0, "high": 0.1}, "No dialogue is a defect, so the interval has one end."),
        ({"value": 1.0, "low": 0.9, "high": 1.0}, "All dialogues are a defect, so the interval has one end."),
        ({"low": 0.1, "high": 0.9}, "The clustering leaves fewer than 10 independent dialogues."),
        ({"low": 0.0, "high": 1.0}, "The clustering leaves fewer than 10 independent dialogues."),
    ],
    ids=["few", "no interval", "no defect", "only defects", "clustered", "whole axis"],
)
def test_without_enough_dialogues_there_is_no_forecast(withheld, changes, reason):
    found = precision_of(altered(withheld, **changes))

    assert isinstance(found, Undefined)
    assert found.reason == reason


def test_a_rate_without_labels_states_its_own_reason():
    (row,) = precision_table(subject("nothing")).texts

    assert row[3].startswith("undefined: none of 60 planned dialogues has a label")
    assert row[4:] == ("undefined", "undefined", "undefined", COST_UNKNOWN, COST_UNKNOWN)


def test_the_cost_is_that_of_the_additional_dialogues_at_the_mean_cost_of_the_run():
    made = subject("live")
    per_dialogue = 0.93 / made.evidence.answers.n_completed

    assert cost_of(made, 171) == f"${per_dialogue * 171:.2f} for 171 more"
    assert precision_table(made).texts[0][-1] == cost_of(made, 3 * 57)


@pytest.mark.parametrize(
    "spending",
    [
        Spending(),
        Spending(calls=10, cost_microusd=5, unpriced_calls=1),
        Spending(calls=10, cost_microusd=5, estimated_microusd=5),
    ],
    ids=["no call", "unpriced", "estimated"],
)
def test_without_the_price_of_each_call_the_cost_is_unknown(spending):
    assert cost_of(subject("live", changed_evidence(live_evidence(), spending=spending)), 57) == COST_UNKNOWN


def test_calls_with_a_price_of_zero_cost_nothing():
    free = changed_evidence(live_evidence(), spending=Spending(calls=418))

    assert cost_of(subject("live", free), 57) == "no cost"


def test_the_table_has_the_rates_of_the_first_screen_with_equal_intervals():
    made = subject("xstest")
    table = precision_table(made)

    assert len(table.rows) == 10
    for row, cells in zip(table.texts, table.rows, strict=True):
        result = made.findings.measurements[cells[2].estimate].result
        assert isinstance(result, Estimate)
        assert row[2] == str(result.n)
        if result.count:
            assert row[3] == f"{50 * (result.high - result.low):.1f} points"
    assert 'id="precision"' in report_named("xstest")
