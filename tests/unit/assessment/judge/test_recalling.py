from __future__ import annotations

from tests.fakes.builders import guideline

from theodolite.assessment.judge.arrangement import Arrangement
from theodolite.assessment.judge.recalling import recalled


def counting():
    asked = []

    @recalled
    def words(about, arrangement):
        asked.append((about.name, arrangement.replicate))
        return f"{about.name} {arrangement.replicate}"

    return words, asked


def test_what_was_worded_once_is_not_worded_again():
    (words, asked), rule = counting(), guideline()

    assert words(rule, Arrangement()) == words(rule, Arrangement(replicate=1))
    assert len(asked) == 1


def test_each_reading_is_worded_by_itself():
    (words, _), rule = counting(), guideline()

    assert words(rule, Arrangement()) != words(rule, Arrangement(replicate=2))


def test_guidelines_are_told_apart_even_when_earlier_ones_are_gone():
    words, _ = counting()

    for number in range(600):
        assert words(guideline(name=f"g{number}"), Arrangement()) == f"g{number} 1"
