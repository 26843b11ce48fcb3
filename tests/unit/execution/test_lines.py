from __future__ import annotations

import pytest
from tests.fakes.builders import reply
from tests.fakes.lines import Switchboard, lines_to

from theodolite.domain.errors import ContentRefused, RunStopped, TimedOut
from theodolite.domain.failure import Party
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, AskModel, SayToApplication
from theodolite.domain.run import Spending

SAID = SayToApplication(application="bot", prompt="p", turn=1)
ASKED = AskModel(model="large", messages=(), party=Party.JUDGE)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_request_is_answered_by_whom_it_names(request_):
    lines = lines_to(board := Switchboard(answer=lambda request: reply(type(request).__name__, cost_microusd=5)))

    answered = await lines.answer(request_, "u")

    assert answered.text == type(request_).__name__
    assert board.asked == [request_]
    assert (lines.brakes.spent.calls, lines.brakes.spent.cost_microusd) == (1, 5)


@pytest.mark.parametrize("request_", [SAID, ASKED])
async def test_a_reply_that_a_filter_withheld_is_a_reply(request_):
    lines = lines_to(Switchboard(answer=lambda _: ContentRefused("filter", tries=2)))

    for _ in range(25):
        answered = await lines.answer(request_, "u")

    assert (answered.text, answered.finish, answered.attempts) == (FILTERED_TEXT, CONTENT_FILTER, 2)
    lines.brakes.check()


async def test_what_a_withheld_reply_cost_is_kept_with_it():
    spent = Spending(tokens_in=9, tokens_out=4, cost_microusd=13)
    lines = lines_to(Switchboard(answer=lambda _: ContentRefused("filter", spent=spent)))

    answered = await lines.answer(SAID, "u")

    assert (answered.tokens_in, answered.tokens_out, answered.cost_microusd) == (9, 4, 13)


async def test_an_error_says_where_it_comes_from():
    lines = lines_to(Switchboard(answer=lambda _: TimedOut("30 s")))

    with pytest.raises(TimedOut) as late:
        await lines.answer(SAID, "u")

    assert late.value.endpoint == "bot"


async def test_where_an_error_names_its_endpoint_it_is_believed():
    lines = lines_to(Switchboard(answer=lambda _: TimedOut("30 s", endpoint="app")))

    with pytest.raises(TimedOut) as late:
        await lines.answer(SAID, "u")

    assert late.value.endpoint == "app"


async def test_with_the_brakes_on_nothing_is_asked():
    lines = lines_to(board := Switchboard())
    lines.brakes.stop("enough")

    with pytest.raises(RunStopped, match="enough"):
        await lines.answer(SAID, "u")

    assert board.asked == []


async def test_closing_lets_go_of_everything():
    lines = lines_to(board := Switchboard(), models=["a", "b"], applications=["c"])

    await lines.close()

    assert board.closed == 3
