from __future__ import annotations

import pytest

from tests.unit.measurement.monitoring.given import IN_RUN, WRONG_FROM, series
from theodolite.domain.monitoring.history import History, Score
from theodolite.measurement.monitoring.anchors import anchor_checks, sign_test


def anchors(*sittings, human=(1, 2, 3, 4, 5), batch=""):
    scores = [
        Score(value=value, item=str(place), human=human[place] if human else None, is_anchor=True, batch=batch)
        for sitting in sittings
        for place, value in enumerate(sitting)
        if value is not None
    ]
    return History(name="anchors", scores=tuple(scores), lowest=1, highest=5)


@pytest.mark.parametrize(("up", "down", "p"), [(0, 0, 1.0), (0, 5, 1.0), (1, 0, 0.5), (3, 1, 5 / 16)])
def test_the_sign_test_counts_what_moved(up, down, p):
    assert sign_test(up, down) == pytest.approx(p)


def test_a_sitting_ends_where_an_anchor_comes_again():
    checks = anchor_checks(anchors((1, 2, 3, 4, 5), (1, 2, 3, 4, 4), (2, 2, 3, 4, 5)), 1000)

    assert [(check.n, check.n_lower, check.n_higher, check.n_farther) for check in checks] == [
        (5, 1, 0, 1),
        (5, 0, 1, 1),
    ]


def test_order_against_people_stands_beside_each_sitting():
    (check,) = anchor_checks(anchors((1, 2, 3, 4, 5), (5, 4, 3, 2, 1)), 1000)

    assert check.span == 1
    assert (check.ranking.cin, check.ranking.lis) == (10, 1)


def test_anchors_without_people_still_show_a_shift():
    checks = anchor_checks(anchors((5,) * 30, (4,) * 30, human=()), 1000)

    assert (checks[0].is_drift, checks[0].n_lower, checks[0].ranking) == (True, 30, None)


def test_a_history_without_anchors_has_no_checks():
    assert anchor_checks(series(with_anchors=False), 1000) == ()


def test_a_silent_change_of_a_noisy_judge_shows_within_three_sittings():
    drifts = [check for check in anchor_checks(series("judge"), 10_000) if check.is_drift]

    assert WRONG_FROM <= drifts[0].position // IN_RUN <= WRONG_FROM + 3


def test_several_sittings_are_held_against_as_many_first_ones():
    good, bad = [(3, 2, 4, 5, 4), (3, 3, 4, 4, 4)] * 4, [(2, 2, 3, 4, 3), (2, 2, 3, 3, 3)] * 2

    last = anchor_checks(anchors(*good, *bad), 1000)[-1]

    assert (last.n_lower, last.n_higher) == (5, 0)
    assert last.p_shift == pytest.approx(2 / 32)
