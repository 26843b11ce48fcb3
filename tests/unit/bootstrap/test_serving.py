"""How the web side is put together, as far as no server is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.http.request import split_domain_port, validate_host

from theodolite.bootstrap.database import database_settings
from theodolite.bootstrap.serving import Serving, _of_workspace, secret_key_of, server_lock
from theodolite.bootstrap.web_settings import serving_settings, static_address
from theodolite.config.loading import load_study
from theodolite.config.serving import ServingSettings
from theodolite.demo.studies import lay_out_event
from theodolite.domain.errors import InputError, StorageUnavailable

NOWHERE = database_settings(Path("/nonexistent"))


def test_the_demo_event_is_a_study_without_errors_or_open_items(tmp_path):
    lay_out_event(tmp_path)

    notes = load_study(tmp_path).notes
    assert {note.file for note in notes} <= {"translations/ar.yaml", "translations/de.yaml"}
    assert all("categories/" in note.message for note in notes), "what testers read is there in each language"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settings": ServingSettings(host="0.0.0.0")}, "lets everybody in"),
        ({"settings": ServingSettings(address="https://event.example")}, "lets everybody in"),
        ({"settings": ServingSettings(), "study": "mine"}, "brings its own study"),
    ],
)
def test_one_click_accounts_are_limited_to_this_machine_and_their_study(tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        Serving(workspace=tmp_path, demo=True, **options)


def test_the_key_is_created_once_and_readable_by_its_owner_only(tmp_path):
    key = secret_key_of(tmp_path)

    assert secret_key_of(tmp_path) == key
    assert len(key) >= 50
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def test_one_server_holds_the_lock_of_a_workspace_until_it_exits(tmp_path):
    with server_lock(tmp_path) as first, server_lock(tmp_path) as second:
        assert (first, second) == (True, False)
    with server_lock(tmp_path) as later:
        assert later


def test_an_empty_key_file_is_replaced(tmp_path):
    """A crash or a full disk leaves one, and Django refuses to start with it."""
    (tmp_path / "secret.key").touch()

    assert len(secret_key_of(tmp_path)) >= 50
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def test_links_with_ipv6_addresses_are_served():
    hosts = serving_settings(NOWHERE, secret_key="x", serving=ServingSettings(host="fd00::7"))["ALLOWED_HOSTS"]

    assert all(
        validate_host(split_domain_port(f"{name}:8000")[0], hosts) for name in ("[::1]", "[fd00::7]", "localhost")
    )


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_the_check_reports_a_workspace_that_other_accounts_can_read(tmp_path, mode):
    tmp_path.chmod(mode)
    found = [fault.message for fault in _of_workspace(Serving(workspace=tmp_path, settings=ServingSettings()))]
    tmp_path.chmod(0o700)

    assert found[0].endswith(f"type: chmod 700 {tmp_path}")
    assert not [*_of_workspace(Serving(workspace=tmp_path, settings=ServingSettings()))]


def test_an_error_creating_the_key_is_reported(tmp_path):
    with pytest.raises(StorageUnavailable, match="could not be read or made"):
        secret_key_of(tmp_path / "missing")


def test_changed_files_have_new_addresses(tmp_path):
    (tmp_path / "a.css").write_text("a {}")
    before = static_address((tmp_path,))
    (tmp_path / "a.css").write_text("b {}")

    assert static_address((tmp_path,)) != before
