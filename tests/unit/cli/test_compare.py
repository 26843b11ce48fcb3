from __future__ import annotations

from dataclasses import replace

from tests.unit.measurement.test_sample_size import ruling, side
from theodolite.cli.compare import _not_ruled_out
from theodolite.measurement.sample_size import compare_sides


def by(one, annotator):
    return replace(one, subject=replace(one.subject, annotators=(annotator,)), instruments={})


def test_a_gate_reads_the_rates_shown_on_the_screen_only():
    final, judge, worse = ruling(set()), ruling(set()), ruling(set(range(30)))
    first = side("a", by(final, "reference"), by(judge, "judge"))
    comparison = compare_sides(first, side("b", by(final, "reference"), by(worse, "judge")))

    assert [rate.n_second for rate in comparison.rates] == [0, 30]
    assert _not_ruled_out((comparison,), 20.0) == []


def test_a_gate_fails_if_nothing_was_compared():
    empty = ruling(set(), n=3, missing={0, 1, 2})
    nothing_in_common = compare_sides(side("a", by(empty, "x")), side("b", by(empty, "y")))

    assert _not_ruled_out((compare_sides(side("a", empty), side("b", empty)),), 5.0) == [
        "a -> b, g: none of 3 pairs has a label on both sides: an increase of 5 points cannot be excluded"
    ]
    assert _not_ruled_out((nothing_in_common,), 5.0) == [
        "a -> b: no rule and annotator is on both sides, so an increase cannot be excluded"
    ]
