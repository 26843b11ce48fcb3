"""An event keeps to limits that are no part of a published study."""

from dataclasses import replace

import pytest

from tests.fakes.builders import study
from theodolite.bootstrap.venues import with_settings
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

NOW = Runtime(isolation=Isolation.SESSION, python="python3.10", requirements="r.txt", memory_mb=100, cpu_s=7)


@pytest.mark.parametrize(
    ("published", "written"),
    [
        (AriaClass(target="t:T", timeout_s=9), AriaClass(target="t:T", runtime=NOW, parallel=1)),
        (PythonCallable(target="t:f", timeout_s=9), PythonCallable(target="t:f", runtime=NOW, parallel=1)),
    ],
)
def test_the_settings_of_today_serve_the_version_that_was_published(published: Connection, written: Connection) -> None:
    before, now = (replace(study(), applications=(Application(name="a", connection=c),)) for c in (published, written))

    connection = with_settings(before, now).applications[0].connection

    assert isinstance(connection, AriaClass | PythonCallable)
    assert connection == published
    assert connection.runtime.isolation is Isolation.APPLICATION
    assert (connection.parallel, connection.runtime.python, connection.runtime.memory_mb) == (1, "python3.10", 100)


def test_other_applications_stay_what_they_are() -> None:
    model = replace(study(), applications=(Application(name="a", connection=PromptedModel(model="m")),))
    http = replace(study(), applications=(Application(name="a", connection=HttpEndpoint(url="http://h/")),))
    slow = replace(study(), applications=(Application(name="a", connection=HttpEndpoint(url="http://h/", parallel=2)),))

    assert with_settings(model, http) == model
    assert with_settings(http, model) == http
    assert with_settings(http, slow).applications[0].connection.parallel == 2  # type: ignore[union-attr]
