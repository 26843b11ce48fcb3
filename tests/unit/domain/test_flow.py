from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import session_task, study
from tests.fakes.clients import held_by_hand

from theodolite.domain.errors import ReplayError
from theodolite.domain.flow import Returned, Waiting, begin, replay
from theodolite.testing.sessions import run_session

TASK = session_task(study())
WHOLE = held_by_hand(run_session(TASK))


def test_an_empty_journal_brings_a_flow_to_its_first_request():
    state = replay(run_session(TASK), ())

    assert state == Waiting(0, WHOLE.requests[0])


def test_a_whole_journal_brings_a_flow_to_its_end():
    assert replay(run_session(TASK), WHOLE.journal) == Returned(WHOLE.result)


def test_a_reply_to_another_request_is_refused():
    first, *rest = WHOLE.journal

    with pytest.raises(ReplayError, match="answers another request"):
        replay(run_session(TASK), (replace(first, request_hash="0" * 64), *rest))


def test_a_gap_in_the_journal_is_refused():
    with pytest.raises(ReplayError, match="position 1"):
        replay(run_session(TASK), WHOLE.journal[1:])


def test_a_reply_after_the_end_is_refused():
    extra = replace(WHOLE.journal[-1], position=len(WHOLE.journal))

    with pytest.raises(ReplayError, match="the flow has ended"):
        replay(run_session(TASK), (*WHOLE.journal, extra))


def test_a_flow_that_asks_nothing_returns_at_once():
    def mute():
        return "done"
        yield

    assert begin(mute()) == Returned("done")
