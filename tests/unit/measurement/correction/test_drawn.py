"""Means of scores where the sample was drawn from strata, and over clusters."""

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import corrected_mean


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
