"""Concurrent calls of an application never exceed the limit of its study."""

import asyncio
import threading
import time
from typing import Any

import pytest

from tests.fakes.gateway_clock import RealClock
from tests.fakes.local_worker import local_aria, local_callable
from tests.fakes.loopback import Loopback
from theodolite.domain.application import AriaClass, HttpEndpoint, PythonCallable
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.applications.http_application import HttpApplication
from theodolite.gateways.secret_redaction import Credentials

pytestmark = pytest.mark.integration

CLOCK = RealClock()


class Counter:
    """Counts concurrent calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.inside = self.most = 0

    def work(self) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.02)
        with self._lock:
            self.inside -= 1


async def say_all(application: Any, n: int = 12) -> None:
    """Send one prompt in each session concurrently."""
    said = SayToApplication(application="app", prompt="hi", turn=1)
    await asyncio.gather(*(application.reply(said, session=f"s{number}") for number in range(n)))
    await application.close()


@pytest.mark.parametrize("parallel", [1, 3])
async def test_concurrent_calls_of_a_function_equal_the_limit_of_the_study(parallel: int) -> None:
    counter = Counter()

    def reply(prompt: str) -> str:
        counter.work()
        return prompt

    connection = PythonCallable(target="app:reply", parallel=parallel)
    await say_all(local_callable("app", connection, reply, clock=CLOCK))

    assert counter.most == parallel


@pytest.mark.parametrize("parallel", [1, 3])
async def test_concurrent_calls_of_a_dialogue_class_equal_the_limit_of_the_study(parallel: int) -> None:
    counter = Counter()

    class Api:
        def OpenConnection(self, auth: Any = None) -> bool:
            return True

        def CloseConnection(self) -> bool:
            return True

        def GetVersion(self) -> str:
            return "1"

        def StartSession(self) -> bool:
            return True

        def GetResponse(self, text: str) -> dict[str, Any]:
            counter.work()
            return {"success": True, "response": text}

    connection = AriaClass(target="app:Api", parallel=parallel)
    await say_all(local_aria("app", connection, Api, credentials=Credentials(), clock=CLOCK))

    assert counter.most == parallel


@pytest.mark.parametrize("parallel", [1, 3])
async def test_concurrent_calls_of_an_http_endpoint_equal_the_limit_of_the_study(parallel: int) -> None:
    with Loopback(latency_s=0.03) as server:
        connection = HttpEndpoint(url=f"{server.root}/app", body='{"q": "{{ prompt }}"}', parallel=parallel)
        await say_all(HttpApplication("app", connection, clock=CLOCK))

    assert server.stats["max_in_flight"] == parallel
