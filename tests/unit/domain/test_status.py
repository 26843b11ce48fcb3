from __future__ import annotations

from datetime import UTC, datetime

import pytest

from theodolite.domain.flow import Reply
from theodolite.domain.run import Run, RunState, Spending, UnitKind
from theodolite.domain.status import Call, CallsSoFar, RunPace, Status, spent_on

RUN = Run(
    key="1" * 64,
    number=1,
    study="support",
    study_version="2" * 64,
    plan_version="3" * 64,
    state=RunState.UNFINISHED,
    started=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_calls_per_second_are_those_of_the_measured_period():
    assert RunPace(calls=30, over_s=60).calls_per_s == 0.5


def test_a_period_of_zero_length_has_no_rate():
    assert RunPace(calls=3, over_s=0).calls_per_s == 0


CALLS = {
    UnitKind.SESSION: CallsSoFar(over=30, n_over=5, under_way=20),
    UnitKind.ANNOTATION: CallsSoFar(over=4, n_over=2),
}

PACE = RunPace(calls=30, over_s=60)


@pytest.mark.parametrize(
    ("sessions", "annotations", "calls", "pace", "left_s"),
    [
        ({"done": 5, "waiting": 2, "leased": 8}, {"leased": 10}, CALLS, PACE, 120),
        ({"done": 5, "leased": 3}, {}, CALLS, PACE, 6),
        ({"done": 5, "failed": 5}, {"done": 5}, CALLS, RunPace(), 0),
        ({"leased": 10}, {"waiting": 10}, {}, PACE, None),
        ({"done": 5, "leased": 1}, {}, CALLS, RunPace(), None),
        ({"done": 5, "waiting": 1}, {}, CALLS, PACE, None),
    ],
    ids=["moving", "at their ends", "over", "none has ended yet", "standing", "left alone"],
)
def test_the_remaining_time_follows_from_remaining_calls_and_rate(sessions, annotations, calls, pace, left_s):
    status = Status(run=RUN, sessions=sessions, annotations=annotations, calls=calls, pace=pace)

    assert status.left_s == left_s


def call(**changes):
    return Call(reply=Reply(text="Yes.", **changes))


def test_the_cost_of_calls_is_that_of_their_replies():
    priced = call(finish="stop", tokens_in=100, tokens_out=20, cost_microusd=70, attempts=2)

    assert spent_on([priced, priced]) == Spending(
        calls=2, attempts=4, tokens_in=200, tokens_out=40, cost_microusd=140, unpriced_calls=0
    )


def test_only_a_called_model_lacks_a_price():
    application, script, model = call(), call(scripted=True, finish="stop"), call(finish="stop")

    assert [spent_on([one]).unpriced_calls for one in (application, script, model)] == [0, 0, 1]


def test_cache_hits_are_not_calls():
    assert spent_on([call(attempts=0, finish="stop", cost_microusd=0)]).calls == 0
