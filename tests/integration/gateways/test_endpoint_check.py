"""Messages of the endpoint check."""

from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock, RealClock
from tests.fakes.loopback import KNOCK_WORDS, Loopback
from theodolite.domain.application import HttpEndpoint, ModelEndpoint, Price
from theodolite.domain.run import Spending
from theodolite.gateways.applications.http_application import HttpApplication
from theodolite.gateways.models import chat_model
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool
from theodolite.gateways.rate_window import Window
from theodolite.ports.application import EndpointCheck

pytestmark = pytest.mark.integration


async def check(
    url: str, *, secret: str = "", endpoint_check_s: float = 4.0, rate_limiter: RateLimiter | None = None, **more: Any
) -> EndpointCheck:
    """Check the endpoint of a model."""
    endpoint = ModelEndpoint(**{"name": "app", "model": "target", "url": url} | more)
    model = ChatModel(
        endpoint, key=secret, clock=HastyClock(), endpoint_check_s=endpoint_check_s, rate_limiter=rate_limiter
    )
    try:
        return await model.check_endpoint()
    finally:
        await model.close()


async def pace_of_one_call(*, left: int = 0) -> RateLimiter:
    """Return a limiter of one call per minute with this many calls left; its minute has real length."""
    clock = RealClock()
    rate_limiter = RateLimiter(SlotPool(clock), clock, window=Window(requests=1))
    if not left:
        rate_limiter.end(await rate_limiter.begin(), None, answered=True)
    return rate_limiter


async def application_of_check(url: str, *, key: str = "", endpoint_check_s: float = 4.0, **more: str) -> EndpointCheck:
    """Check an HTTP application."""
    application = HttpApplication(
        "app", HttpEndpoint(url=url, **more), key=key, clock=HastyClock(), endpoint_check_s=endpoint_check_s
    )
    try:
        return await application.check_endpoint()
    finally:
        await application.close()


def test_the_loopback_server_recognises_endpoint_checks() -> None:
    assert KNOCK_WORDS == chat_model.KNOCK_WORDS


async def test_a_check_of_a_model_states_its_name_and_the_cost_of_the_call() -> None:
    with Loopback(answers_as="gpt-5.2-2026-01-15") as server:
        told = await check(server.url, price=Price(input_usd=1.0, output_usd=1.0))

    assert told.answer == "ok, 0.0 s, answers as gpt-5.2-2026-01-15"
    assert told.host == f"127.0.0.1:{server.port}"
    assert told.spent == Spending(calls=1, attempts=1, tokens_in=120, tokens_out=30, cost_microusd=150)


async def test_an_unreachable_model_is_reported_with_attempts_and_a_command() -> None:
    with Loopback() as server:
        url = server.url
    told = await check(url)

    assert not told.alive
    assert told.answer.startswith("nobody answers (refused, 3 tries, ")
    assert told.hint == f"curl {url}/models"


async def test_a_wrong_key_names_the_variable() -> None:
    with Loopback(key="right") as server:
        told = await check(server.url, secret="wrong", key="APP_KEY")

    assert (told.alive, told.answer) == (False, "401 Incorrect API key provided (variable APP_KEY)")
    assert told.hint == "put the right key into the environment variable APP_KEY"


@pytest.mark.parametrize(("key", "alive"), [("", True), ("UNSET_KEY", False)])
async def test_a_check_without_remaining_calls_is_skipped_unless_the_key_is_missing(key: str, alive: bool) -> None:
    with Loopback() as server:
        told = await check(server.url, key=key, rate_limiter=await pace_of_one_call())

    assert (told.alive, told.answer.startswith("not asked, its limits a minute are used up for ")) == (alive, alive)
    assert (told.spent.calls, server.calls) == (0, [])


async def test_a_rejection_is_reported_without_a_second_call_in_the_window() -> None:
    with Loopback() as server:
        told = await check(f"{server.url}/none", rate_limiter=await pace_of_one_call(left=1))

    assert (told.alive, told.answer) == (False, "404 Not Found; such addresses mostly end in `/v1`")


async def test_a_slow_model_without_a_second_call_in_the_window_passes() -> None:
    with Loopback(latency_s=5.0) as server:
        told = await check(server.url, rate_limiter=await pace_of_one_call(left=1), endpoint_check_s=0.4)

    assert (told.alive, told.answer) == (True, "no answer within 0.4 s yet")


async def test_a_query_stays_in_the_address_and_the_key_is_sent_in_its_header() -> None:
    with Loopback() as server:
        more = {"key": "GATE_KEY", "key_header": "api-key"}
        good = await check(f"{server.url}?api-version=1", secret="k1", **more)
        bad = await check(f"{server.url}/none?api-version=1", secret="k1", **more)

    assert (good.alive, server.calls[0].headers["api-key"]) == (True, "k1")
    assert "Authorization" not in server.calls[0].headers
    assert bad.hint == f'curl -H "api-key: $GATE_KEY" "{server.url}/none/models?api-version=1"'


