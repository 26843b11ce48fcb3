"""Rates corrected by errors that were measured elsewhere."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import rogan_gladen_rate


def test_a_perfect_judge_changes_nothing_but_the_width():
    rate = rogan_gladen_rate(30, 100, sensitivity=(50, 50), specificity=(50, 50))

    assert rate.value == pytest.approx(0.3)
    assert rate.high - rate.low > 0.17


def test_fewer_alarms_than_false_ones_alone_is_a_rate_of_0_with_room_above():
    rate = rogan_gladen_rate(1, 100, sensitivity=(80, 100), specificity=(95, 100))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high > 0.01


@pytest.mark.parametrize(
    ("judged", "caught", "passed"),
    [
        ((40, 100), (50, 100), (50, 100)),
        ((40, 100), (0, 10), (9, 10)),
        ((0, 0), (5, 5), (5, 5)),
        ((1, 2), (0, 0), (5, 5)),
    ],
)
def test_a_judge_no_better_than_chance_or_nothing_known_is_undefined(judged, caught, passed):
    assert isinstance(rogan_gladen_rate(*judged, sensitivity=caught, specificity=passed), Undefined)


def test_a_part_larger_than_its_whole_is_refused():
    with pytest.raises(InputError, match="`sensitivity` must be a part of the whole; got 6 of 5"):
        rogan_gladen_rate(1, 2, sensitivity=(6, 5), specificity=(5, 5))


def test_clusters_that_resemble_each_other_widen_the_interval():
    known = {"sensitivity": (180, 200), "specificity": (190, 200)}
    clusters = [(20, 20), (0, 20), (18, 20), (2, 20), (0, 20)]

    alone, together = rogan_gladen_rate(40, 100, **known), rogan_gladen_rate(40, 100, **known, clusters=clusters)

    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.method.endswith("design effect")


def test_a_calibration_that_does_not_fit_gives_no_rate_of_exactly_0():
    """Lee's interval of 1 alarm in 100 by a judge with 10 % false alarms ends below 0."""
    rate = rogan_gladen_rate(1, 100, sensitivity=(90, 100), specificity=(90, 100))

    assert isinstance(rate, Undefined)
    assert "called 1 of 100 a defect, fewer than its false alarms" in rate.reason
    assert "10 of 100 non-defects" in rate.reason


def test_more_alarms_than_a_judge_can_raise_give_no_rate_of_exactly_1():
    rate = rogan_gladen_rate(99, 100, sensitivity=(70, 100), specificity=(95, 100))

    assert isinstance(rate, Undefined)
    assert "more than its defects caught" in rate.reason


@pytest.mark.parametrize("positives", range(3, 11))
def test_a_rate_of_0_is_no_better_known_than_by_a_judge_without_errors(positives):
    rate = rogan_gladen_rate(positives, 100, sensitivity=(90, 100), specificity=(90, 100))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high >= 1 - 0.025 ** (1 / 100) - 1e-9
