"""Models of raters: errors, guessing, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement import dawid_skene, mace, rater_models

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
def test_raters_are_ranked_by_how_they_look(model):
    given, _ = drawn()

    competence = model(given, categories=[0, 1, 2]).competence

    assert sorted(competence, key=competence.get, reverse=True) == ["ann", "ben", "cat", "dan", "eve"]
    assert competence["eve"] < 0.15


@MODELS
def test_beliefs_are_nearer_to_the_truth_than_the_worst_rater(model):
    given, truth = drawn()

    found = model(given, categories=[0, 1, 2])

    assert np.mean(found.beliefs.argmax(axis=1) == truth) > 0.9
    assert found.beliefs.sum(axis=1) == pytest.approx(1.0)
    assert found.errors.sum(axis=2) == pytest.approx(1.0)


@MODELS
def test_more_rounds_never_fit_worse(model):
    given, _ = drawn(units=60)

    few, more = (model(given, categories=[0, 1, 2], most_rounds=rounds) for rounds in (2, 50))

    assert more.log_likelihood >= few.log_likelihood - 1e-6
    assert (few.rounds, more.rounds > 2) == (2, True)


def test_errors_that_are_no_guesses_are_found():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    given = [
        (unit, rater, int(label)) for rater in "abc" for unit, label in enumerate(truth ^ (rng.random(400) < 0.05))
    ]
    given += [(unit, "turned", int(1 - label)) for unit, label in enumerate(truth)]

    found = dawid_skene(given, categories=[0, 1])

    assert found.competence["turned"] < -0.8
    assert found.errors[3] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=0.02)


def test_smoothing_keeps_raters_with_few_labels_from_certainty():
    given, _ = drawn(units=30)
    sure, doubtful = (dawid_skene([*given, (0, "new", 1)], categories=[0, 1, 2], smoothing=s) for s in (0.0, 1.0))

    assert sure.errors[-1].max() == pytest.approx(1.0)
    assert doubtful.errors[-1].max() < 0.75


@MODELS
def test_labels_that_are_missing_are_passed_over_and_strange_ones_refused(model):
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
def test_units_that_are_labelled_alike_are_searched_for_together(model, monkeypatch):
    given, _ = drawn(units=3_000)
    together = model(given, categories=[0, 1, 2], smoothing=0.1)
    monkeypatch.setattr(rater_models, "FEW_UNITS", 3_000)

    apart = model(given, categories=[0, 1, 2], smoothing=0.1)

    assert together.competence == pytest.approx(apart.competence, abs=1e-9)
    assert together.beliefs == pytest.approx(apart.beliefs, abs=1e-9)
    assert together.log_likelihood == pytest.approx(apart.log_likelihood)
