"""Whatever an attempt is, it is made as often as the retry policy allows."""

from collections.abc import Sequence

from tests.fakes.gateway_clock import HastyClock
from theodolite.domain.errors import RateLimited, Rejected, ServerFault
from theodolite.gateways.attempt_error import Again, AttemptError
from theodolite.gateways.limits.retry import RetriesExhausted, retry
from theodolite.gateways.limits.retry_policy import RetryPolicy

BUSY = AttemptError(kind=ServerFault, words="busy", again=Again.UNTIL_SPENT)
FULL = AttemptError(kind=RateLimited, words="too many", again=Again.WHEN_ASKED)
NO = AttemptError(kind=Rejected, words="no")


async def ended(outcomes: Sequence[str | AttemptError], **retry_policy: float) -> tuple[object, list[float]]:
    """Insist on attempts of one second each that end so; return how it ended and the time spent before each."""
    left, spent = list(outcomes), []

    async def attempt(spent_s: float) -> tuple[str | AttemptError, float]:
        spent.append(spent_s)
        return left.pop(0), 1.0

    bounds = RetryPolicy(**retry_policy)  # type: ignore[arg-type]
    return await retry(attempt, retry_policy=bounds, clock=HastyClock(), key=lambda: "k"), spent


async def test_what_comes_at_the_third_try_comes_with_the_number_of_tries() -> None:
    outcome, spent = await ended([BUSY, BUSY, "here"])

    assert outcome == ("here", 3)
    assert spent[0] == 0.0
    assert spent[1] >= 1.25, "one attempt and half a first pause at least"


async def test_what_will_not_pass_is_tried_once() -> None:
    outcome, spent = await ended([NO])

    assert isinstance(outcome, RetriesExhausted)
    assert (outcome.attempt_error, outcome.tries, len(spent)) == (NO, 1, 1)


async def test_attempts_are_bounded() -> None:
    outcome, _ = await ended([BUSY] * 9, attempts=4)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries == 4


async def test_being_asked_to_wait_spends_no_attempt() -> None:
    outcome, _ = await ended([FULL, BUSY, FULL, FULL, BUSY, "here"], attempts=3, refusals=9)

    assert outcome == ("here", 6)


async def test_being_asked_to_wait_is_bounded_too() -> None:
    outcome, _ = await ended([FULL] * 9, attempts=2, refusals=4)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries == 4


async def test_so_is_the_time_that_all_of_them_take() -> None:
    outcome, spent = await ended([BUSY] * 9, attempts=9, deadline_s=5.0)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries < 9
    assert max(spent) < 5.0
