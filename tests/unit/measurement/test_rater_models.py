"""Models of raters: errors, guessing, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import rater_models
from theodolite.measurement.rater_models import (
    cross_agreement,
    dawid_skene,
    defect_rates_by_group,
    group_agreement,
    mace,
)

MODELS = pytest.mark.parametrize("model", [dawid_skene, mace])


def drawn(seed=1, units=600):
    """Return labels by four who look, with errors, and one who guesses; and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, units)
    skill = {"ann": 0.95, "ben": 0.8, "cat": 0.6, "dan": 0.4, "eve": 0.0}
    given = []
    for rater, share in skill.items():
        guess = rng.choice([0, 0, 0, 1, 2], units)
        said = np.where(rng.random(units) < share, truth, guess)
        given += [(unit, rater, int(label)) for unit, label in enumerate(said)]
    return given, truth


@MODELS
def test_raters_are_ranked_by_accuracy(model):
    given, _ = drawn()

    competence = model(given, categories=[0, 1, 2]).competence

    assert sorted(competence, key=competence.get, reverse=True) == ["ann", "ben", "cat", "dan", "eve"]
    assert competence["eve"] < 0.15


@MODELS
def test_posterior_labels_are_more_accurate_than_the_worst_rater(model):
    given, truth = drawn()

    found = model(given, categories=[0, 1, 2])

    assert np.mean(found.beliefs.argmax(axis=1) == truth) > 0.9
    assert found.beliefs.sum(axis=1) == pytest.approx(1.0)
    assert found.errors.sum(axis=2) == pytest.approx(1.0)


@MODELS
def test_more_iterations_never_reduce_the_likelihood(model):
    given, _ = drawn(units=60)

    few, more = (model(given, categories=[0, 1, 2], most_rounds=rounds) for rounds in (2, 50))

    assert more.log_likelihood >= few.log_likelihood - 1e-6
    assert (few.rounds, more.rounds > 2) == (2, True)


def test_systematic_errors_are_detected():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    given = [
        (unit, rater, int(label)) for rater in "abc" for unit, label in enumerate(truth ^ (rng.random(400) < 0.05))
    ]
    given += [(unit, "turned", int(1 - label)) for unit, label in enumerate(truth)]

    found = dawid_skene(given, categories=[0, 1])

    assert found.competence["turned"] < -0.8
    assert found.errors[3] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=0.02)


def test_smoothing_keeps_raters_with_few_labels_from_extremes():
    given, _ = drawn(units=30)
    sure, doubtful = (dawid_skene([*given, (0, "new", 1)], categories=[0, 1, 2], smoothing=s) for s in (0.0, 1.0))

    assert sure.errors[-1].max() == pytest.approx(1.0)
    assert doubtful.errors[-1].max() < 0.75


@MODELS
def test_missing_labels_are_skipped_and_unknown_ones_refused(model):
    given, _ = drawn(units=20)

    assert model([*given, (0, "ann", None)], categories=[0, 1, 2]).prevalence == pytest.approx(
        model(given, categories=[0, 1, 2]).prevalence
    )
    with pytest.raises(InputError, match="`labels` must hold labels of"):
        model([(0, "ann", 7)], categories=[0, 1])
    with pytest.raises(InputError, match="got none"):
        model([(0, "ann", None)], categories=[0, 1])
    with pytest.raises(InputError, match="`smoothing` must be"):
        model(given, categories=[0, 1, 2], smoothing=-1)


@pytest.mark.parametrize("model", [dawid_skene, mace], ids=["dawid_skene", "mace"])
def test_units_with_equal_labels_are_computed_together(model, monkeypatch):
    given, _ = drawn(units=3_000)
    together = model(given, categories=[0, 1, 2], smoothing=0.1)
    monkeypatch.setattr(rater_models, "FEW_UNITS", 3_000)

    apart = model(given, categories=[0, 1, 2], smoothing=0.1)

    assert together.competence == pytest.approx(apart.competence, abs=1e-9)
    assert together.beliefs == pytest.approx(apart.beliefs, abs=1e-9)
    assert together.log_likelihood == pytest.approx(apart.log_likelihood)


