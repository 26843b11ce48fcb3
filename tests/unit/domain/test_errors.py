from __future__ import annotations

import math

import pytest

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.instrument import MOST_POINTS, Scale, ScaleKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Budget, Sampling


@pytest.mark.parametrize(
    ("word", "words"),
    [("promptz", ". Did you mean `prompt`?"), ("goall", ". Did you mean `goal`?"), ("zebra", ""), ("", "")],
)
def test_the_closest_known_word_is_suggested(word, words):
    assert did_you_mean(word, ["prompt", "goal", "response"]) == words


TOO_SMALL = [
    (Scenario, {"name": "s", "turns": 0}, "scenario `s` needs `turns` of at least 1; turns=0"),
    (Sampling, {"repeats": 0}, "sampling needs `repeats` of at least 1; repeats=0"),
    (Sampling, {"dialogues": 0}, "sampling needs `dialogues` of at least 1; dialogues=0"),
    (Sampling, {"dialogues": -1, "repeats": 0}, "`dialogues` and `repeats` of at least 1; dialogues=-1, repeats=0"),
    (Budget, {"usd": 0.0}, "budget needs `usd` above 0; usd=0.0"),
    (Budget, {"usd": math.nan}, "budget needs `usd` above 0; usd=nan"),
    (Budget, {"tokens": 0}, "budget needs `tokens` above 0"),
    (Budget, {"calls": -5}, "budget needs `calls` above 0"),
    (ModelEndpoint, {"name": "m", "parallel": 0}, "model `m` needs `parallel` of at least 1"),
    (ModelEndpoint, {"name": "m", "attempts": 0}, "model `m` needs `attempts` of at least 1"),
    (ModelEndpoint, {"name": "m", "timeout_s": 0.0}, "model `m` needs `timeout_s` above 0; timeout_s=0.0"),
]


@pytest.mark.parametrize(("record", "values", "words"), TOO_SMALL, ids=[words for _, _, words in TOO_SMALL])
def test_a_record_refuses_meaningless_numbers(record, values, words):
    with pytest.raises(InputError) as caught:
        record(**values)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("record", "values"),
    [
        (Scenario, {"name": "s", "turns": 1}),
        (Sampling, {"dialogues": 1, "repeats": 1}),
        (Sampling, {"dialogues": None}),
        (Budget, {"usd": 0.01, "tokens": 1, "calls": 1}),
        (Budget, {"usd": None, "tokens": None, "calls": None}),
        (ModelEndpoint, {"name": "m", "parallel": 1, "attempts": 1, "timeout_s": 0.1}),
        (Scale, {"kind": ScaleKind.NUMBERS, "lowest": 0, "highest": MOST_POINTS - 1}),
        (Scale, {"kind": ScaleKind.NUMBERS, "lowest": -50, "highest": 50}),
    ],
)
def test_a_record_accepts_the_smallest_and_the_largest_valid_numbers(record, values):
    record(**values)


@pytest.mark.parametrize(("lowest", "highest"), [(0, MOST_POINTS), (1, 10**12)])
def test_a_scale_has_a_limited_number_of_points(lowest, highest):
    with pytest.raises(InputError, match="101 points at most"):
        Scale(kind=ScaleKind.NUMBERS, lowest=lowest, highest=highest)
