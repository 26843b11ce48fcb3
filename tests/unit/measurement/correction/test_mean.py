"""Corrected means of scores."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import corrected_mean


def drawn(slope, n=60, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.normal(3.0, 1.0, 1000)
    scores = slope * truth + rng.normal(0.0, 0.3, 1000)
    return scores.tolist(), [*truth[:n].tolist(), *[None] * (1000 - n)], truth


def test_a_judge_that_follows_people_narrows_the_interval():
    scores, labels, truth = drawn(1.0)
    rate, plain = corrected_mean(scores, labels), corrected_mean([0.0] * 60, labels[:60])

    assert rate.low < truth.mean() < rate.high
    assert rate.high - rate.low < 0.5 * (plain.high - plain.low)


@pytest.mark.parametrize("slope", [0.0, -1.0])
def test_a_judge_that_does_not_is_not_trusted(slope):
    scores, labels, truth = drawn(slope, n=200)

    assert corrected_mean(scores, labels).value == pytest.approx(truth[:200].mean(), abs=0.02)


def test_a_constant_judge_gives_peoples_mean():
    assert corrected_mean([3.0] * 10, [1.0, 2.0, 3.0] + [None] * 7).value == pytest.approx(2.0)


def test_scores_of_people_on_all_give_their_mean():
    assert corrected_mean([5, 5, 5], [1, 2, 6]).value == pytest.approx(3.0)


def test_too_few_labels_leave_it_undefined():
    result = corrected_mean([1, 2, 3], [1, None, None])

    assert isinstance(result, Undefined)
    assert "Fewer than two units" in result.reason


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [1.0, 2.0]), "must be of the same units; got 1 and 2"),
        (([float("nan")], [1.0]), "`scores` must hold a number for every unit"),
    ],
)
def test_scores_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        corrected_mean(*arguments)


def test_a_cluster_labelled_in_part_is_refused():
    with pytest.raises(InputError, match="1 clusters are labelled in part"):
        corrected_mean([1, 2, 3], [1, None, 3], clusters="aab")


@pytest.mark.parametrize("drawn_from", [None, ["all"] * 200])
def test_labels_that_are_all_the_same_leave_room_for_others_on_the_scale(drawn_from):
    scores, labels = [3.99] * 200, [5.0] * 30 + [None] * 170

    mean = corrected_mean(scores, labels, drawn_from=drawn_from, scale=(1, 5))

    assert (mean.value, mean.high) == (5.0, 5.0)
    assert mean.low == pytest.approx(5 - 4 * (1 - 0.025 ** (1 / 30)))
    assert corrected_mean(scores, labels, drawn_from=drawn_from).low is None


def test_labels_of_clusters_that_are_all_the_same_leave_more_room():
    scores, labels = [3.99] * 200, [5.0] * 30 + [None] * 170
    ids = [unit // 5 for unit in range(200)]

    alone, together = (corrected_mean(scores, labels, clusters=names, scale=(1, 5)) for names in (None, ids))

    assert together.low < alone.low - 0.1


def test_infinite_scores_and_labels_are_refused():
    with pytest.raises(InputError, match="`scores` must hold finite numbers"):
        corrected_mean([1.0, float("inf")], [1.0, None])
    with pytest.raises(InputError, match=r"`labels` must hold finite numbers; .* \(-inf\) at position 1"):
        corrected_mean([1.0, 2.0, 3.0], [1.0, float("-inf"), None])


def judged(seed=4, n=2_000):
    """Return a judge's scores, people's scores of everything, and the judge's alarms."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, n).astype(float)
    judge = np.clip(people + rng.normal(0.5, 0.8, n), 1, 5)
    return judge, people, judge < 2.5


def sampled(people, drawn):
    return [score if is_in else None for score, is_in in zip(people.tolist(), drawn, strict=True)]


def test_a_sample_that_favours_false_alarms_tells_of_all_units_by_strata_alone():
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 2_000).astype(float)
    alarm = rng.random(2_000) < 0.2
    judge = np.where(alarm, 1.0, people)
    drawn = rng.random(2_000) < np.where(alarm, 0.5, 0.05)

    by_strata = corrected_mean(judge.tolist(), sampled(people, drawn), drawn_from=alarm.tolist())
    taken_alike = corrected_mean(judge.tolist(), sampled(people, drawn))

    assert by_strata.low < people.mean() < by_strata.high
    assert taken_alike.low > people.mean()


def test_one_stratum_is_nearly_the_plain_estimate():
    judge, people, _ = judged()
    labels = sampled(people, np.arange(len(judge)) < 100)

    one, plain = corrected_mean(judge.tolist(), labels, drawn_from=[0] * len(judge)), corrected_mean(judge, labels)

    assert one.value == pytest.approx(plain.value, abs=0.03)
    assert one.high - one.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_clusters_that_were_labelled_in_part_widen_the_interval():
    rng = np.random.default_rng(2)
    tone = np.repeat(rng.normal(0, 1, 40), 20)
    people, judge = 3 + tone, 3 + rng.normal(0, 0.3, 800)
    labels = sampled(people, np.arange(800) % 20 < 4)

    alone = corrected_mean(judge.tolist(), labels, drawn_from=[0] * 800)
    together = corrected_mean(judge.tolist(), labels, drawn_from=[0] * 800, clusters=(np.arange(800) // 20).tolist())

    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.n_clusters == 40


@pytest.mark.parametrize(
    ("labels", "reason"), [([1.0, 2.0, None, None], "one of the strata"), ([1.0, None, 2.0, None], "Fewer than two")]
)
def test_what_nobody_looked_at_is_undefined(labels, reason):
    found = corrected_mean([1.0, 2.0, 3.0, 4.0], labels, drawn_from="aabb")

    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_every_unit_needs_a_stratum():
    with pytest.raises(InputError, match="`drawn_from` must say it of every unit"):
        corrected_mean([1.0, 2.0], [1.0, None], drawn_from=["a"])