def raters(seed=0, units=80, each=8, apart=0.35):
    """Return two groups that see different things, and one rater of a third."""
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.4
    views = [truth, np.where(rng.random(units) < apart, ~truth, truth)]
    rows = [(view ^ (rng.random(units) < 0.1)) for view in views for _ in range(each)]
    return [row.tolist() for row in [*rows, truth]], ["a"] * each + ["b"] * each + ["c"]


def words(rows):
    return [[{True: "y", False: "n", None: None}[x] for x in row] for row in rows]


def test_a_group_with_a_separate_view_agrees_more_within_than_across():
    rows, groups = raters()

    found = group_agreement(words(rows), groups, categories=["n", "y"], draws=199)

    assert [part.group for part in found] == ["a", "b", "c"]
    assert found[0].within.value > found[0].across.value
    assert found[0].ratio > 1.2
    assert found[0].p_value <= found[0].adjusted_p_value <= 0.05


def test_random_groups_have_no_separate_view():
    rows, _ = raters(apart=0.0)
    groups = ["a" if place % 2 else "b" for place in range(len(rows))]

    found = group_agreement(words(rows), groups, categories=["n", "y"], draws=199)

    assert min(part.p_value for part in found) > 0.05
    assert all(part.ratio == pytest.approx(1.0, abs=0.1) for part in found)


def test_very_small_groups_give_no_result():
    rows, groups = raters()

    alone = group_agreement(words(rows), groups, categories=["n", "y"], draws=9)[2]

    assert (alone.n_raters, alone.ratio, alone.p_value, alone.adjusted_p_value) == (1, None, None, None)
    assert "too few annotators" in alone.within.reason


def test_raters_may_label_a_part_of_the_units():
    rows, groups = raters()
    gaps = [[None if (place + unit) % 3 == 0 else x for unit, x in enumerate(row)] for place, row in enumerate(rows)]

    found = group_agreement(words(gaps), groups, categories=["n", "y"], draws=99)

    assert found[0].ratio > 1.0


def test_the_same_seed_gives_the_same_p_values():
    rows, groups = raters(apart=0.1)

    one, other = (group_agreement(words(rows), groups, categories=["n", "y"], draws=99, seed=4) for _ in range(2))

    assert one == other


def test_groups_without_overlap_or_variation_have_no_agreement_across():
    assert "no labelled dialogue in common" in cross_agreement([["y", None]], [[None, "n"]], categories="yn").reason
    assert isinstance(cross_agreement([["y", "y"]], [["y", "y"]], categories="yn"), Undefined)


def test_clusters_widen_agreement_across():
    a, b = ["y", "n"] * 20, ["y", "n"] * 10 + ["n", "y"] * 10
    ids = [unit // 5 for unit in range(40)]

    alone, together = (cross_agreement([a], [b], categories="yn", clusters=clusters) for clusters in (None, ids))

    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_each_group_has_a_rate_and_the_gap_is_tested():
    rows = [[True, True, False, False]] * 6 + [[False, True, False, False]] * 6 + [[True] * 4]
    groups = ["a"] * 6 + ["b"] * 6 + ["c"]

    found = defect_rates_by_group(rows, groups)

    assert (found.rates["a"].value, found.rates["b"].value) == (0.5, 0.25)
    assert isinstance(found.rates["c"], Undefined)
    assert found.gap == pytest.approx(0.25)
    assert found.p_value < 0.01
    assert found.rates["a"].n_clusters == 6


def test_one_group_has_no_gap_and_missing_labels_are_not_zeros():
    found = defect_rates_by_group([[True, None], [True, None], [None, True]], ["a"] * 3)

    assert (found.rates["a"].value, found.gap, found.p_value) == (1.0, None, None)


def test_every_rater_must_have_a_group():
    with pytest.raises(InputError, match="`groups` must name the group of each rater; got 1 for 2"):
        group_agreement([["y"], ["n"]], ["a"], categories="yn")
    with pytest.raises(InputError, match="got 1 for 2"):
        defect_rates_by_group([[True], [True]], ["a"])
    with pytest.raises(InputError, match="`fewest` must be 2 raters or more"):
        group_agreement([["y"], ["n"]], ["a", "a"], categories="yn", fewest=1)
