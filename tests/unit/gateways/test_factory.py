"""From records of a study to gateways that can be used."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.cache import FakeCache
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.model import FakeModel
from theodolite.domain.application import (
    Application,
    AriaClass,
    CacheUse,
    Connection,
    HttpEndpoint,
    ModelEndpoint,
    ModelKind,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.errors import InputError, Rejected
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.applications.aria_application import AriaApplication
from theodolite.gateways.applications.callable_application import CallableApplication
from theodolite.gateways.applications.http_application import HttpApplication
from theodolite.gateways.factory import Caching, open_application, open_model
from theodolite.gateways.models import inspect_model
from theodolite.gateways.models.cached_model import CachedModel
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.templates import PromptedModelApplication, RecordedApplication, ScriptedModel

TEAM = """import json
from aria_dialog_api_base import AriaDialogAPI


class Team(AriaDialogAPI):
    def OpenConnection(self, auth=None):
        with open("auth.json", "w") as file:
            json.dump(auth, file)
        return True

    def CloseConnection(self):
        return True

    def StartSession(self):
        return True

    def GetResponse(self, text):
        return {"success": True, "response": text}
"""
LIVE = ModelEndpoint(name="m", url="http://127.0.0.1:1/v1", model="x", key="APP_KEY")


def opened(connection: Connection, folder: Path, **environ: str) -> Any:
    return open_application(
        Application(name="app", connection=connection),
        models={"m": FakeModel()},
        recordings=(),
        folder=folder,
        environ=environ,
        clock=HastyClock(),
    )


@pytest.mark.parametrize(
    ("endpoint", "kind"), [(LIVE, ChatModel), (ModelEndpoint(name="m", script=("a",)), ScriptedModel)]
)
def test_a_model_is_opened_by_its_connection(endpoint: ModelEndpoint, kind: type) -> None:
    assert isinstance(open_model(endpoint, environ={"APP_KEY": "k"}, clock=HastyClock()), kind)


@pytest.mark.parametrize(
    ("connection", "kind"),
    [
        (RecordedFile(file="a.csv", sha256="", columns={}), RecordedApplication),
        (PromptedModel(model="m"), PromptedModelApplication),
        (HttpEndpoint(url="http://127.0.0.1:1/ask"), HttpApplication),
        (PythonCallable(target="json:dumps"), CallableApplication),
        (AriaClass(target="tests.fakes.aria:Faithful"), AriaApplication),
    ],
)
def test_an_application_is_opened_by_its_connection(connection: Connection, kind: type, tmp_path: Path) -> None:
    assert isinstance(opened(connection, tmp_path), kind)


def test_a_model_through_inspect_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_model, "find_spec", lambda name: None)
    endpoint = ModelEndpoint(name="gemini", model="google/gemini-x", kind=ModelKind.INSPECT)

    with pytest.raises(InputError, match=r"`gemini`.*pip install 'theodolite\[inspect\]'"):
        open_model(endpoint, environ={}, clock=HastyClock())


@pytest.mark.parametrize("environ", [{}, {"APP_KEY": ""}, {"APP_KEY": " \n"}])
async def test_a_missing_key_is_reported_by_the_first_health_check(environ: dict[str, str]) -> None:
    model = open_model(LIVE, environ=environ, clock=HastyClock())
    check = await model.check_endpoint()

    assert (check.alive, check.answer) == (False, "the environment variable `APP_KEY` is not set")
    assert check.hint == "put the right key into the environment variable APP_KEY"
    assert (check.spent.calls, check.spent.attempts) == (0, 0)


async def test_an_application_without_its_token_is_not_called(tmp_path: Path) -> None:
    application = opened(HttpEndpoint(url="http://127.0.0.1:1/ask", key="APP_KEY"), tmp_path)
    said = SayToApplication(application="app", prompt="hi", turn=1)

    with pytest.raises(Rejected, match="`APP_KEY` is not set") as caught:
        await application.reply(said, session="s")
    assert caught.value.tries == 0
    assert not (await application.check_endpoint()).alive


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (PromptedModel(model="n"), "needs the model `n`, which is not open; there are m"),
        (HttpEndpoint(url="nowhere"), "needs an address"),
        (HttpEndpoint(url="http://{{ prompt }}/x"), "address"),
        (HttpEndpoint(url="http://h{{ prompt }}/x"), "host and port must be fixed"),
        (HttpEndpoint(url="http://h/x", reply="text.a"), "`reply` must be"),
        (HttpEndpoint(url="http://h/x", body="{"), "`body` of application `app` must be a JSON document"),
        (HttpEndpoint(url="http://h/x", headers={"X": "{{"}), "header `X` of application `app` is not a template"),
        (PythonCallable(target="gone.py:f"), "no file `gone.py`"),
        (AriaClass(target="gone.py:Api"), "no file `gone.py`"),
        (AriaClass(target="json:dumps"), "is a function; expected a class"),
        (AriaClass(target="json:JSONDecoder"), "does not define `OpenConnection`"),
    ],
)
def test_an_application_that_cannot_be_opened_is_named_in_the_error(
    connection: Connection, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        opened(connection, tmp_path)

    assert words in str(caught.value)
    assert "application `app`" in str(caught.value) or "`reply`" in str(caught.value)


@pytest.mark.parametrize(
    ("auth", "environ", "given"),
    [
        ("", {}, {}),
        ("", {"ARIA_AUTH_JSON": '{"key": "a"}'}, {"key": "a"}),
        ("TEAM", {"ARIA_AUTH_JSON": '{"key": "a"}', "TEAM": '{"key": "b"}'}, {"key": "b"}),
    ],
)
async def test_a_class_receives_the_credentials_of_its_own_variable_or_the_default(
    auth: str, environ: dict[str, str], given: Any, tmp_path: Path
) -> None:
    (tmp_path / "team.py").write_text(TEAM)
    application = opened(AriaClass(target="team.py:Team", auth=auth), tmp_path, **environ)
    await application.reply(SayToApplication(application="app", prompt="hi", turn=1), session="s")
    await application.close()

    assert json.loads((tmp_path / "auth.json").read_text()) == given


def test_the_url_of_a_model_is_checked_before_its_account_is_opened() -> None:
    with pytest.raises(InputError, match="model `m` needs an address"):
        open_model(ModelEndpoint(name="m", url="ftp://x", model="m"), environ={}, clock=HastyClock())


@pytest.mark.parametrize(
    ("use", "always", "kind"),
    [
        (CacheUse.NO, False, ChatModel),
        (CacheUse.NO, True, CachedModel),
        (CacheUse.YES, False, CachedModel),
        (CacheUse.ALL, False, CachedModel),
    ],
)
def test_a_model_is_cached_if_the_study_or_the_user_requests_it(use: CacheUse, always: bool, kind: type) -> None:
    caching = Caching(cache=FakeCache(), always=always)

    assert type(open_model(replace(LIVE, cache=use), environ={}, clock=HastyClock(), caching=caching)) is kind


def test_a_script_is_never_cached() -> None:
    caching = Caching(cache=FakeCache(), always=True)
    script = ModelEndpoint(name="m", script=("one",), cache=CacheUse.ALL)

    assert isinstance(open_model(script, environ={}, clock=HastyClock(), caching=caching), ScriptedModel)
