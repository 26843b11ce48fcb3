"""Real databases for tests that a store in memory cannot pass or fail."""

from __future__ import annotations

from tests.databases import (  # noqa: F401  # fixtures are found by being here
    database,
    postgres_server,
    postgres_tables,
    postgresql,
    sqlite,
    sqlite_template,
)
