from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.fakes.builders import reply

from theodolite.domain.application import Application, ModelEndpoint, Price, PromptedModel, PythonCallable, RecordedFile
from theodolite.domain.errors import EmptyReply, Rejected, RunStopped, ServerFault, TimedOut
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Exchange, Message, SayToApplication, Speaker
from theodolite.domain.run import FailureSource, Spending
from theodolite.domain.study import Budget, Study
from theodolite.execution.stop_conditions import FAILURES_IN_A_ROW, CostEstimator, StopConditions, spent_with

PRICED = reply(tokens_in=100, tokens_out=20, cost_microusd=400_000, attempts=2)

LAST = FAILURES_IN_A_ROW


def braked(stop_conditions):
    with pytest.raises(RunStopped) as stopped:
        stop_conditions.check()
    return str(stopped.value)


def refuse(stop_conditions, times, endpoint="large", start=0):
    for number in range(start, start + times):
        stop_conditions.record_failure(endpoint, Rejected("401 invalid key"), f"u{number}")


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(usd=1), r"\$1.00 is spent"),
        (Budget(tokens=360), "360 tokens is spent"),
        (Budget(calls=3), "3 calls is spent"),
    ],
)
def test_an_exhausted_budget_allows_no_further_call(budget, words):
    stop_conditions = StopConditions(budget=budget)
    for _ in range(2):
        stop_conditions.record_reply("large", PRICED)
        stop_conditions.check()

    stop_conditions.record_reply("large", PRICED)

    with pytest.raises(RunStopped, match=words):
        stop_conditions.check()


def test_a_budget_exhausted_by_an_earlier_run_allows_no_call():
    stop_conditions = StopConditions(budget=Budget(calls=3))
    stop_conditions.spent = Spending(calls=3)

    assert "3 calls" in braked(stop_conditions)


def test_a_budget_counts_the_cost_of_other_processes():
    stop_conditions = StopConditions(budget=Budget(calls=3))
    stop_conditions.record_reply("large", PRICED)

    stop_conditions.learn(Spending(calls=3))
    stop_conditions.learn(Spending(calls=2))  # stored a moment ago, and behind by now

    assert "3 calls" in braked(stop_conditions)


def test_without_a_budget_the_run_does_not_stop():
    stop_conditions = StopConditions(budget=Budget())
    stop_conditions.spent = Spending(calls=10**9, cost_microusd=10**15, tokens_in=10**12)

    stop_conditions.check()


def test_twenty_refusals_in_a_row_stop_a_run_and_name_the_endpoint():
    stop_conditions = StopConditions(budget=Budget())
    refuse(stop_conditions, LAST - 1)
    stop_conditions.check()

    refuse(stop_conditions, 1)

    assert braked(stop_conditions) == "20 consecutive calls to `large` were rejected: 401 invalid key"


def test_a_stop_names_the_model_behind_an_application():
    stop_conditions = StopConditions(budget=Budget())
    for number in range(LAST):
        stop_conditions.record_failure("bot", Rejected("401 invalid key", endpoint="large", status=401), f"u{number}")

    assert braked(stop_conditions) == "20 consecutive calls to `large` were rejected: 401 invalid key"


def test_a_successful_reply_resets_the_count_of_refusals():
    stop_conditions = StopConditions(budget=Budget())
    refuse(stop_conditions, LAST - 1)
    stop_conditions.record_reply("large", PRICED)
    refuse(stop_conditions, LAST - 1)

    stop_conditions.check()
    assert stop_conditions.endpoint_failures() == frozenset()


def test_refusals_are_counted_per_endpoint():
    stop_conditions = StopConditions(budget=Budget())
    refuse(stop_conditions, LAST - 1, "large")
    refuse(stop_conditions, LAST - 1, "bot")
    stop_conditions.record_reply("bot", PRICED)

    stop_conditions.check()
    refuse(stop_conditions, 1, "large")
    assert "`large`" in braked(stop_conditions)


def test_a_budget_of_calls_counts_failed_calls():
    stop_conditions = StopConditions(budget=Budget(calls=2))
    stop_conditions.record_failure("large", TimedOut("late"), "u")
    stop_conditions.record_reply("large", PRICED)

    assert braked(stop_conditions) == "the budget of 2 calls is spent"


def test_units_refused_before_the_stop_are_released():
    stop_conditions = StopConditions(budget=Budget())
    refuse(stop_conditions, LAST + 2)

    assert stop_conditions.endpoint_failures() == {f"u{number}" for number in range(LAST + 2)}


def test_a_late_reply_does_not_fail_the_released_units():
    stop_conditions = StopConditions(budget=Budget())
    refuse(stop_conditions, LAST)
    stop_conditions.record_reply("large", PRICED)

    assert len(stop_conditions.endpoint_failures()) == LAST
    assert braked(stop_conditions)


