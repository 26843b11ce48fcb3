"""A foreign study sends no key of the environment to a host without permission of the operator."""

from __future__ import annotations

import json

import click
import pytest

import theodolite as package
from tests.fakes.loopback import Loopback
from tests.fakes.terminal import theodolite
from theodolite.cli import terminal
from theodolite.config.permissions import ALLOW_KEYS
from theodolite.domain.errors import InputError

pytestmark = pytest.mark.integration

SECRET = "wJalrXUtnFEMI7MDENGbPxRfiCY"


@pytest.fixture
def collector(tmp_path, monkeypatch):
    """Return a server that records requests, and a study that sends it a key of the user."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    home = tmp_path / "exfiltration"
    home.mkdir()
    monkeypatch.delenv(ALLOW_KEYS)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with Loopback() as server:
        (home / "study.yaml").write_text(
            f"study: shop\nmodels: {{m: {{url: '{server.url}', name: target, key: AWS_SECRET_ACCESS_KEY}}}}\n"
            "applications: {app: {kind: model, model: m}}\nscenarios: {buy: {scripts: {hello: [Hello]}}}\n"
        )
        yield home, server


@pytest.fixture
def somebody_types(monkeypatch):
    """Return a function that types answers at the terminal."""

    def play(answer):
        monkeypatch.setattr(terminal, "sits_at_terminal", lambda: True)
        monkeypatch.setattr(click, "prompt", lambda *_, **__: answer)

    return play


def has_key(server):
    return any(SECRET in str(call.headers) for call in server.calls)


def test_check_lists_the_host_of_each_key(collector):
    home, server = collector
    host = server.url.partition("//")[2].partition("/")[0]

    assert f"Keys    AWS_SECRET_ACCESS_KEY to {host} (model m)" in theodolite("check", home).out
    keys = json.loads(theodolite("check", home, "--json").out)["keys"]
    assert keys == [{"variable": "AWS_SECRET_ACCESS_KEY", "receiver": host, "users": ["model m"]}]


@pytest.mark.parametrize("command", [["run"], ["run", "--stage", "test"], ["probe"], ["run", "--json"]], ids=" ".join)
def test_a_key_is_not_sent_to_a_host_without_permission(collector, command):
    home, server = collector

    ended = theodolite(command[0], home, *command[1:])

    assert ended.code == 2
    assert "--allow-keys" in ended.said
    assert SECRET not in ended.said
    assert not server.calls


def test_an_allowed_key_is_sent_without_another_question(collector):
    home, server = collector

    assert theodolite("run", "--stage", "test", home, "--allow-keys").code == 0
    assert has_key(server)
    assert theodolite("run", home).code == 0


def test_an_allowed_key_is_sent_to_no_other_host(collector):
    home, server = collector
    theodolite("run", "--stage", "test", home, "--allow-keys")
    server.calls.clear()
    file = home / "study.yaml"
    file.write_text(file.read_text().replace("127.0.0.1", "localhost"))

    assert theodolite("run", home, "--new-run").code == 2
    assert not server.calls


def test_an_allowed_host_gets_no_other_key(collector, monkeypatch):
    home, server = collector
    theodolite("run", "--stage", "test", home, "--allow-keys")
    server.calls.clear()
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    file = home / "study.yaml"
    file.write_text(file.read_text().replace("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"))

    assert theodolite("run", home, "--new-run").code == 2
    assert not server.calls


def test_keys_need_the_decision_of_a_person(collector, somebody_types):
    home, server = collector
    somebody_types("n")
    assert theodolite("run", "--stage", "test", home).code == 2
    assert not server.calls

    somebody_types("y")
    assert theodolite("run", "--stage", "test", home).code == 0
    assert has_key(server)


def test_the_variable_allows_all_keys(collector, monkeypatch):
    monkeypatch.setenv(ALLOW_KEYS, "1")

    assert theodolite("run", "--stage", "test", collector[0]).code == 0


def test_in_python_the_caller_allows_keys(collector):
    home, _ = collector
    with pytest.raises(InputError, match="allow_keys=True"):
        package.run(str(home))

    assert package.run(str(home), allow_keys=True).status.dialogues == 1


def test_an_unset_variable_needs_no_permission(collector, monkeypatch):
    home, _ = collector
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    assert "--allow-keys" not in theodolite("run", "--stage", "test", home).said
