"""Real databases for tests that need a database."""

from __future__ import annotations

from tests.databases import (  # noqa: F401  # fixtures are found by being here
    database,
    postgres_server,
    postgres_tables,
    postgresql,
    sqlite,
    sqlite_template,
)