def test_the_first_reason_is_reported():
    stop_conditions = StopConditions(budget=Budget())
    stop_conditions.stop("first")
    stop_conditions.stop("second")

    assert braked(stop_conditions) == "first"


def test_an_unusable_reply_counts_towards_the_budget():
    stop_conditions = StopConditions(budget=Budget(usd=1))
    error = EmptyReply("the token limit was reached first", spent=Spending(tokens_out=900, cost_microusd=1_000_000))
    stop_conditions.record_failure("large", error, unit="u1")

    with pytest.raises(RunStopped, match=r"\$1.00 is spent"):
        stop_conditions.check()
    assert stop_conditions.spent == Spending(calls=1, attempts=1, tokens_out=900, cost_microusd=1_000_000)


def test_refused_calls_are_counted_with_their_attempts():
    stop_conditions = StopConditions(budget=Budget())
    stop_conditions.record_failure("large", TimedOut("late", tries=5), "u")
    stop_conditions.record_reply("large", PRICED)

    assert (stop_conditions.spent.calls, stop_conditions.spent.attempts) == (2, 7)


@pytest.mark.parametrize(
    ("said", "spent"),
    [
        (PRICED, Spending(calls=1, attempts=2, tokens_in=100, tokens_out=20, cost_microusd=400_000)),
        (reply(), Spending(calls=1, attempts=1)),
        (reply(tokens_in=3), Spending(calls=1, attempts=1, tokens_in=3, unpriced_calls=1)),
        (reply(tokens_in=3, cost_microusd=0), Spending(calls=1, attempts=1, tokens_in=3)),
    ],
)
def test_the_cost_of_a_reply_is_the_reported_one(said, spent):
    assert spent_with(Spending(), said) == spent


def test_a_gap_in_a_recording_is_not_a_refused_call():
    stop_conditions = StopConditions(budget=Budget())
    for number in range(2 * LAST):
        stop_conditions.record_failure("old", ServerFault("no such row", tries=0), f"u{number}")

    stop_conditions.check()
    assert stop_conditions.spent == Spending()


class Prophet:
    """Expects the same of every call."""

    def __init__(self, **expected):
        self.spending, self.learnt = Spending(**expected), []

    def expected(self, request):
        return self.spending

    def unreported_cost(self, request, said):
        told = said.cost_microusd is not None
        return Spending() if told else Spending(estimated_tokens=60, estimated_microusd=300_000)

    def learn(self, request, said):
        self.learnt.append(said)


CENTS = {"calls": 1, "tokens_in": 100, "tokens_out": 20, "cost_microusd": 400_000}


@pytest.mark.parametrize(
    "budget", [Budget(usd=1), Budget(tokens=300), Budget(calls=2)], ids=["money", "tokens", "calls"]
)
async def test_the_budget_limits_concurrent_calls(budget):
    stop_conditions, n_at_once, made = StopConditions(budget=budget, cost_estimator=Prophet(**CENTS)), 0, []

    async def call():
        nonlocal n_at_once
        reserved = await stop_conditions.reserve("q")
        n_at_once += 1
        made.append(n_at_once)
        await asyncio.sleep(0)
        n_at_once -= 1
        stop_conditions.record_reply("large", PRICED)
        stop_conditions.settle("q", reserved, PRICED)

    ended = await asyncio.gather(*(call() for _ in range(9)), return_exceptions=True)

    assert (made, sum(isinstance(one, RunStopped) for one in ended)) == ([1, 2], 7)
    assert stop_conditions.spent.cost_microusd == 800_000


async def test_a_lower_cost_than_estimated_frees_budget():
    stop_conditions = StopConditions(budget=Budget(usd=1), cost_estimator=Prophet(**CENTS))
    cheap = reply(cost_microusd=1)
    for _ in range(20):
        reserved = await stop_conditions.reserve("q")
        stop_conditions.record_reply("large", cheap)
        stop_conditions.settle("q", reserved, cheap)

    assert stop_conditions.spent.calls == len(stop_conditions.cost_estimator.learnt) == 20


@pytest.mark.parametrize(("budget", "calls"), [(Budget(usd=1), 3), (Budget(tokens=220), 2)], ids=["money", "tokens"])
async def test_replies_without_token_counts_are_charged_by_their_length(budget, calls):
    stop_conditions = StopConditions(budget=budget, cost_estimator=Prophet(**CENTS))
    for _ in range(calls):
        reserved = await stop_conditions.reserve("q")
        stop_conditions.record_reply("large", reply())
        stop_conditions.settle("q", reserved, reply())

    with pytest.raises(RunStopped, match=f"{60 * calls} tokens estimated"):
        await stop_conditions.reserve("q")
    assert (stop_conditions.spent.tokens, stop_conditions.spent.cost_microusd) == (0, 0)


