"""Messages and data of a store when the database fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from django.db import connection

from tests.contract.given import a_plan, a_reply, a_session, a_study, an_entry
from tests.databases import Database
from theodolite.bootstrap.database import DATABASE_NAME, IDLE_S, LOCK_PATIENCE_S, open_store
from theodolite.domain.errors import StorageUnavailable, StoreError
from theodolite.domain.flow import JournalEntry
from theodolite.domain.run import Run, UnitKind
from theodolite.store.django_store import DjangoStore
from theodolite.store.models import JournalEntryRow
from theodolite.store.statements import execute

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def store(database: Database) -> DjangoStore:
    return database.open()


@pytest.fixture
def run(store: DjangoStore) -> Run:
    run = store.open_run(a_study(), a_plan())
    store.add_units(run, [a_session(run)])
    return run


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Lock what a writer needs: SQLite's write lock, or the journal's table."""
    if database.url is None:
        with closing(sqlite3.connect(database.workspace / DATABASE_NAME)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(database.url) as other_server:
        other_server.execute("LOCK TABLE store_journalentry")
        yield


async def test_a_locked_database_is_reported_and_no_data_are_lost(
    database: Database, store: DjangoStore, run: Run
) -> None:
    unit = a_session(run).key
    await store.start()
    await store.append(unit, an_entry(0))

    with locked(database), pytest.raises(StorageUnavailable, match=r"reply 1 of unit .* safe.* run the same command"):
        await store.append(unit, an_entry(1))
    await store.append(unit, an_entry(1))

    assert [entry.position for entry in store.entries(unit)] == [0, 1]
    await store.stop()


async def test_a_full_disk_is_reported_and_acknowledged_data_are_kept(sqlite: Database) -> None:
    store = sqlite.open()
    run = store.open_run(a_study(), a_plan())
    unit = a_session(run).key
    store.add_units(run, [a_session(run)])
    await store.start()
    limit_pages(store)
    entries = [an_entry(position, a_reply("x" * 4000)) for position in range(50)]

    async def append_all() -> None:
        for entry in entries:
            await store.append(unit, entry)
            acknowledged.append(entry)

    acknowledged: list[JournalEntry] = []
    with pytest.raises(StorageUnavailable, match=r"full.*Written last: reply \d+ .*MiB are free"):
        await append_all()
    await store.stop()

    assert store.entries(unit) == acknowledged


def limit_pages(store: DjangoStore) -> None:
    """Let the writer's database grow by ten pages only."""

    def limit() -> None:
        with connection.cursor() as cursor:
            (pages,) = cursor.execute("PRAGMA page_count").fetchone()
            cursor.execute(f"PRAGMA max_page_count = {pages + 10}")

    work = store._executor
    apply = work._apply
    work._apply = lambda batch: (limit(), setattr(work, "_apply", apply), apply(batch))[-1]


async def test_only_the_write_that_violates_a_constraint_is_rejected(store: DjangoStore, run: Run) -> None:
    unit = a_session(run).key
    await store.start()
    entries = [an_entry(0), an_entry(1, a_reply(tokens_in=-1)), an_entry(2, a_reply(tokens_in="many")), an_entry(3)]

    outcomes = await asyncio.gather(*(store.append(unit, entry) for entry in entries), return_exceptions=True)

    assert [outcome is None for outcome in outcomes] == [True, False, False, True]
    assert isinstance(outcomes[1], StoreError)
    assert [entry.position for entry in store.entries(unit)] == [0, 3]
    await store.stop()


async def test_the_death_of_the_writer_is_reported_to_all_callers(store: DjangoStore, run: Run) -> None:
    def die(batch: object) -> None:
        raise SystemExit

    store._executor._apply = die
    await store.start()
    waiting = [store.append(a_session(run).key, an_entry(position)) for position in range(5)]

    outcomes = await asyncio.gather(*waiting, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} == {StorageUnavailable}
    with pytest.raises(StorageUnavailable):
        await store.append(a_session(run).key, an_entry())
    await store.stop()


async def test_characters_that_cannot_be_stored_are_replaced_and_counted(store: DjangoStore, run: Run) -> None:
    unit = a_session(run).key
    await store.start()
    await store.append(unit, an_entry(0, a_reply("a\x00b\ud800c")))
    await store.append(unit, an_entry(1, a_reply("sound 😀")))
    await store.stop()

    assert [entry.reply.text for entry in store.entries(unit)] == ["a�b�c", "sound 😀"]
    counted = store._executor.read(
        lambda: list(JournalEntryRow.objects.order_by("position").values_list("repaired", flat=True))
    )
    assert counted == [2, 0]


async def test_a_store_can_be_used_within_an_event_loop(store: DjangoStore, run: Run) -> None:
    assert store.count_units(run, UnitKind.SESSION)["waiting"] == 1


def test_two_workspaces_can_be_open_at_once(sqlite: Database, postgresql: Database) -> None:
    here, there = sqlite.open(), postgresql.open()

    here.open_run(a_study("here"), a_plan())
    there.open_run(a_study("there"), a_plan())

    assert here.latest_run("here").number == there.latest_run("there").number == 1


def test_an_unreachable_server_is_reported(database: Database) -> None:
    with pytest.raises(StorageUnavailable, match="See that it can be reached"):
        open_store(database.workspace, "postgresql://nobody@127.0.0.1:1/nothing")


def test_a_statement_that_exceeds_its_limit_is_cancelled_and_the_limit_is_named(postgresql: Database) -> None:
    store = postgresql.open()

    def wait() -> None:
        execute("SET statement_timeout = 1", [])
        execute("SELECT pg_sleep(%s)", [600])

    with pytest.raises(StorageUnavailable, match=r"statement timeout.* `\?options=-c%20statement_timeout%3D3600000`"):
        store._executor.read(wait)


def test_a_stopped_process_loses_its_locks_before_others_time_out(postgresql: Database) -> None:
    def limits() -> list[str]:
        names = ("idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout")
        return [execute(f"SHOW {name}", []).fetchone()[0] for name in names]

    store = open_store(postgresql.workspace, postgresql.url)
    postgresql.opened.append(store)

    assert store._executor.read(limits) == ["15s", "10min", "20s"]
    assert IDLE_S < LOCK_PATIENCE_S
