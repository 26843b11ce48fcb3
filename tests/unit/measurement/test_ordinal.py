"""The ordinal model: people, separation, gaps and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.ordinal import odds_by_threshold, ordinal_model


def drawn(people=60, each=6, slope=1.0, sd=1.5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, people * each)
    tendency = np.repeat(rng.normal(0, sd, people), each)
    y = np.digitize(slope * x + tendency + rng.logistic(size=people * each), [-1.0, 0.5, 2.0])
    return y.tolist(), {"after": x.tolist()}, np.repeat(range(people), each).tolist()


def test_effects_and_variances_are_recovered_from_simulated_data():
    answers, factors, people = drawn()

    fit = ordinal_model(answers, factors, categories=range(4), people=people)

    effect = fit.coefficients["after"]
    assert effect.low < 1.0 < effect.high
    assert fit.person_variance == pytest.approx(2.25, rel=0.45)
    assert (fit.n, fit.n_people, effect.n_clusters) == (360, 60, 60)


def test_omitting_random_effects_shrinks_effects_towards_0():
    answers, factors, people = drawn(slope=2.0)

    with_people = ordinal_model(answers, factors, categories=range(4), people=people)
    without = ordinal_model(answers, factors, categories=range(4))

    assert without.coefficients["after"].value < with_people.coefficients["after"].value
    assert without.log_likelihood < with_people.log_likelihood
    assert (without.person_variance, without.n_people) == (0.0, None)


def test_people_without_variation_have_a_variance_near_0_and_an_estimable_effect():
    answers, factors, people = drawn(sd=0.0)

    fit = ordinal_model(answers, factors, categories=range(4), people=people)

    assert fit.person_variance < 0.2
    assert fit.coefficients["after"].low < 1.0 < fit.coefficients["after"].high


def test_rows_without_an_answer_are_excluded():
    answers, factors, _ = drawn()
    gaps = ordinal_model([None, *answers], {"after": [1, *factors["after"]]}, categories=range(4))

    assert gaps.coefficients["after"].value == pytest.approx(
        ordinal_model(answers, factors, categories=range(4)).coefficients["after"].value, abs=1e-6
    )


def test_a_factor_that_determines_the_answer_has_no_finite_effect():
    result = ordinal_model([1] * 10 + [2] * 10, {"after": [0] * 10 + [1] * 10}, categories=[1, 2])

    assert isinstance(result, Undefined)
    assert "determines" in result.reason


def test_a_single_used_point_has_no_effect():
    assert isinstance(ordinal_model([1, 1], {"after": [0, 1]}, categories=[1, 2]), Undefined)


def test_a_model_without_factors_gives_the_observed_shares():
    fit = ordinal_model([1] * 5 + [2] * 3 + [3] * 2, {}, categories=[1, 2, 3])

    assert fit.thresholds == pytest.approx((0.0, np.log(4)), abs=1e-4)
    assert fit.coefficients == {}


def test_thresholds_agree_where_odds_are_proportional():
    answers, factors, _ = drawn(people=400, each=1, sd=0.0)

    fits = odds_by_threshold(answers, factors, categories=range(4))

    assert list(fits) == ["0", "1", "2"]
    for fit in fits.values():
        assert fit.coefficients["after"].low < 1.0 < fit.coefficients["after"].high


@pytest.mark.parametrize(
    ("answers", "factors"), [([1, 9], {"x": [0, 1]}), ([1, 2], {"x": [0]})], ids=["off the scale", "too short"]
)
def test_invalid_rows_are_refused(answers, factors):
    with pytest.raises(InputError, match="`answers` must be of"):
        ordinal_model(answers, factors, categories=[1, 2])
    with pytest.raises(InputError, match="must"):
        odds_by_threshold(answers, factors, categories=[1, 2])
