"""Connections of application code are observed, and refused unless the study allows them."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gateway_clock import RealClock
from theodolite.domain.application import Application, PythonCallable, Runtime
from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.applications.connections import network_use
from theodolite.gateways.factory import open_application

pytestmark = pytest.mark.integration

BOT = """import asyncio, socket, subprocess


def reply(prompt):
    if prompt.startswith("run "):
        return subprocess.run(prompt.split()[1:], capture_output=True, text=True).stdout or "nothing"
    host, _, port = prompt.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5):
        return "connected"


async def reply_later(prompt):
    host, _, port = prompt.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.close()
    return "connected"
"""

Open = Callable[..., tuple[Any, Application]]


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine on which connections are accepted."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    (tmp_path / "bot.py").write_text(BOT)
    applications: list[Any] = []

    def open_it(name: str = "reply", network: tuple[str, ...] | None = None) -> tuple[Any, Application]:
        connection = PythonCallable(target=f"bot.py:{name}", runtime=Runtime(network=network))
        application = Application(name="app", connection=connection)
        environ = {"PATH": os.environ["PATH"]}
        applications.append(
            open_application(
                application,
                models={},
                recordings=(),
                folder=tmp_path,
                environ=environ,
                clock=RealClock(),
                workspace=tmp_path / ".theodolite",
            )
        )
        return applications[-1], application

    yield open_it
    for application in applications:
        await application.close()


async def ask(application: Any, prompt: str) -> str:
    said = SayToApplication(application="app", prompt=prompt, turn=1)
    return (await application.reply(said, session="s")).text  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["reply", "reply_later"])
async def test_connections_are_observed_by_name_and_recorded(
    opened: Open, tmp_path: Path, port: int, name: str
) -> None:
    application, record = opened(name)

    assert await ask(application, f"localhost:{port}") == "connected"

    assert application.network.connections == (f"localhost:{port}",)
    assert network_use(record, tmp_path / ".theodolite") == application.network
    assert application.network.text == f"connections attempted: localhost:{port}"


async def test_started_programs_are_named_because_their_connections_are_not_observed(opened: Open) -> None:
    application, _ = opened()

    assert await ask(application, "run echo hi") == "hi\n"

    assert application.network.programs == ("echo",)
    assert "started other programs, whose connections are not observed: echo" in application.network.text


@pytest.mark.parametrize("name", ["reply", "reply_later"])
async def test_without_network_no_connection_is_possible(opened: Open, port: int, name: str) -> None:
    application, _ = opened(name, ())

    with pytest.raises(ServerFault, match=r"PermissionError: `network` of the study does not allow a connection to"):
        await ask(application, f"127.0.0.1:{port}")

    assert application.network.connections == ()
    assert application.network.refused[0].startswith("127.0.0.1")


async def test_without_network_no_program_is_started(opened: Open) -> None:
    application, _ = opened("reply", ())

    with pytest.raises(ServerFault, match="`network` of the study allows no other programs"):
        await ask(application, "run echo hi")


async def test_a_list_of_hosts_permits_only_these(opened: Open, port: int) -> None:
    application, _ = opened("reply", ("localhost",))

    assert await ask(application, f"localhost:{port}") == "connected"
    with pytest.raises(ServerFault, match=r"does not allow a connection to elsewhere\.example"):
        await ask(application, f"elsewhere.example:{port}")
    assert application.network.refused == ("elsewhere.example",)


async def test_an_allowed_host_may_have_a_port(opened: Open, port: int) -> None:
    application, _ = opened("reply", (f"127.0.0.1:{port}",))

    assert await ask(application, f"127.0.0.1:{port}") == "connected"
    with pytest.raises(ServerFault, match="does not allow a connection to 127"):
        await ask(application, f"127.0.0.1:{port + 1}")


def test_code_that_has_not_run_is_unknown() -> None:
    connection = PythonCallable(target="bot.py:reply")
    use = network_use(Application(name="app", connection=connection), Path("/nowhere"))

    assert use is not None
    assert use.text == "unknown, not run yet"
