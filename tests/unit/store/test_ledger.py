"""Which workers of this machine are alive."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from theodolite.domain.errors import Conflict, StorageUnavailable
from theodolite.store.ledger import Owners


def test_an_owner_name_is_new_once(tmp_path: Path) -> None:
    owners = Owners(tmp_path)

    assert [owners.hold("w1"), owners.hold("w1")] == [True, False]


def test_a_name_owned_elsewhere_is_refused(tmp_path: Path) -> None:
    here, there = Owners(tmp_path), Owners(tmp_path)
    here.hold("w1")

    with pytest.raises(Conflict, match="w1"):
        there.hold("w1")


def test_owners_without_a_lock_are_dead(tmp_path: Path) -> None:
    mine, theirs = Owners(tmp_path), Owners(tmp_path)
    mine.hold("me")
    theirs.hold("alive")
    (tmp_path / "dead.lock").touch()

    with mine.dead_among(["me", "alive", "dead", "elsewhere"]) as dead:
        assert dead == ["dead"]


def test_read_access_does_not_remove_dead_owners(tmp_path: Path) -> None:
    alive = Owners(tmp_path)
    alive.hold("alive")
    (tmp_path / "dead.lock").touch()

    assert Owners(tmp_path).seem_dead(["alive", "dead", "elsewhere"]) == ["dead"]

    with Owners(tmp_path).dead_among(["dead"]) as dead:
        assert dead == ["dead"]


def test_a_dead_name_is_reserved_during_cleanup(tmp_path: Path) -> None:
    (tmp_path / "dead.lock").touch()

    with Owners(tmp_path).dead_among(["dead"]), pytest.raises(Conflict):
        Owners(tmp_path).hold("dead")


def test_dead_owners_are_known_until_their_leases_are_free(tmp_path: Path) -> None:
    (tmp_path / "dead.lock").touch()

    with pytest.raises(StorageUnavailable), Owners(tmp_path).dead_among(["dead"]):
        raise StorageUnavailable

    with Owners(tmp_path).dead_among(["dead"]) as dead:
        assert dead == ["dead"]


def test_a_departed_owner_is_forgotten(tmp_path: Path) -> None:
    owners = Owners(tmp_path)
    owners.hold("w1")
    owners.hold("w2")

    owners.leave_all(lambda owner: None)

    assert list(tmp_path.iterdir()) == []
    assert owners.hold("w1")


def test_an_owner_who_left_with_leases_is_dead(tmp_path: Path) -> None:
    owners = Owners(tmp_path)
    owners.hold("w1")

    def full(owner: str) -> None:
        raise StorageUnavailable(owner)

    owners.leave_all(full)

    with Owners(tmp_path).dead_among(["w1", "elsewhere"]) as dead:
        assert dead == ["w1"]


def test_any_name_gives_a_file_within_the_folder(tmp_path: Path) -> None:
    owners = Owners(tmp_path)

    owners.hold("../../etc/worker 1")

    (file,) = tmp_path.iterdir()
    assert not FileLock(file).is_locked
    assert file.suffix == ".lock"
