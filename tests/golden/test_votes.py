"""Rules of voting against closed forms and figures computed exactly elsewhere."""

from __future__ import annotations

import pytest

from theodolite.measurement.votes import voting_outcome

MIXTURE = ((0.85, 0.98), (0.10, 0.80), (0.05, 0.55))
"""Share of dialogues, and how often one call gives the judge's usual label there."""


@pytest.mark.parametrize(
    ("most", "share", "right", "calls"),
    [
        (5, 0.5, 0.5, 4.125),
        (5, 0.8, 0.9421, 3.634),
        (5, 0.9, 0.9914, 3.319),
        (7, 0.8, 0.9667, None),
        (7, 0.9, 0.9973, 4.439),
    ],
)
def test_a_curtailed_majority_equals_the_binomial_one_with_fewer_calls(most, share, right, calls):
    outcome = voting_outcome(share, most=most)

    assert outcome.right == pytest.approx(right, abs=5.1e-5)
    assert outcome.right == pytest.approx(voting_outcome(share, most=most, curtailed=False).right)
    assert calls is None or outcome.calls == pytest.approx(calls, abs=5.1e-4)


@pytest.mark.parametrize("lead", [2, 3])
@pytest.mark.parametrize("share", [0.8, 0.9])
def test_a_lead_without_a_limit_equals_the_gamblers_ruin(share, lead):
    ratio = (1 - share) / share
    right = (1 - ratio**lead) / (1 - ratio ** (2 * lead))

    outcome = voting_outcome(share, most=301, lead=lead, curtailed=False)

    assert outcome.right == pytest.approx(right, abs=1e-9)
    assert outcome.calls == pytest.approx((2 * lead * right - lead) / (2 * share - 1), abs=1e-9)


@pytest.mark.parametrize(
    ("lead", "share", "right", "calls"),
    [(2, 0.8, 0.9412, 2.941), (2, 0.9, 0.9878, 2.439), (3, 0.8, 0.9846, 4.846), (3, 0.9, 0.9986, 3.740)],
)
def test_a_lead_gives_the_independently_computed_shares_and_calls(lead, share, right, calls):
    outcome = voting_outcome(share, most=301, lead=lead, curtailed=False)

    assert outcome.right == pytest.approx(right, abs=5.1e-5)
    assert outcome.calls == pytest.approx(calls, abs=5.1e-4)


@pytest.mark.parametrize(
    ("rule", "right", "calls"),
    [
        ({"most": 1}, 0.9405, 1.0),
        ({"most": 5, "curtailed": False}, 0.9738, 5.0),
        ({"most": 5}, 0.9738, 3.17),
        ({"most": 7}, 0.9771, 4.25),
        ({"most": 5, "lead": 2}, 0.9716, 2.20),
        ({"most": 7, "lead": 3}, 0.9767, 3.345),
        ({"most": 11, "lead": 3}, 0.9792, 3.47),
    ],
    ids=str,
)
def test_rules_on_a_mixture_of_dialogues(rule, right, calls):
    outcomes = [(weight, voting_outcome(share, **rule)) for weight, share in MIXTURE]

    assert sum(weight * outcome.right for weight, outcome in outcomes) == pytest.approx(right, abs=5.1e-5)
    assert sum(weight * outcome.calls for weight, outcome in outcomes) == pytest.approx(calls, abs=5.1e-3)
