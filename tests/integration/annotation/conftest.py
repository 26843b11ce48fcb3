"""An event context on each database, bound to the test's thread like the threads of a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import (  # noqa: F401  # fixtures are found by being here
    Database,
    database,
    postgres_server,
    postgres_tables,
    postgresql,
    sqlite,
    sqlite_template,
)
from tests.fakes.annotation_queue import Venue, a_venue


@pytest.fixture
def venue(database: Database) -> Iterator[Venue]:  # noqa: F811  # the fixture
    made = a_venue(database)
    with made.bound():
        yield made
