"""A real server with the seeded event for browsers; a seeded database for views alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page

from tests.browser_pages import Visitor
from tests.e2e.conftest import browser  # noqa: F401 - a fixture
from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.demo import lay_out_event
from theodolite.bootstrap.migration import migrate
from theodolite.config.workspace import workspace_for
from theodolite.domain.people.role import Role
from theodolite.web.demo import seed
from theodolite.web.models import Account, HostedStudy


@contextmanager
def demo_server(folder: Path) -> Iterator[str]:
    """Serve the seeded event from a folder and give its address."""
    words = [sys.executable, "-m", "theodolite", "serve", "--demo", "--listen", "127.0.0.1:0"]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    yield line.split()[-1].removesuffix("/demo/")
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running server with the seeded event; one for all tests of a process."""
    with demo_server(tmp_path_factory.mktemp("served")) as address:
        yield address


_VISITORS = pytest.StashKey[list[Visitor]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator:
    """Say where the browsers of a failed test stand: what happened only once is seldom seen again."""
    report = yield
    if report.failed:
        for visited in item.stash.get(_VISITORS, []):
            report.sections.append(("Where a browser stood", visited.standing))
    return report


@pytest.fixture
def visitor(browser: Browser, served: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:  # noqa: F811
    """Return a function that sits a stranger down at a browser; complaints and calls elsewhere fail the test."""
    visitors: list[Visitor] = []
    request.node.stash[_VISITORS] = visitors

    def sit_down(**options: object) -> Visitor:
        visitors.append(Visitor(browser, served, **options))
        return visitors[-1]

    yield sit_down
    for visited in visitors:
        assert visited.complaints == []
        assert visited.strangers == []
        visited.context.close()


@pytest.fixture
def page_as(visitor: Callable[..., Visitor]) -> Callable[..., Page]:
    """Return a function that opens the first page of a role, e.g. `page_as(Role.ANNOTATOR)`."""

    def open_page(role: Role, **options: object) -> Page:
        page = visitor(**options).page
        page.goto("/demo/")
        page.get_by_role("button", name=f", {role}").click()
        page.wait_for_url(lambda address: not address.endswith("/demo/"))
        return page

    return open_page


@pytest.fixture(scope="session")
def event_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the seeded event, to be copied."""
    folder = tmp_path_factory.mktemp("event")
    lay_out_event(folder)
    workspace = workspace_for(folder)
    database = database_settings(workspace)
    migrate(workspace, database, whole=True)
    configure_django(database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "WORKSPACE", workspace)
        seed(str(folder))
    return _closed(Path(database["NAME"]))


def _closed(file: Path) -> Path:
    from django.db import connection

    connection.close()
    return file


@pytest.fixture
def event(event_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostedStudy]:
    """The seeded event in a workspace of this test's own, for Django's test client and for models."""
    monkeypatch.setattr(settings, "WORKSPACE", tmp_path)
    database = database_settings(tmp_path, patience_s=1)
    shutil.copy(event_file, database["NAME"])
    configure_django(database)
    yield HostedStudy.objects.get()
    configure_django(database_settings(Path("/nonexistent")))


@pytest.fixture
def own(event: HostedStudy, tmp_path: Path) -> HostedStudy:
    """The event, open, with files of this test's own."""
    lay_out_event(tmp_path / "own")
    event.folder = str(tmp_path / "own")
    event.save()
    return event


@pytest.fixture
def client_as(event: HostedStudy) -> Callable[[Role | None], Client]:
    """Return a function that gives a test client: signed in as the person of a role, or a stranger for None."""

    def client(role: Role | None) -> Client:
        own = Client(SERVER_NAME="localhost")
        if role is not None:
            own.force_login(Account.objects.get(memberships__hosted=event, memberships__role=role.value))
        return own

    return client
