"""What databases say, in the program's words."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import utils

from theodolite.domain.errors import Conflict, StorageUnavailable, StoreError, WrongSchema
from theodolite.store.executor import Place, translate

EXPECTED = {
    utils.Error: StorageUnavailable,
    utils.InterfaceError: StorageUnavailable,
    utils.DatabaseError: StorageUnavailable,
    utils.DataError: StoreError,
    utils.OperationalError: StorageUnavailable,
    utils.IntegrityError: StoreError,
    utils.InternalError: StorageUnavailable,
    utils.ProgrammingError: WrongSchema,
    utils.NotSupportedError: WrongSchema,
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place({"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "theodolite.db")}, tmp_path)


def test_every_error_of_the_library_is_known() -> None:
    errors = {error for error in vars(utils).values() if isinstance(error, type) and issubclass(error, utils.Error)}

    assert errors == set(EXPECTED)


@pytest.mark.parametrize("error", EXPECTED, ids=lambda error: error.__name__)
def test_every_error_of_the_library_is_translated(error: type[utils.Error], place: Place) -> None:
    assert type(translate(error("what it says"), place)) is EXPECTED[error]


def test_what_was_written_before_is_a_conflict(place: Place) -> None:
    assert isinstance(translate(utils.IntegrityError("UNIQUE constraint failed: a.b"), place), Conflict)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("database or disk is full", "MiB are free"),
        ("could not extend file: No space left on device", "MiB are free"),
        ("database is locked", "Another program holds it"),
        ("canceling statement due to lock timeout", "Another program holds it"),
        ("attempt to write a readonly database", "right to write"),
        ("unable to open database file", "may be written to"),
        ("database disk image is malformed", "Put a copy of it back"),
        ("file is not a database", "Put a copy of it back"),
        ("connection refused", "can be reached"),
    ],
)
def test_the_advice_fits_the_trouble(said: str, advice: str, place: Place) -> None:
    place.last_written = "the dialogue `d004`"

    message = str(translate(utils.OperationalError(said), place))

    assert said in message
    assert advice in message
    assert "Written last: the dialogue `d004`" in message
    assert message.endswith("run the same command again.")


def test_a_server_is_named_without_its_password(tmp_path: Path) -> None:
    server = {"ENGINE": "django.db.backends.postgresql", "NAME": "lab", "HOST": "db.example", "PASSWORD": "secret"}

    message = str(translate(utils.OperationalError("gone"), Place(server, tmp_path)))

    assert "`lab` on db.example" in message
    assert "secret" not in message


def test_a_folder_that_cannot_be_written_is_translated_too(place: Place) -> None:
    with pytest.raises(StorageUnavailable, match="No space"), place.translated():
        raise OSError(28, "No space left on device")
