from __future__ import annotations

import threading

import pytest
from tests.fakes.builders import annotation_task, dialogue, guideline, judge, reply, scripts, session_task, study, unit
from tests.fakes.clients import Switchboard, clients_for, held_by_hand, to_model, usual_answer

from theodolite.assessment.annotating import annotate
from theodolite.domain import errors
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    ReplayError,
    RunStopped,
    ServerFault,
    StorageUnavailable,
    TemplateError,
    TimedOut,
    Unreachable,
)
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, AskModel, SayToApplication
from theodolite.domain.run import Failure, FailureKind, FailureSource, Spending
from theodolite.domain.scenario import Scenario
from theodolite.execution.clients import _KINDS, BlockingExecutor, drive, failure_of
from theodolite.testing.sessions import run_session

SAID = SayToApplication(application="bot", prompt="p", turn=1)

ASKED = AskModel(model="large", messages=(), party=FailureSource.JUDGE)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_request_is_answered_by_its_client(request_):
    clients = clients_for(board := Switchboard(answer=lambda request: reply(type(request).__name__, cost_microusd=5)))

    record_reply = await clients.answer(request_, "u")

    assert record_reply.text == type(request_).__name__
    assert board.asked == [request_]
    assert (clients.stop_conditions.spent.calls, clients.stop_conditions.spent.cost_microusd) == (1, 5)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_reply_withheld_by_a_filter_is_a_reply(request_):
    clients = clients_for(Switchboard(answer=lambda _: ContentRefused("filter", tries=2)))

    for _ in range(25):
        record_reply = await clients.answer(request_, "u")

    assert (record_reply.text, record_reply.finish, record_reply.attempts) == (FILTERED_TEXT, CONTENT_FILTER, 2)
    clients.stop_conditions.check()


async def test_the_cost_of_a_withheld_reply_is_stored_with_it():
    spent = Spending(tokens_in=9, tokens_out=4, cost_microusd=13)
    clients = clients_for(Switchboard(answer=lambda _: ContentRefused("filter", spent=spent)))

    record_reply = await clients.answer(SAID, "u")

    assert (record_reply.tokens_in, record_reply.tokens_out, record_reply.cost_microusd) == (9, 4, 13)


async def test_an_error_states_its_source():
    clients = clients_for(Switchboard(answer=lambda _: TimedOut("30 s")))

    with pytest.raises(TimedOut) as late:
        await clients.answer(SAID, "u")

    assert late.value.endpoint == "bot"


async def test_an_endpoint_named_by_an_error_is_used_as_the_source():
    clients = clients_for(Switchboard(answer=lambda _: TimedOut("30 s", endpoint="app")))

    with pytest.raises(TimedOut) as late:
        await clients.answer(SAID, "u")

    assert late.value.endpoint == "app"


async def test_after_a_stop_no_request_is_sent():
    clients = clients_for(board := Switchboard())
    clients.stop_conditions.stop("enough")

    with pytest.raises(RunStopped, match="enough"):
        await clients.answer(SAID, "u")

    assert board.asked == []


async def test_closing_releases_everything():
    clients = clients_for(board := Switchboard(), models=["a", "b"], applications=["c"])

    await clients.close()

    assert board.closed == 3


TASK = session_task(study())

WHOLE = held_by_hand(run_session(TASK))

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
    flow = flow or run_session(TASK)
    result = await drive(flow, unit(), stored, clients=clients_for(board), journal=journal)
    return result, board, journal


async def test_a_flow_runs_to_its_end():
    result, board, journal = await driven()

    assert result == WHOLE.result
    assert tuple(board.asked) == WHOLE.requests
    assert tuple(journal.entries) == WHOLE.journal


@pytest.mark.parametrize("stored", range(5))
async def test_stored_replies_are_not_requested_again(stored):
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


async def test_a_failing_application_is_attributed_to_the_application_and_its_turn():
    result, _, journal = await driven(failing_at(3, TimedOut("30 s")))

    assert isinstance(result, Failure)
    assert (result.party, result.kind, result.turn) == (FailureSource.APPLICATION, FailureKind.TIMED_OUT, 2)
    assert len(journal.entries) == 3


async def test_a_failing_model_of_an_application_is_named_with_the_application():
    result, _, _ = await driven(failing_at(3, TimedOut("30 s", endpoint="large")))

    assert (result.party, result.application, result.endpoint) == (FailureSource.APPLICATION, "bot", "large")


