"""What holds for all tests."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connections
from hypothesis import settings

from tests.fresh_stores import close_fresh_stores
from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.web_settings import serving_settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Django is set up once a process, so all tests have the applications of the web side too; tests open databases of
# their own, and whoever forgets meets this folder.
_NOWHERE = database_settings(Path("/nonexistent"))
_HASHERS = {"PASSWORD_HASHERS": ["tests.fakes.hashing.QuickHasher"]}
configure_django(_NOWHERE, serving_settings(_NOWHERE, secret_key="for tests alone", demo=True) | _HASHERS)

pytest_plugins = ("tests.databases",)  # loaded after this file, so that its Django settings come first

# Collecting makes millions of objects that stay to the end, so garbage collections of them find nothing.
gc.set_threshold(50_000, 20, 20)

# Tests write studies by hand and run them at once. Those of permissions take these variables away again.
os.environ["THEODOLITE_ALLOW_CODE"] = "1"
os.environ["THEODOLITE_ALLOW_KEYS"] = "1"
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="theodolite-tests-")
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="theodolite-tests-")

# Speed is measured in benchmarks and not in tests. The same examples are drawn each time, so that a red run says
# something about the change; `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("explore", deadline=None)
settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.load_profile("fixed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Run one file more than there are cores: tests of servers and browsers wait for much of their time."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_finish():
    """Exclude the collected tests and modules from garbage collection: they stay to the end."""
    gc.freeze()


@pytest.fixture(autouse=True)
def no_connection_left():
    """Close what a test left open in its thread: one that begins in an event loop could not close it any more."""
    yield
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        connections.close_all()


@pytest.fixture(autouse=True)
def no_fresh_store_left():
    """Close and delete the stores that a test has opened."""
    yield
    close_fresh_stores()


def _refused(report):
    """Turn a skip into a failure where `CI` is set: there, nothing that a test needs may be missing."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and in CI nothing is: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Look at the report of each test."""
    return _refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Look at the report of each file: a whole file may skip itself."""
    return _refused((yield))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, one for all tests of a process; a missing one is a failure with the line to type.

    Its event loop is marked as running only while a test uses it: others run loops of their own.
    """
    from playwright.sync_api import sync_playwright

    from tests.browser_pages import ARGUMENTS, CHROMIUM

    if not CHROMIUM.exists():
        pytest.fail(f"expected Chromium at {CHROMIUM}; type: apt-get install chromium-headless-shell", pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield launched
        asyncio._set_running_loop(loop)
        launched.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """The browser, for one test; windows that it left open are closed."""
    asyncio._set_running_loop(chromium._impl_obj._loop)
    yield chromium
    for context in chromium.contexts:
        context.close()
    asyncio._set_running_loop(None)
