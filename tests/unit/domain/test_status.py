from __future__ import annotations

from datetime import UTC, datetime

import pytest

from theodolite.domain.run import Run, RunState
from theodolite.domain.status import RunPace, Status

RUN = Run(
    key="1" * 64,
    number=1,
    study="support",
    study_version="2" * 64,
    plan_version="3" * 64,
    state=RunState.UNFINISHED,
    started=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_calls_a_second_are_those_of_the_stretch():
    assert RunPace(calls=30, over_s=60).calls_per_s == 0.5


def test_a_stretch_without_length_has_no_pace():
    assert RunPace(calls=3, over_s=0).calls_per_s == 0


@pytest.mark.parametrize(
    ("sessions", "annotations", "pace", "left_s"),
    [
        ({"done": 5, "waiting": 10}, {"leased": 10}, RunPace(units=10, over_s=60), 120),
        ({"done": 5, "failed": 5}, {"done": 5}, RunPace(units=10), 0),
        ({"waiting": 1}, {}, RunPace(), None),
    ],
    ids=["moving", "over", "standing"],
)
def test_the_time_left_follows_from_the_pace(sessions, annotations, pace, left_s):
    assert Status(run=RUN, sessions=sessions, annotations=annotations, pace=pace).left_s == left_s
