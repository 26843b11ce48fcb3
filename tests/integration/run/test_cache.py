"""The response cache through the command line: hits, exclusions and damage."""

import sqlite3
from contextlib import closing

import pytest

from tests.fakes.terminal import theodolite
from tests.integration.run.conftest import asked

pytestmark = pytest.mark.integration

USE = ", cache: yes"


def forget(study):
    """Delete the database, so that only the cache has the replies."""
    for file in (study.folder / ".theodolite").glob("theodolite.db*"):
        file.unlink()


def roles(server):
    return {role: n for role, n in server.stats["by_role"].items() if role != "knock"}


def again(study, server, *flags):
    """Run a study for the second time and return what was called."""
    forget(study)
    server.calls.clear()
    ended = theodolite("run", study.folder, *flags)
    assert ended.code == 0, ended.said
    return roles(server)


def test_with_the_flag_all_models_except_the_application_are_cached(study, server):
    theodolite("run", study.write(), "--cache")
    first = study.results

    assert again(study, server, "--cache") == {"target": 10}
    assert study.results["estimates"] == first["estimates"]


def test_a_cached_reply_costs_nothing(study, server):
    theodolite("run", study.write(), "--cache")
    again(study, server, "--cache")

    assert study.results["spending"]["calls"] == 10


def test_a_model_with_the_cache_key_is_cached_without_the_flag(study, server):
    theodolite("run", study.write(more=USE))

    assert again(study, server) == {"user-sim": 10, "target": 10}


def test_without_flag_and_key_nothing_is_cached(study, server):
    theodolite("run", study.write())

    assert again(study, server) == {"user-sim": 10, "target": 10, "judge": 10}
    assert not (study.folder / ".theodolite" / "cache.db").exists()


def test_a_new_run_makes_all_calls_again(study, server):
    theodolite("run", study.write(), "--cache")

    assert again(study, server, "--cache", "--new-run") == {"user-sim": 10, "target": 10, "judge": 10}


def test_repetitions_are_separate_samples(study, server):
    study.write(n=2, rest="sampling: {repeats: 3}")

    assert theodolite("run", study.folder, "--cache").code == 0
    assert roles(server)["user-sim"] == 6


def test_a_damaged_cache_is_set_aside_with_a_note(study, server):
    theodolite("run", study.write(), "--cache")
    (study.folder / ".theodolite" / "cache.db").write_bytes(b"rubbish " * 1000)
    forget(study)

    ended = theodolite("run", study.folder, "--cache")

    assert ended.code == 0, ended.said
    assert "Note: the response cache was damaged; it was set aside as `cache.db.damaged-1`" in ended.err
    assert asked(server, "judge") == 20


def test_a_limit_per_minute_is_stored_in_the_database(study, server):
    theodolite("run", study.write(n=2, more=", rpm: 1000"))

    with closing(sqlite3.connect(study.folder / ".theodolite" / "theodolite.db")) as database:
        [(n_requests,)] = database.execute("SELECT SUM(requests) FROM store_startblock").fetchall()
    assert n_requests == asked(server, "judge") + 1
