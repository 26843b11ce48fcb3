from __future__ import annotations

from itertools import pairwise

import pytest

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.web.charts import MOST_SQUARES, share_line, share_place, unit_strip


def test_each_of_few_answers_is_a_square_and_none_overlap():
    strip = unit_strip(2, 1, 1)
    edges = [x for x, _ in strip.squares]

    assert [kind for _, kind in strip.squares] == ["yes", "yes", "no", "open"]
    assert all(after - before > 9 for before, after in pairwise(edges))
    assert edges[-1] + 9 < strip.width


@pytest.mark.parametrize("counts", [(0, 0, 0), (MOST_SQUARES, 1, 0)], ids=["none", "many"])
def test_no_answer_and_many_have_no_squares(counts):
    assert unit_strip(*counts) is None


def test_a_share_of_few_is_a_count_without_a_line():
    few = Estimate(value=0.5, low=0.1, high=0.9, confidence=0.95, n=4, count=2, unit="u", method="m")

    assert share_line(few).at is None
    assert share_line(few).words == "2 of 4"


@pytest.mark.parametrize(
    ("found", "words"), [(None, "too few people to tell"), (Undefined(reason="None."), "none coded")], ids=str
)
def test_what_has_no_share_is_said(found, words):
    assert share_line(found).words == words


def test_a_share_stands_on_the_same_line_as_what_it_is_compared_with():
    many = Estimate(value=0.5, low=0.25, high=0.75, confidence=0.95, n=20, count=10, unit="u", method="m")

    assert share_line(many).at == share_place(0.5)
    assert share_place(0.0) < share_line(many).low < share_place(0.5) < share_place(1.0)
