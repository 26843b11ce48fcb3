"""Answers described."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import describe_answers

SCALE = ["never", "sometimes", "often", "always"]


def test_points_nobody_gave_are_counted_as_none():
    found = describe_answers(["often", "often", "never", None], categories=SCALE)

    assert found.counts == {"never": 1, "sometimes": 0, "often": 2, "always": 0}
    assert (found.n, found.missing) == (3, 1)
    assert (found.lower_quartile, found.median, found.upper_quartile) == ("never", "often", "often")
    assert found.top_two.value == pytest.approx(2 / 3)


def test_no_answer_has_no_median():
    found = describe_answers([None, None], categories=SCALE)

    assert (found.median, found.n, found.missing) == (None, 0, 2)
    assert isinstance(found.top_two, Undefined)


def test_people_who_answer_often_are_clusters():
    found = describe_answers(["always", "always", "never", "never"], categories=SCALE, clusters=["a", "a", "b", "b"])

    assert found.top_two.n_clusters == 2


def test_an_answer_off_the_scale_is_refused():
    with pytest.raises(InputError, match=r"got .'rarely'.. Give the full scale"):
        describe_answers(["rarely"], categories=SCALE)
