"""From a workspace and a URL to Django's settings."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from theodolite.bootstrap import database, settings
from theodolite.bootstrap.database import configure_django, database_settings, make_workspace, open_store
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.config.permissions import WORKSPACE_NAME, workspace_for
from theodolite.domain.errors import InputError, StorageUnavailable


def test_the_default_database_is_a_file_of_the_workspace(tmp_path: Path) -> None:
    found = database_settings(tmp_path, None)

    assert found["NAME"] == str(tmp_path / "theodolite.db")
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ana:s%40fe@db.example:6432/lab", ("lab", "ana", "s@fe", "db.example", "6432")),
        ("postgres://db.example/lab", ("lab", "", "", "db.example", "")),
        ("postgresql:///lab?host=/var/run/postgresql", ("lab", "", "", "/var/run/postgresql", "")),
        ("postgresql://ana@[::1]/lab%20two", ("lab two", "ana", "", "::1", "")),
    ],
)
def test_a_url_names_a_server(url: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    found = database_settings(tmp_path, url)

    assert tuple(found[part] for part in ("NAME", "USER", "PASSWORD", "HOST", "PORT")) == expected


def test_parameters_of_a_url_are_passed_to_the_driver(tmp_path: Path) -> None:
    assert database_settings(tmp_path, "postgresql://h/lab?sslmode=require")["OPTIONS"]["sslmode"] == "require"


def test_statements_and_silent_servers_have_timeouts_that_a_url_may_change(tmp_path: Path) -> None:
    usual = database_settings(tmp_path, "postgresql://h/lab")["OPTIONS"]
    changed = database_settings(tmp_path, "postgresql://h/lab?connect_timeout=3&options=-c%20statement_timeout%3D0")

    assert usual["connect_timeout"] == "10"
    assert usual["options"] == (
        "-c lock_timeout=20000 -c statement_timeout=600000 -c idle_in_transaction_session_timeout=15000"
    )
    assert changed["OPTIONS"]["connect_timeout"] == "3"
    assert changed["OPTIONS"]["options"] == f"{usual['options']} -c statement_timeout=0"  # the last one counts


@pytest.mark.parametrize(
    "url", ["mysql://h/lab", "lab", "postgresql://h", "postgresql://h/", "sqlite:///x.db", "postgresql://h:x/lab"]
)
def test_another_url_is_refused_without_repeating_it(url: str, tmp_path: Path) -> None:
    secret = url.replace("://", "://ana:hidden@")

    with pytest.raises(InputError, match="DATABASE_URL") as caught:
        database_settings(tmp_path, secret)

    assert "hidden" not in str(caught.value)


def test_a_missing_driver_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "find_spec", lambda name: None)

    with pytest.raises(InputError, match=r"pip install 'theodolite\[postgres\]'"):
        database_settings(tmp_path, "postgresql://db.example/lab")


def test_the_workspace_is_next_to_the_study(tmp_path: Path) -> None:
    assert workspace_for(tmp_path) == tmp_path / ".theodolite"


def test_the_workspace_of_an_ancestor_is_shared(tmp_path: Path) -> None:
    (tmp_path / ".theodolite").mkdir()
    study = tmp_path / "studies" / "support"
    study.mkdir(parents=True)

    assert workspace_for(study) == tmp_path / ".theodolite"


def test_a_workspace_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    make_workspace(tmp_path / "a" / ".theodolite")
    make_workspace(tmp_path / "a" / ".theodolite")

    assert (tmp_path / "a" / ".theodolite" / ".gitignore").read_text() == "*\n"


def test_an_error_creating_the_workspace_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StorageUnavailable, match="could not be made"):
        open_store(tmp_path / "file" / ".theodolite")


def test_the_settings_module_states_what_the_program_uses() -> None:
    expected = serving_settings(settings.DATABASES["default"], secret_key=settings.SECRET_KEY)

    assert {name: getattr(settings, name) for name in expected} == expected


def test_a_preconfigured_django_is_reconfigured(tmp_path: Path) -> None:
    from django.db import connection

    for folder in ("a", "b"):
        configure_django(database_settings(tmp_path / folder))
        assert connection.settings_dict["NAME"] == str(tmp_path / folder / "theodolite.db")


def test_a_new_workspace_is_readable_by_the_operator_only(tmp_path: Path) -> None:
    make_workspace(tmp_path / WORKSPACE_NAME)

    assert (tmp_path / WORKSPACE_NAME).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o700), (0o775, 0o700), (0o770, 0o770), (0o2775, 0o2775)])
def test_permissions_of_an_earlier_workspace_are_restricted_and_a_chosen_mode_is_kept(
    tmp_path: Path, before: int, after: int
) -> None:
    workspace = tmp_path / WORKSPACE_NAME
    workspace.mkdir()
    workspace.chmod(before)

    make_workspace(workspace)

    assert workspace.stat().st_mode & 0o7777 == after


def test_every_connection_overwrites_deleted_data(tmp_path: Path) -> None:
    """SQLite leaves deleted texts in the file where it was built without SECURE_DELETE."""
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        connection.executescript(database_settings(tmp_path)["OPTIONS"]["init_command"])

        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
