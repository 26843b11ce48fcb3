from __future__ import annotations

import json

import pytest

from theodolite.config.permissions import FILE, Permissions, read_permissions, remember_permissions
from theodolite.domain.errors import StorageUnavailable


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A study's folder with an empty workspace, and a user without a key."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "study"
    (folder / ".theodolite").mkdir(parents=True)
    return folder


def test_permissions_are_stored_and_accumulate(home, tmp_path):
    remember_permissions(home, Permissions(paths=(tmp_path / "a.csv",)))
    remember_permissions(home, Permissions(paths=(tmp_path / "a.csv",), code=("abc",)))
    remember_permissions(home, Permissions(all_code=True))

    assert read_permissions(home) == Permissions(paths=(tmp_path / "a.csv",), code=("abc",), all_code=True)


def test_permissions_apply_to_one_folder_only(home, tmp_path):
    other = home / "other"
    other.mkdir()
    remember_permissions(home, Permissions(all_code=True))

    assert read_permissions(other) == Permissions()


def test_permissions_signed_by_another_user_grant_nothing(home, tmp_path, monkeypatch):
    """A study in an archive may bring a workspace with permissions of its author."""
    remember_permissions(home, Permissions(all_code=True, code=("abc",)))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert read_permissions(home) == Permissions()

    remember_permissions(home, Permissions(code=("mine",)))  # makes this user's key

    assert read_permissions(home) == Permissions(code=("mine",))


def test_edited_permissions_grant_nothing(home):
    remember_permissions(home, Permissions(code=("abc",)))
    file = home / ".theodolite" / FILE
    file.write_text(file.read_text().replace('"all_code": false', '"all_code": true'))

    assert read_permissions(home) == Permissions()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"studies": 3}', '{"studies": {"HOME": []}}', '{"studies": {"HOME": {}}}']
)
def test_an_unreadable_file_grants_nothing(home, text):
    remember_permissions(home, Permissions(all_code=True))
    (home / ".theodolite" / FILE).write_text(text.replace("HOME", str(home)))

    assert read_permissions(home) == Permissions()


def test_permissions_and_key_are_readable_by_their_owner_only(home, tmp_path):
    remember_permissions(home, Permissions(all_code=True))

    files = [home / ".theodolite" / FILE, tmp_path / "state" / "theodolite" / "permissions.key"]

    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]


def test_an_empty_key_is_replaced(home, tmp_path):
    key = tmp_path / "state" / "theodolite" / "permissions.key"
    key.parent.mkdir(parents=True)
    key.touch()

    remember_permissions(home, Permissions(all_code=True))

    assert key.read_bytes()
    assert read_permissions(home).all_code


def test_an_unwritable_key_is_reported_with_the_variable_to_set(home, tmp_path):
    (tmp_path / "state").write_text("a file in place of the folder")

    with pytest.raises(StorageUnavailable, match="THEODOLITE_ALLOW_PATHS"):
        remember_permissions(home, Permissions(all_code=True))


def test_an_entry_names_its_folder(home):
    remember_permissions(home, Permissions(all_code=True))

    assert list(json.loads((home / ".theodolite" / FILE).read_text())["studies"]) == [str(home)]
