from __future__ import annotations

import pytest
from tests.fakes.builders import annotation_task, dialogue, guideline, judge, reply, scripts, session_task, study, unit
from tests.fakes.clients import Switchboard, clients_for, held_by_hand, to_model, usual_answer

from theodolite.assessment.annotating import annotate
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    RunStopped,
    ServerFault,
    StorageUnavailable,
    TemplateError,
    TimedOut,
)
from theodolite.domain.failure import Failure, FailureKind, FailureSource
from theodolite.domain.flow import FILTERED_TEXT, SayToApplication
from theodolite.domain.scenario import Scenario
from theodolite.execution.drive import drive
from theodolite.testing.sessions.holding import hold_session

TASK = session_task(study())
WHOLE = held_by_hand(hold_session(TASK))
DISK_FULL = StorageUnavailable("disk full")
TOO_LONG = TemplateError("too long")


class Notebook:
    """A journal on one page, which may be full."""

    def __init__(self, room=99):
        self.entries, self.room = [], room

    async def append(self, unit, entry):
        if len(self.entries) >= self.room:
            raise DISK_FULL
        self.entries.append(entry)


def failing_at(place, error):
    """Answer as usual, but with an error at one place."""
    places = iter(range(99))
    return lambda request: error if next(places) == place else usual_answer(request)


async def driven(answer=usual_answer, stored=(), flow=None, journal=None):
    board, journal = Switchboard(answer=answer), journal or Notebook()
    flow = flow or hold_session(TASK)
    result = await drive(flow, unit(), stored, clients=clients_for(board), journal=journal)
    return result, board, journal


async def test_a_flow_is_driven_to_its_end():
    result, board, journal = await driven()

    assert result == WHOLE.result
    assert tuple(board.asked) == WHOLE.requests
    assert tuple(journal.entries) == WHOLE.journal


@pytest.mark.parametrize("stored", range(5))
async def test_what_is_stored_is_not_asked_again(stored):
    result, board, journal = await driven(stored=WHOLE.journal[:stored])

    assert result == WHOLE.result
    assert tuple(board.asked) == WHOLE.requests[stored:]
    assert tuple(journal.entries) == WHOLE.journal[stored:]


async def test_a_reply_is_stored_before_the_next_request_is_made():
    journal = Notebook()
    seen = []

    def answer(request):
        seen.append(len(journal.entries))
        return usual_answer(request)

    await driven(answer, journal=journal)

    assert seen == [0, 1, 2, 3]


async def test_a_failing_application_is_the_applications_fault_and_names_the_turn():
    result, _, journal = await driven(failing_at(3, TimedOut("30 s")))

    assert isinstance(result, Failure)
    assert (result.party, result.kind, result.turn) == (FailureSource.APPLICATION, FailureKind.TIMED_OUT, 2)
    assert len(journal.entries) == 3


async def test_a_failing_model_behind_an_application_is_named_beside_the_application():
    result, _, _ = await driven(failing_at(3, TimedOut("30 s", endpoint="large")))

    assert (result.party, result.application, result.endpoint) == (FailureSource.APPLICATION, "bot", "large")


async def test_a_failing_simulated_user_is_not_the_applications_fault():
    result, _, _ = await driven(failing_at(2, ServerFault("500")))

    assert (result.party, result.turn, result.endpoint) == (FailureSource.SIMULATED_USER, None, "user")


async def test_a_failing_judge_is_the_judges_fault():
    flow = annotate(annotation_task(judge(), dialogue(), guideline()))

    result, _, _ = await driven(failing_at(0, EmptyReply("nothing")), flow=flow)

    assert (result.party, result.kind) == (FailureSource.JUDGE, FailureKind.EMPTY_REPLY)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_user_who_never_begins_is_the_simulated_users_fault_resumed_or_not(is_stored):
    def leave(request):
        return "[END]"

    journal = Notebook()
    await driven(leave, journal=journal)
    stored = journal.entries if is_stored else ()

    result, _, _ = await driven(leave, stored=stored)

    assert (result.party, result.kind, result.endpoint) == (
        FailureSource.SIMULATED_USER,
        FailureKind.EMPTY_REPLY,
        "user",
    )


async def test_a_refusal_of_the_applications_filter_is_a_turn():
    result, _, _ = await driven(lambda r: usual_answer(r) if to_model(r) else ContentRefused("filter"))

    assert [turn.response for turn in result.turns] == [FILTERED_TEXT] * 2


async def test_a_journal_of_another_flow_is_an_explicit_failure():
    result, board, _ = await driven(stored=WHOLE.journal[1:])

    assert (result.party, result.kind) == (FailureSource.MACHINERY, FailureKind.REPLAY)
    assert board.asked == []


async def test_a_template_that_cannot_be_filled_is_an_explicit_failure():
    def answer(request):
        if isinstance(request, SayToApplication):
            raise TOO_LONG
        return usual_answer(request)

    result, _, _ = await driven(answer)

    assert (result.party, result.kind) == (FailureSource.MACHINERY, FailureKind.TEMPLATE)


async def test_a_database_that_fails_ends_the_run_and_not_the_unit():
    with pytest.raises(StorageUnavailable):
        await driven(journal=Notebook(room=2))


async def test_a_stopped_run_ends_between_two_requests():
    journal = Notebook()
    clients = clients_for(Switchboard())

    def answer(request):
        clients.stop_conditions.stop("enough")
        return usual_answer(request)

    board = clients.models["user"].board
    board.answer = answer
    with pytest.raises(RunStopped, match="enough"):
        await drive(hold_session(TASK), unit(), (), clients=clients, journal=journal)

    assert len(board.asked) == len(journal.entries) == 1


async def test_a_recorded_reply_is_not_written_down_a_second_time():
    scene = Scenario(name="shop", scripts=scripts("s", turns=2))
    flow = hold_session(session_task(study(scenarios=(scene,), personas=())))

    result, board, journal = await driven(lambda _: reply("long ago", recorded=True), flow=flow)

    assert (len(board.asked), journal.entries) == (2, [])
    assert [(turn.response, turn.response_at) for turn in result.turns] == [("long ago", None)] * 2
