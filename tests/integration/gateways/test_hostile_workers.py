"""Application code that attacks the pipe to Theodolite fails its own call, and nothing hangs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.fakes.gateway_clock import RealClock
from theodolite.domain.application import Application, PythonCallable
from theodolite.domain.errors import GatewayError
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.applications import worker_process
from theodolite.gateways.factory import open_application

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

HEAD = """
import os, time
def pipes():
    found = []
    for number in range(3, 64):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return found
def write(frame):
    for number in pipes():
        try:
            os.write(number, frame)
        except OSError:
            pass
def answer(content):
    for number in range(99):
        write(b'{"id": %d%s}\\n' % (number, content))
def reply(prompt):
    if prompt != "attack":
        return prompt
"""

ATTACKS = {
    "no json": "    write(b'hello\\n'); time.sleep(60)",
    "a list": "    write(b'[1]\\n'); time.sleep(60)",
    "a list as number": "    write(b'{\"id\": []}\\n'); time.sleep(60)",
    "a network report without texts": '    write(b\'{"network": 5, "name": {}}\\n\'); time.sleep(60)',
    "deep": "    write(b'[' * 60000 + b'\\n'); time.sleep(60)",
    "a piece that is not text": "    answer(b', \"piece\": 5'); time.sleep(60)",
    "an answer without content": "    answer(b''); time.sleep(60)",
    "an answer of another form": "    answer(b', \"value\": [[1]]'); time.sleep(60)",
    "an answer to another question": "    answer(b', \"blocked\": true'); time.sleep(60)",
    "an exception of another form": "    answer(b', \"raised\": {}'); time.sleep(60)",
    "an endless line": "    [write(b'x' * 4096) for _ in range(600)]; time.sleep(60)",
    "closed pipes": "    [os.close(number) for number in pipes()]; time.sleep(60)",
    "a child that keeps the pipe": "    os.fork() and os._exit(0); time.sleep(60)",
}


@pytest.fixture
def application(tmp_path: Path, monkeypatch, request):
    monkeypatch.setattr(worker_process, "LARGEST_LINE", 2**20)
    (tmp_path / "app.py").write_text(HEAD + ATTACKS[request.param] + "\n    return prompt\n")
    return open_application(
        Application(name="app", connection=PythonCallable(target="app.py:reply", timeout_s=8.0)),
        models={},
        recordings=(),
        folder=tmp_path,
        environ={"PATH": os.environ["PATH"]},
        clock=RealClock(),
        workspace=tmp_path / ".theodolite",
    )


def say(prompt: str) -> SayToApplication:
    return SayToApplication(application="app", prompt=prompt, turn=1, history=())


@pytest.mark.parametrize("application", ATTACKS, indirect=True)
async def test_an_attack_on_the_pipe_fails_only_its_own_call(application) -> None:
    heard: list[str] = []
    try:
        with pytest.raises(GatewayError):
            await asyncio.wait_for(application.reply(say("attack"), session="s", on_chunk=heard.append), 60)
        after = await asyncio.wait_for(application.reply(say("hello"), session="t"), 60)
    finally:
        await application.close()

    assert after.text == "hello"
    assert all(isinstance(piece, str) for piece in heard)
