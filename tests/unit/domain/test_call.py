from theodolite.domain.call import Call, spent_on
from theodolite.domain.flow import Reply
from theodolite.domain.run import Spending


def call(**changes):
    return Call(reply=Reply(text="Yes.", **changes))


def test_calls_cost_what_their_replies_cost():
    priced = call(finish="stop", tokens_in=100, tokens_out=20, cost_microusd=70, attempts=2)

    assert spent_on([priced, priced]) == Spending(
        calls=2, attempts=4, tokens_in=200, tokens_out=40, cost_microusd=140, unpriced_calls=0
    )


def test_only_a_model_that_was_really_asked_lacks_a_price():
    application, script, model = call(), call(scripted=True, finish="stop"), call(finish="stop")

    assert [spent_on([one]).unpriced_calls for one in (application, script, model)] == [0, 0, 1]


def test_what_the_cache_gave_is_no_call():
    assert spent_on([call(attempts=0, finish="stop", cost_microusd=0)]).calls == 0
