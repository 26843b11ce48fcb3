"""A real server with the seeded event for browsers; a seeded database for views alone."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from filelock import FileLock
from playwright.sync_api import Browser, Page

from tests.browser_pages import Visitor, load_by_click
from tests.fakes.hosts import FakeHostResolver
from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.migration import migrate
from theodolite.config.permissions import WORKSPACE_NAME, workspace_for
from theodolite.demo.event import seed
from theodolite.demo.studies import lay_out_event
from theodolite.domain.event import Role
from theodolite.web.asgi_handler import close_pool
from theodolite.web.models import Account, HostedStudy

DEMO_FOLDER = "theodolite-event"
"""Folder of the event, in the folder in which `serve --demo` is started."""

SEEDING = "seeding"
"""Folder in which the event is seeded."""


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
    process.wait(timeout=120)
    process.stdout.close()


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the seeded event, made once for all processes of this run; to be copied."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "seeded"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            making = folder.with_name(SEEDING)
            making.mkdir()
            with demo_server(making):
                pass
            making.rename(folder)
    return folder


@pytest.fixture(scope="session")
def seeded_copy(seeded: Path) -> Callable[[Path], Path]:
    """Return a function that copies the seeded event into a folder, so that a server seeds nothing."""

    def copy(folder: Path) -> Path:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        (database,) = folder.glob(f"{DEMO_FOLDER}/{WORKSPACE_NAME}/*.db")
        moved = (str(seeded.with_name(SEEDING)), str(folder))
        with closing(sqlite3.connect(database)) as connection, connection:
            table = HostedStudy._meta.db_table
            connection.execute(f"UPDATE {table} SET folder = replace(folder, ?, ?)", moved)  # noqa: S608 - our table
        return folder

    return copy


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[str]:
    """Address of a running server with the seeded event; one for all tests of a process."""
    with demo_server(seeded_copy(tmp_path_factory.mktemp("served"))) as address:
        yield address


_VISITORS = pytest.StashKey[list[Visitor]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator:
    """Report the pages of a failed test's browsers: a rare failure is hard to reproduce."""
    report = yield
    if report.failed:
        for visited in item.stash.get(_VISITORS, []):
            report.sections.append(("Where a browser stood", visited.standing))
    return report


@pytest.fixture
def visitor(browser: Browser, served: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """Return a function that opens a browser without sign-in; errors and requests to other hosts fail the test."""
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
        load_by_click(page.get_by_role("button", name=f", {role}"))
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
    """The seeded event in a workspace of this test's own, for Django's test client and for models.

    Threads that an earlier test left in the pool would use the database of that test.
    """
    close_pool()
    monkeypatch.setattr(settings, "WORKSPACE", tmp_path)
    monkeypatch.setattr(settings, "HOST_RESOLVER", FakeHostResolver())
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
    """Return a function that returns a test client: signed in as the person of a role, or anonymous for None."""

    def client(role: Role | None) -> Client:
        own = Client(SERVER_NAME="localhost")
        if role is not None:
            own.force_login(Account.objects.get(memberships__hosted=event, memberships__role=role.value))
        return own

    return client
