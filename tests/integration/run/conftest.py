"""A study of ten personas, the server that plays its models, and no stray settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the database of a developer's own environment out of the tests."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server that plays every model."""
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def study(tmp_path: Path, server: Loopback) -> SupportStudy:
    """The study, not written yet."""
    return SupportStudy(folder=tmp_path / "support", url=server.url)


def asked(server: Loopback, *roles: str) -> int:
    """Count the calls that a server got in some roles; in all but the knock's where none is named."""
    by_role = server.stats["by_role"]
    return sum(by_role.get(role, 0) for role in roles or ("user-sim", "target", "judge", "application"))
