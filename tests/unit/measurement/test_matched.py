"""Things that the same testers met are told apart by what differs within each tester."""

from __future__ import annotations

from itertools import product

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.matched import ALIKE, TOO_FEW, told_apart


def alone(n):
    """Return a cluster for each set."""
    return [f"c{place}" for place in range(n)]


def by_formula(flags):
    """Return Cochran's Q as his paper writes it, by plain sums."""
    k, columns, rows = len(flags[0]), [sum(column) for column in zip(*flags, strict=True)], [sum(row) for row in flags]
    mean = sum(columns) / k
    above = k * (k - 1) * sum((total - mean) ** 2 for total in columns)
    return above / (k * sum(rows) - sum(total**2 for total in rows))


@pytest.mark.parametrize(
    "flags",
    [
        [(1, 1, 0), (1, 0, 0), (1, 1, 1), (0, 1, 0), (1, 1, 0), (1, 0, 1)],
        [(1, 0), (1, 0), (0, 1), (1, 0), (1, 1), (0, 0)],
        [row for row in product((0, 1), repeat=4) if row[0] >= row[3]],
    ],
)
def test_sets_of_their_own_give_the_statistic_of_the_formula(flags):
    assert told_apart(flags, alone(len(flags))).statistic == pytest.approx(by_formula(flags))


def test_two_things_give_the_statistic_of_mcnemar():
    test = told_apart([(1, 0)] * 15 + [(0, 1)] * 5 + [(1, 1)] * 9, alone(29))

    assert test.statistic == pytest.approx((15 - 5) ** 2 / (15 + 5))
    assert (test.degrees, test.n, test.effect) == (1, 29, pytest.approx(10 / 29))


def test_drawn_arrangements_come_close_to_all_of_them():
    flags = [(1, 0)] * 6 + [(0, 1)]
    ways = [abs(sum(signs)) >= 5 for signs in product((1, -1), repeat=7)]

    assert told_apart(flags, alone(7)).p_value == pytest.approx(sum(ways) / len(ways), abs=0.03)


def test_many_testers_are_compared_with_the_distribution(monkeypatch):
    flags = [(1, 0, 0)] * 8 + [(0, 1, 0)] * 5 + [(0, 0, 1)] * 3
    drawn = told_apart(flags, alone(16))
    monkeypatch.setattr(matched, "MANY", 2)
    many = told_apart(flags, alone(16))

    assert (drawn.statistic, many.method) == (many.statistic, "Cochran's Q, chi-square")
    assert many.p_value == pytest.approx(drawn.p_value, abs=0.05)


def test_repeats_of_one_tester_are_one_piece_of_evidence():
    apart = told_apart([(1, 0)] * 12, alone(12))
    same = told_apart([(1, 0)] * 12, [f"c{place // 4}" for place in range(12)])

    assert (apart.n_clusters, same.n_clusters) == (12, 3)
    assert apart.p_value < 0.01
    assert same.p_value > 0.2


@pytest.mark.parametrize(
    ("flags", "reason"),
    [([], TOO_FEW), ([(1, 0)], TOO_FEW), ([(1, 1), (0, 0)], ALIKE)],
    ids=["none", "one", "all alike"],
)
def test_where_nothing_can_be_told_it_says_why(flags, reason):
    assert told_apart(flags, alone(len(flags))) == Undefined(
        reason=reason, n=len(flags), n_clusters=len(flags), method="Cochran's Q"
    )


@pytest.mark.parametrize(("flags", "clusters"), [([(1, 0)], []), ([(1,)], ["a"])])
def test_sets_need_clusters_and_two_things(flags, clusters):
    with pytest.raises(InputError, match="two things or more"):
        told_apart(flags, clusters)
