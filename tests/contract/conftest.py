"""The stores that are held to the contract: one in memory and both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.store import FakeStore
from theodolite.domain.run import Run
from theodolite.ports.store import Store

from .given import a_plan, a_study


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    opened: Store = FakeStore() if request.param == "memory" else request.getfixturevalue(request.param).open()
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
def run(store: Store) -> Run:
    return store.open_run(a_study(), a_plan())
