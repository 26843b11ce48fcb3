"""The guide "Control runs from a program", with a real server and a token."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.docs.blocks import blocks_of, try_block
from tests.house.tree import ROOT
from tests.integration.web.conftest import DEMO_FOLDER, demo_server
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.domain.event import Role
from theodolite.web.models import ApiToken, Membership, Scope
from theodolite.web.models.api import new_secret

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

GUIDE = ROOT / "docs" / "how-to" / "control-runs-from-a-program.md"


def token_of_an_organiser(database) -> str:
    """Store a token with all scopes in the database of a server, and return its secret."""
    public, secret, hashed = new_secret()
    scopes = "[" + ", ".join(f'"{scope}"' for scope in Scope) + "]"
    tokens, memberships = ApiToken._meta.db_table, Membership._meta.db_table
    statement = f"""
    INSERT INTO {tokens} (account_id, token, name, hash, scopes, made_at, expires_at)
    SELECT account_id, ?, 'guide', ?, ?, datetime('now'), datetime('now', '+1 day')
    FROM {memberships} WHERE role = ? LIMIT 1
    """  # noqa: S608 - our tables
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, (public, hashed, scopes, Role.ORGANISER.value))
    return secret


def test_the_blocks_of_the_guide_run_from_top_to_bottom(tmp_path, seeded_copy, monkeypatch, capsys):
    folder = seeded_copy(tmp_path)
    (database,) = folder.glob(f"{DEMO_FOLDER}/{WORKSPACE_NAME}/*.db")
    monkeypatch.setenv("THEODOLITE_TOKEN", token_of_an_organiser(database))
    names: dict[str, object] = {"__name__": GUIDE.stem}
    with demo_server(folder) as address:
        monkeypatch.setenv("THEODOLITE_SERVER", address)
        for block in blocks_of(GUIDE):
            try_block(block, tmp_path, names)

    printed = capsys.readouterr().out
    assert "\n409 " in printed
    assert names["runs"]["process"]["exit_code"] == 0, names["runs"]
    assert names["status"]["is_active"] is False
    assert names["results"]["study"]
