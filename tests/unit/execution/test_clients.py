from __future__ import annotations

import pytest
from tests.fakes.builders import reply
from tests.fakes.clients import Switchboard, clients_for

from theodolite.domain.errors import ContentRefused, RunStopped, TimedOut
from theodolite.domain.failure import FailureSource
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, AskModel, SayToApplication
from theodolite.domain.run import Spending

SAID = SayToApplication(application="bot", prompt="p", turn=1)
ASKED = AskModel(model="large", messages=(), party=FailureSource.JUDGE)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_request_is_answered_by_whom_it_names(request_):
    clients = clients_for(board := Switchboard(answer=lambda request: reply(type(request).__name__, cost_microusd=5)))

    record_reply = await clients.answer(request_, "u")

    assert record_reply.text == type(request_).__name__
    assert board.asked == [request_]
    assert (clients.stop_conditions.spent.calls, clients.stop_conditions.spent.cost_microusd) == (1, 5)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_reply_that_a_filter_withheld_is_a_reply(request_):
    clients = clients_for(Switchboard(answer=lambda _: ContentRefused("filter", tries=2)))

    for _ in range(25):
        record_reply = await clients.answer(request_, "u")

    assert (record_reply.text, record_reply.finish, record_reply.attempts) == (FILTERED_TEXT, CONTENT_FILTER, 2)
    clients.stop_conditions.check()


async def test_what_a_withheld_reply_cost_is_kept_with_it():
    spent = Spending(tokens_in=9, tokens_out=4, cost_microusd=13)
    clients = clients_for(Switchboard(answer=lambda _: ContentRefused("filter", spent=spent)))

    record_reply = await clients.answer(SAID, "u")

    assert (record_reply.tokens_in, record_reply.tokens_out, record_reply.cost_microusd) == (9, 4, 13)


async def test_an_error_says_where_it_comes_from():
    clients = clients_for(Switchboard(answer=lambda _: TimedOut("30 s")))

    with pytest.raises(TimedOut) as late:
        await clients.answer(SAID, "u")

    assert late.value.endpoint == "bot"


async def test_where_an_error_names_its_endpoint_it_is_believed():
    clients = clients_for(Switchboard(answer=lambda _: TimedOut("30 s", endpoint="app")))

    with pytest.raises(TimedOut) as late:
        await clients.answer(SAID, "u")

    assert late.value.endpoint == "app"


async def test_with_the_brakes_on_nothing_is_asked():
    clients = clients_for(board := Switchboard())
    clients.stop_conditions.stop("enough")

    with pytest.raises(RunStopped, match="enough"):
        await clients.answer(SAID, "u")

    assert board.asked == []


async def test_closing_lets_go_of_everything():
    clients = clients_for(board := Switchboard(), models=["a", "b"], applications=["c"])

    await clients.close()

    assert board.closed == 3
