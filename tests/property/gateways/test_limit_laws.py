"""Laws of the limits, with a clock that passes at the tests' word."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool
from theodolite.gateways.rate_window import Window

GAPS = st.lists(st.floats(0.0, 40.0), min_size=1, max_size=60)


def most_in_a_span(moments: list[float], span_s: float = 60.0) -> int:
    """Return how many of some moments, in order, lie within any one span; both ends belong to it."""
    return max(sum(start <= other <= start + span_s for other in moments) for start in moments)


class Process:
    """One process: it starts calls through a rate limiter of its own."""

    def __init__(self, clock: FakeClock, limit: int) -> None:
        self.clock = clock
        self.rate_limiter = RateLimiter(SlotPool(clock), clock, window=Window(requests=limit))

    async def start(self) -> float:
        turn = await self.rate_limiter.begin()
        self.rate_limiter.end(turn, None, answered=True)
        return self.clock.passed_s


class TestCallsPerMinute:
    """In any 60 seconds there are at most `rpm` starts, whenever calls come."""

    @given(gaps=GAPS, limit=st.integers(1, 8))
    @settings(deadline=None)
    def test_the_limit_holds_for_any_arrival_times(self, gaps: list[float], limit: int) -> None:
        async def starts() -> list[float]:
            moments = []
            process = Process(clock, limit)
            for gap_s in gaps:
                clock.passed_s += gap_s
                moments.append(await process.start())
            return moments

        clock = FakeClock()

        assert most_in_a_span(asyncio.run(starts())) <= limit

    @given(n_calls=st.integers(1, 60), limit=st.integers(1, 10))
    @settings(deadline=None)
    def test_concurrent_calls_keep_the_limit_with_the_shortest_wait(self, n_calls: int, limit: int) -> None:
        async def starts() -> list[float]:
            process = Process(clock, limit)
            return await asyncio.gather(*(process.start() for _ in range(n_calls)))

        clock = FakeClock()
        moments = sorted(asyncio.run(starts()))

        assert most_in_a_span(moments) <= limit
        assert moments[-1] <= (n_calls - 1) // limit * 60.7


class TestTokensPerMinute:
    """Calls that take what was expected of them take at most `tpm` tokens in any 60 seconds."""

    @given(sizes=st.lists(st.integers(1, 100), min_size=1, max_size=40), gaps=st.data())
    def test_the_limit_holds_for_any_sizes(self, sizes: list[int], gaps: st.DataObject) -> None:
        window, now_s, seen = Window(tokens=100), 0.0, []
        for size in sizes:
            now_s += gaps.draw(st.floats(0.0, 40.0))
            while (wait_s := window.wait_s(now_s, size)) > 0:
                now_s += wait_s
            window.settle(window.start(now_s, size), now_s)
            seen.append((now_s, size))

        assert all(sum(size for at, size in seen if start <= at <= start + 60.0) <= 100 for start, _ in seen)
