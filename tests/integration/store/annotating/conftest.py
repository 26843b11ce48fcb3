"""A venue on each database, with the test's thread bound to it as a server's threads are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import Database
from tests.fakes.annotating import Venue, a_venue


@pytest.fixture
def venue(database: Database) -> Iterator[Venue]:
    made = a_venue(database)
    with made.bound():
        yield made
