from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.order.profile import relevance_profile


def test_all_fives_and_all_ones_differ_in_level_alone_and_say_so():
    fives, ones = relevance_profile([5] * 8, defect_at_most=3), relevance_profile([1] * 8, defect_at_most=3)

    assert (fives.pen, fives.cin, fives.lis, fives.notes) == (ones.pen, ones.cin, ones.lis, ones.notes)
    assert (fives.level, ones.level) == (5, 1)
    assert (fives.defect_share.value, ones.defect_share.value) == (0, 1)
    assert "all fives and all ones would look the same" in fives.notes[0]
    assert fives.lis.band is None


def test_missing_scores_are_counted_and_named():
    profile = relevance_profile([5, None, 4, float("nan"), 3, 2])

    assert (profile.n, profile.n_missing) == (4, 2)
    assert any("2 of 6 scores are missing" in note for note in profile.notes)


def test_without_a_rule_there_is_no_defect_share():
    assert isinstance(relevance_profile([1, 2, 3]).defect_share, Undefined)


def test_too_few_scores_are_refused():
    with pytest.raises(InputError, match="needs 3 scores at least; got 2 of 3"):
        relevance_profile([1, None, 2])


@pytest.mark.parametrize(
    ("scores", "words"),
    [([5, 4] * 4, "100% of the patterns hold equal scores"), ([3, 1, 2, 3], "LIS cannot pass 3")],
    ids=["ties", "few values"],
)
def test_limits_of_the_metrics_are_said(scores, words):
    assert any(words in note for note in relevance_profile(scores).notes)


def test_many_patterns_of_different_scores_leave_nothing_to_say():
    scores = [float((7 * place) % 101) for place in range(80)]

    assert relevance_profile(scores).notes == ()
