"""Fixtures: a browser, reports on disk, and an event played by bots."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page

from tests.fakes.report import report_named
from theodolite.demo.studies import lay_out_event


@pytest.fixture(scope="session")
def address_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function that gives the address of a report on disk, by the name of its evidence."""
    folder = tmp_path_factory.mktemp("reports")

    def address(name: str) -> str:
        file = folder / f"{name}.html"
        if not file.exists():
            file.write_text(report_named(name), encoding="utf-8")
        return file.as_uri()

    return address


class Visit:
    """An open page with a log of its errors.

    Attributes:
        page: The page.
        complaints: Messages of the console and errors of scripts.
        requests: Requested addresses.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def visit(browser: Browser, address_of: Callable[[str], str]) -> Iterator:
    """Return a function that opens a report; any error of the page fails the test."""
    visits: list[Visit] = []

    def open_report(name: str, *, address: str = "", width: int = 1280, height: int = 720, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        visits.append(Visit(context.new_page()))
        visits[-1].page.goto(address_of(name) + address)
        return visits[-1].page

    yield open_report
    for visited in visits:
        assert visited.complaints == []
        assert all(url.startswith("file:") for url in visited.requests)
        visited.page.context.close()


def run_event(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run a dry run of the study in a folder; return its exit code and JSON object."""
    command = [sys.executable, "-m", "theodolite", "dry-run", "study", "--no-pictures", "--json", *words]
    environ = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a dry run of the shipped event, made once for all test processes, and the JSON object."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "dry-run"
    kept = folder / "object.json"
    with FileLock(f"{folder}.lock"):
        if not kept.exists():
            lay_out_event(folder / "study")
            before = sorted((folder / "study").rglob("*"))
            code, found = run_event(folder, "--people", "2")
            assert code == 0, found
            assert sorted((folder / "study").rglob("*")) == before
            kept.write_text(json.dumps(found), encoding="utf-8")
    return folder, json.loads(kept.read_text(encoding="utf-8"))