@pytest.mark.parametrize("budget", [Budget(usd=1), Budget(tokens=300)], ids=["money", "tokens"])
def test_an_estimated_cost_of_an_earlier_run_remains_charged(budget):
    stop_conditions = StopConditions(budget=budget)
    stop_conditions.spent = Spending(calls=4, estimated_tokens=240, estimated_microusd=800_000)
    stop_conditions.check()

    stop_conditions.spent += Spending(tokens_in=60, cost_microusd=200_000)

    assert braked(stop_conditions).endswith("is spent (240 tokens estimated: replies report no token counts)")


async def test_a_failed_call_releases_its_reserved_budget():
    stop_conditions = StopConditions(budget=Budget(calls=1), cost_estimator=Prophet(calls=1))
    stop_conditions.settle("q", await stop_conditions.reserve("q"), None)

    assert await stop_conditions.reserve("q") == Spending(calls=1)


async def test_a_budget_below_the_first_call_stops_before_it():
    stop_conditions = StopConditions(budget=Budget(usd=0.1), cost_estimator=Prophet(**CENTS))

    with pytest.raises(RunStopped, match=r"the budget of \$0.10 does not cover another call \(about \$0.40\)"):
        await stop_conditions.reserve("q")
    assert stop_conditions.remedy == "raise `budget` in the study"


async def test_without_a_limit_nothing_is_reserved():
    assert await StopConditions(budget=Budget(), cost_estimator=Prophet(**CENTS)).reserve("q") is None


PRICE = Price(input_usd=2, output_usd=8)

LARGE = ModelEndpoint(name="large", url="http://h/v1", price=PRICE, params={"max_tokens": 100})

ASKED = AskModel(model="large", messages=(Message(speaker=Speaker.USER, text="x" * 30),), party=FailureSource.JUDGE)

SAID = SayToApplication(
    application="bot",
    prompt="x" * 6,
    turn=2,
    item="i",
    repeat=1,
    history=(Exchange(prompt="x" * 3, response="x" * 3),),
    context="x" * 6,
)


def expecting(*, model=LARGE, connection=None):
    connection = connection or PromptedModel(model="large", system="x" * 9, context={"a": "x" * 3})
    application = Application(name="bot", connection=connection)
    return CostEstimator(Study(name="s", applications=(application,), scenarios=(), models=(model,)))


@pytest.mark.parametrize(
    ("model", "tokens_out", "cost"),
    [(LARGE, 100, 820), (replace(LARGE, params={}), 500, 4020), (replace(LARGE, price=None), 100, 0)],
    ids=["as params allow", "as usual", "without a price"],
)
def test_the_first_reply_of_a_model_is_estimated_at_its_maximum_length(model, tokens_out, cost):
    expected = expecting(model=model).expected(ASKED)

    assert expected == Spending(calls=1, tokens_in=10, tokens_out=tokens_out, cost_microusd=cost)


def test_later_replies_are_estimated_from_earlier_ones():
    cost_estimator = expecting()
    for tokens in (10, 21):
        cost_estimator.learn(ASKED, reply(tokens_out=tokens))

    assert cost_estimator.expected(ASKED).tokens_out == 16


def test_a_reply_without_token_counts_is_estimated_from_its_text():
    cost_estimator = expecting()
    untold = reply(text="x" * 60)
    cost_estimator.learn(ASKED, untold)

    assert cost_estimator.expected(ASKED).tokens_out == 20
    assert cost_estimator.unreported_cost(ASKED, untold) == Spending(estimated_tokens=30, estimated_microusd=180)


@pytest.mark.parametrize(
    "said",
    [
        reply(text="x" * 60, attempts=0),
        reply(text="x" * 60, finish=CONTENT_FILTER),
        reply(text="x" * 60, tokens_out=5),
        reply(text="x" * 60, cost_microusd=0),
    ],
    ids=["cached", "withheld", "tokens told", "cost told"],
)
def test_free_replies_and_replies_with_a_price_need_no_estimate(said):
    assert expecting().unreported_cost(ASKED, said) == Spending()


@pytest.mark.parametrize("said", [reply(text="x" * 60, attempts=0), reply(text="x", finish=CONTENT_FILTER)])
def test_scripted_replies_do_not_change_the_estimate(said):
    cost_estimator = expecting()
    cost_estimator.learn(ASKED, said)

    assert cost_estimator.expected(ASKED).tokens_out == 100


def test_the_estimate_of_a_prompted_application_includes_prompt_files_and_dialogue():
    cost_estimator = expecting()
    cost_estimator.learn(SAID, reply(tokens_out=7))

    assert cost_estimator.expected(SAID) == Spending(calls=1, tokens_in=10, tokens_out=7, cost_microusd=76)


@pytest.mark.parametrize(
    ("connection", "calls"),
    [
        (RecordedFile(file="a.csv", sha256="0" * 64, columns={}), 0),
        (PythonCallable(target="bot:reply"), 1),
    ],
)
def test_other_applications_are_estimated_by_the_number_of_calls(connection, calls):
    assert expecting(connection=connection).expected(SAID) == Spending(calls=calls)
