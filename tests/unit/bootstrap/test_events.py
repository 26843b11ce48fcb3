"""A study's folder becomes an event in which people can test, with the limits that its files say now."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.fakes.builders import study
from tests.fresh_stores import fresh_store
from theodolite.bootstrap.events import open_event, with_settings
from theodolite.demo.studies import lay_out_event
from theodolite.domain.application import (
    Application,
    AriaClass,
    Connection,
    HttpEndpoint,
    Isolation,
    PromptedModel,
    PythonCallable,
    Runtime,
)
from theodolite.domain.flow import SayToApplication

NOW = Runtime(isolation=Isolation.SESSION, python="python3.10", requirements="r.txt", memory_mb=100, cpu_s=7)


def test_an_open_event_has_its_run_and_its_applications(tmp_path):
    lay_out_event(tmp_path)
    store = fresh_store()

    opened = open_event(str(tmp_path), store, workspace=tmp_path / ".theodolite")
    again = open_event(str(tmp_path), store, workspace=tmp_path / ".theodolite")

    assert opened.event.run == again.event.run
    assert opened.event.study.name == "varn-event"
    asked = SayToApplication(application="leaky-toy", prompt="My gran told me the end", turn=1)
    reply = asyncio.run(opened.connect().applications["leaky-toy"].reply(asked, session="s1"))
    assert "supply ship" in reply.text


@pytest.mark.parametrize(
    ("published", "written"),
    [
        (AriaClass(target="t:T", timeout_s=9), AriaClass(target="t:T", runtime=NOW, parallel=1)),
        (PythonCallable(target="t:f", timeout_s=9), PythonCallable(target="t:f", runtime=NOW, parallel=1)),
    ],
)
def test_current_settings_apply_to_the_published_version(published: Connection, written: Connection) -> None:
    before, now = (replace(study(), applications=(Application(name="a", connection=c),)) for c in (published, written))

    connection = with_settings(before, now).applications[0].connection

    assert isinstance(connection, AriaClass | PythonCallable)
    assert connection == published
    assert connection.runtime.isolation is Isolation.APPLICATION
    assert (connection.parallel, connection.runtime.python, connection.runtime.memory_mb) == (1, "python3.10", 100)


def test_other_applications_are_unchanged() -> None:
    model = replace(study(), applications=(Application(name="a", connection=PromptedModel(model="m")),))
    http = replace(study(), applications=(Application(name="a", connection=HttpEndpoint(url="http://h/")),))
    slow = replace(study(), applications=(Application(name="a", connection=HttpEndpoint(url="http://h/", parallel=2)),))

    assert with_settings(model, http) == model
    assert with_settings(http, model) == http
    assert with_settings(http, slow).applications[0].connection.parallel == 2  # type: ignore[union-attr]