async def test_a_failing_simulated_user_is_not_attributed_to_the_application():
    result, _, _ = await driven(failing_at(2, ServerFault("500")))

    assert (result.party, result.turn, result.endpoint) == (FailureSource.SIMULATED_USER, None, "user")


async def test_a_failing_judge_is_attributed_to_the_judge():
    flow = annotate(annotation_task(judge(), dialogue(), guideline()))

    result, _, _ = await driven(failing_at(0, EmptyReply("nothing")), flow=flow)

    assert (result.party, result.kind) == (FailureSource.JUDGE, FailureKind.EMPTY_REPLY)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_user_who_never_starts_is_attributed_to_the_simulated_user_even_after_a_resume(is_stored):
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


async def test_a_refusal_by_the_filter_of_the_application_is_a_turn():
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


async def test_a_database_error_ends_the_run_and_does_not_fail_the_unit():
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
        await drive(run_session(TASK), unit(), (), clients=clients, journal=journal)

    assert len(board.asked) == len(journal.entries) == 1


async def test_a_recorded_reply_is_not_stored_a_second_time():
    scene = Scenario(name="shop", scripts=scripts("s", turns=2))
    flow = run_session(session_task(study(scenarios=(scene,), personas=())))

    result, board, journal = await driven(lambda _: reply("long ago", recorded=True), flow=flow)

    assert (len(board.asked), journal.entries) == (2, [])
    assert [(turn.response, turn.response_at) for turn in result.turns] == [("long ago", None)] * 2


ERROR_TEXT = SayToApplication(application="bot", prompt="p", turn=2)


def asked(party):
    return AskModel(model="large", messages=(), party=party)


@pytest.mark.parametrize("error", GatewayError.__subclasses__(), ids=lambda error: error.__name__)
def test_every_gateway_error_has_its_own_kind(error):
    assert error in _KINDS
    assert len(set(_KINDS.values())) == len(_KINDS)


def test_every_kind_of_failure_has_an_error_except_the_one_decided_by_people():
    assert set(FailureKind) - set(_KINDS.values()) == {FailureKind.WITHDRAWN}


@pytest.mark.parametrize(
    ("request_", "party", "turn"),
    [
        (ERROR_TEXT, FailureSource.APPLICATION, 2),
        (asked(FailureSource.JUDGE), FailureSource.JUDGE, None),
        (asked(FailureSource.SIMULATED_USER), FailureSource.SIMULATED_USER, None),
        (None, FailureSource.MACHINERY, None),
    ],
)
def test_a_failure_is_attributed_to_the_called_endpoint(request_, party, turn):
    failure = failure_of(unit(annotator="grounded"), TimedOut("30 s", endpoint="e", tries=3), request_)

    assert (failure.party, failure.turn) == (party, turn)
    assert (failure.kind, failure.message, failure.endpoint, failure.tries) == (FailureKind.TIMED_OUT, "30 s", "e", 3)
    assert (failure.unit, failure.label, failure.annotator) == ("unit-1", "d001", "grounded")


@pytest.mark.parametrize(
    ("error", "kind"),
    [(TemplateError("t"), FailureKind.TEMPLATE), (ReplayError("r"), FailureKind.REPLAY)],
)
def test_an_internal_error_is_attributed_to_the_system(error, kind):
    failure = failure_of(unit(), error, ERROR_TEXT)

    assert (failure.party, failure.kind) == (FailureSource.MACHINERY, kind)


def test_an_error_of_a_plugin_counts_as_its_base_class():
    class Gone(Unreachable):
        pass

    class Strange(errors.GatewayError):
        pass

    try:
        assert failure_of(unit(), Gone("g"), ERROR_TEXT).kind is FailureKind.UNREACHABLE
        assert failure_of(unit(), Strange("s"), ERROR_TEXT).kind is FailureKind.SERVER_FAULT
    finally:
        del Gone, Strange


@pytest.fixture
def executor():
    room = BlockingExecutor()
    yield room
    room.close()


async def test_calls_run_on_one_dedicated_thread(executor):
    first = await executor.call(threading.get_ident)
    second = await executor.call(threading.get_ident)

    assert first == second != threading.get_ident()


async def test_arguments_and_results_are_passed_through(executor):
    assert await executor.call(divmod, 7, 2) == (3, 1)
    assert await executor.call(int, "11", base=2) == 3


async def test_an_error_is_passed_through(executor):
    with pytest.raises(ZeroDivisionError):
        await executor.call(divmod, 1, 0)