async def test_a_missing_key_and_a_wrong_key_have_different_messages() -> None:
    with Loopback(key="right") as server:
        told = await check(server.url)

    assert told.answer == "401 Incorrect API key provided (the study names no `key:`)"
    assert told.hint.startswith("write `key: NAME`")


async def test_an_unknown_model_lists_the_available_names() -> None:
    with Loopback(every=1, fault="404", models=("judge", "target", "user-sim")) as server:
        told = await check(server.url, model="targte")

    assert not told.alive
    assert told.answer.endswith("; `targte` is not among judge, target, user-sim. Did you mean `target`?")


async def test_an_error_about_a_field_names_the_field_and_not_the_model() -> None:
    words = "Unsupported value: 'temperature' does not support 0 with this model."
    with Loopback(faults=("400",), api_error=words) as server:
        told = await check(server.url, model="other", params={"temperature": 0, "temp": 1})

    assert (told.alive, told.answer) == (False, f"400 {words}")
    assert told.hint == "change `temperature` under `params` of model `app`, or leave it out"


async def test_an_unsupported_stream_field_is_omitted_with_a_message() -> None:
    with Loopback(refuses_usage="400") as server:
        told = await check(server.url, stream=True)

    assert (told.alive, told.answer) == (True, "ok, 0.0 s, no token counts of streams, answers as target")
    assert (told.spent.attempts, told.spent.tokens, told.spent.unpriced_calls) == (2, 0, 1)


async def test_streaming_can_be_switched_off_for_a_server_that_does_not_support_it() -> None:
    with Loopback(every=1, fault="400", api_error="`stream` is not supported") as server:
        told = await check(server.url, stream=True)

    assert told.hint == "write `stream: null` under `params` of model `app`, so that it is not sent"


async def test_a_long_list_of_available_names_is_shortened() -> None:
    with Loopback(every=1, fault="404", models=tuple(f"m{number:02}" for number in range(30))) as server:
        told = await check(server.url, model="zzz")

    assert told.answer.endswith("m06, m07 and 22 more")


async def test_an_address_without_v1_is_mentioned_as_a_cause() -> None:
    with Loopback() as server:
        told = await check(server.root)

    assert told.answer == "404 Not Found; such addresses mostly end in `/v1`"


@pytest.mark.parametrize(
    ("fault", "alive", "words"),
    [
        ("429", True, "there, but busy: 429"),
        ("empty", True, "but the reply holds no text"),
        ("filter", True, "content filter withheld"),
        ("500", False, "500 Internal Server Error (3 tries"),
        ("html", False, "not JSON but an HTML page"),
        ("not-http", False, "not HTTP as agreed"),
        ("400", False, "400 `temperature` is not supported"),
    ],
)
async def test_a_reachable_endpoint_of_another_kind_is_reported(fault: str, *, alive: bool, words: str) -> None:
    with Loopback(every=1, fault=fault) as server:
        told = await check(server.url)

    assert told.alive is alive
    assert words in told.answer


async def test_a_server_slower_than_the_deadline_counts_as_reachable() -> None:
    with Loopback(every=1, fault="hang") as server:
        told = await check(server.url, endpoint_check_s=0.2)
        told_too = await application_of_check(f"{server.root}/app", endpoint_check_s=0.2)

    assert (told.alive, told.answer) == (True, "connected, no answer within 0.2 s yet")
    assert (told_too.alive, told_too.answer) == (True, "connected, no answer within 0.2 s yet")


@pytest.mark.parametrize(
    ("fault", "alive", "words"),
    [
        ("ok", True, "ok, 0.0 s"),
        ("404", True, "there, answers 404 to OPTIONS"),
        ("500", True, "there, answers 500 to OPTIONS"),
        ("401", False, "401"),
        ("403", True, "there, answers 403 to OPTIONS"),
        ("not-http", False, "not HTTP as agreed"),
        ("reset", False, "the connection broke off"),
    ],
)
async def test_every_response_except_a_refused_key_counts_as_a_reachable_application(
    fault: str, *, alive: bool, words: str
) -> None:
    with Loopback(every=1, fault=fault) as server:
        told = await application_of_check(f"{server.root}/app?q={{{{ prompt }}}}")

    assert told.alive is alive
    assert words in told.answer


async def test_an_unreachable_application_is_reported_with_a_command() -> None:
    with Loopback() as server:
        root = server.root
    told = await application_of_check(f"{root}/chat")

    assert told.answer.startswith("nobody answers (refused, 3 tries, ")
    assert told.hint == f"curl -X OPTIONS {root}"


async def test_a_check_works_with_the_clock_of_the_machine() -> None:
    with Loopback(faults=("500",)) as server:
        model = ChatModel(ModelEndpoint(name="app", url=server.url, model="target"), clock=RealClock())
        told = await model.check_endpoint()
        await model.close()

    assert told.alive
    assert told.spent.attempts == 2
