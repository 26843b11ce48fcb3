"""An event context on each database, bound to the test's thread like the threads of a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import Database
from tests.fakes.annotation_queue import Venue, a_venue


@pytest.fixture
def venue(database: Database) -> Iterator[Venue]:
    made = a_venue(database)
    with made.bound():
        yield made
