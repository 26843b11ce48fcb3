"""A started store on each database, with an open run."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.contract.given import a_plan, a_study
from tests.databases import Database
from theodolite.domain.run import Run
from theodolite.store.django_store import DjangoStore


@pytest.fixture
async def store(database: Database) -> AsyncIterator[DjangoStore]:
    opened = database.open()
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
def run(store: DjangoStore) -> Run:
    return store.open_run(a_study(), a_plan())
