"""What a call is expected to cost follows from its words and from earlier replies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import reply

from theodolite.domain.application import Application, PromptedModel, PythonCallable, RecordedFile
from theodolite.domain.failure import FailureSource
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Exchange, Message, SayToApplication, Speaker
from theodolite.domain.model import ModelEndpoint, Price
from theodolite.domain.run import Spending
from theodolite.domain.study import Study
from theodolite.execution.cost_estimator import CostEstimator

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
def test_a_model_that_has_not_replied_is_expected_to_say_as_much_as_it_may(model, tokens_out, cost):
    expected = expecting(model=model).expected(ASKED)

    assert expected == Spending(calls=1, tokens_in=10, tokens_out=tokens_out, cost_microusd=cost)


def test_later_replies_are_expected_to_be_as_long_as_earlier_ones():
    cost_estimator = expecting()
    for tokens in (10, 21):
        cost_estimator.learn(ASKED, reply(tokens_out=tokens))

    assert cost_estimator.expected(ASKED).tokens_out == 16


def test_a_reply_that_tells_no_tokens_is_as_long_as_its_text():
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
def test_of_what_cost_nothing_or_tells_its_cost_nothing_is_supposed(said):
    assert expecting().unreported_cost(ASKED, said) == Spending()


@pytest.mark.parametrize("said", [reply(text="x" * 60, attempts=0), reply(text="x", finish=CONTENT_FILTER)])
def test_replies_that_no_model_wrote_now_teach_nothing(said):
    cost_estimator = expecting()
    cost_estimator.learn(ASKED, said)

    assert cost_estimator.expected(ASKED).tokens_out == 100


def test_a_prompted_application_reads_its_prompt_its_files_and_the_dialogue_so_far():
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
def test_of_others_only_the_call_is_known(connection, calls):
    assert expecting(connection=connection).expected(SAID) == Spending(calls=calls)
