"""Endpoints are checked before the first paid unit; an unreachable one costs five seconds only."""

import socket
from contextlib import closing

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.terminal import in_a_process, theodolite
from tests.integration.run.conftest import asked

pytestmark = pytest.mark.integration

SECRET = "sk-quiet-0123456789abcdef"


@pytest.fixture
def silent_port():
    """A port that accepts connections and sends nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield listening.getsockname()[1]


def nothing_recorded(study):
    return not (study.folder / "results.json").exists() and not study.rows("run") and not study.rows("dialogue")


def test_an_unreachable_address_is_reported_at_once_with_its_line_and_a_command(study, server):
    with Loopback() as gone:
        dead = gone.url
    folder = study.write()
    text = (folder / "study.yaml").read_text(encoding="utf-8").replace(server.url, dead, 1)
    (folder / "study.yaml").write_text(text, encoding="utf-8")

    ended = theodolite("run", folder)

    assert ended.code == 3
    assert "nobody answers (refused, 3 tries," in ended.err
    assert ended.err.split("\n")[1].endswith("line 4")
    assert f"application `bot` cannot be reached. Start it, or try\n  curl {dead}/models\n" in ended.err
    assert "Nothing recorded; 2 calls made" in ended.err
    assert nothing_recorded(study)


@pytest.mark.timeout(20)  # a call of the run itself would wait for a minute
def test_a_port_that_never_answers_is_reported_within_seconds(study, silent_port):
    folder = study.write(url=f"http://127.0.0.1:{silent_port}/v1")

    ended = theodolite("run", folder)

    assert ended.code == 3
    assert "takes connections but says nothing within 4 s, line 4" in " ".join(ended.err.split())
    assert nothing_recorded(study)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"key": "another"}, "401 Incorrect API key provided (variable SUPPORT_KEY), line 6"),
        (
            {"every": 1, "fault": "404", "models": ("jugde",)},
            "`judge` is not among jugde. Did you mean `jugde`?, line 6",
        ),
    ],
    ids=["wrong key", "unknown model"],
)
def test_a_refusal_of_the_endpoint_is_reported_with_its_line(study, server, monkeypatch, knobs, words):
    monkeypatch.setenv("SUPPORT_KEY", SECRET)
    server.knobs = type(server.knobs)(**knobs)

    ended = theodolite("run", study.write(more=", key: SUPPORT_KEY"))

    assert ended.code == 3
    assert words in " ".join(ended.err.split())
    assert nothing_recorded(study)
    assert asked(server) == 0


def test_a_missing_key_is_named_and_no_call_is_made(study, server, monkeypatch):
    monkeypatch.delenv("SUPPORT_KEY", raising=False)

    ended = theodolite("run", study.write(more=", key: SUPPORT_KEY"))

    assert ended.code == 3
    assert "the environment variable `SUPPORT_KEY` is not set, line 6" in " ".join(ended.err.split())
    assert asked(server) == 0


@pytest.mark.parametrize("right", [True, False], ids=["right key", "wrong key"])
def test_a_key_is_written_nowhere(study, server, monkeypatch, right):
    monkeypatch.setenv("SUPPORT_KEY", SECRET)
    server.knobs = type(server.knobs)(key=SECRET if right else "another")
    with_key = study.write(more=", key: SUPPORT_KEY")
    text = (with_key / "study.yaml").read_text(encoding="utf-8")
    (with_key / "study.yaml").write_text(text.replace("attempts: 1}", "attempts: 1, key: SUPPORT_KEY}"))

    ended = in_a_process("run", with_key)

    assert ended.code == (0 if right else 3), ended.said
    assert SECRET not in ended.said
    written = [file for file in study.folder.rglob("*") if file.is_file()]
    assert [file.name for file in written if SECRET.encode() in file.read_bytes()] == []


def test_a_finished_run_is_shown_again_without_a_call(study, server):
    theodolite("run", study.write(n=2))
    before = len(server.calls)

    again = theodolite("run", study.folder)

    assert (again.code, len(server.calls)) == (0, before)
