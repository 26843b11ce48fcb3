from __future__ import annotations

import pytest

from theodolite.assessment.judge.arrangement import Arrangement


@pytest.mark.parametrize(
    ("replicate", "points", "examples", "words"),
    [
        (1, "abc", "xyz", ""),
        (2, "cba", "yzx", "labels reversed, examples from 2"),
        (3, "abc", "zxy", "examples from 3"),
        (4, "cba", "xyz", "labels reversed"),
        (7, "abc", "xyz", "another sheet number"),
    ],
)
def test_readings_differ_in_what_should_not_matter(replicate, points, examples, words):
    arrangement = Arrangement(replicate=replicate)

    assert "".join(arrangement.points("abc")) == points
    assert "".join(arrangement.turned("xyz")) == examples
    assert arrangement.words(3) == words


def test_without_examples_there_is_nothing_to_turn():
    assert Arrangement(replicate=3).turned(()) == ()
    assert Arrangement(replicate=2).words(0) == "labels reversed"
