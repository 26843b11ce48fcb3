"""Several processes and threads on one database."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import takewhile

import pytest
from django.db import transaction

from tests.contract.given import a_plan, a_session, a_study
from tests.databases import PATIENCE_S, Database
from theodolite.bootstrap.database import database_settings
from theodolite.domain.errors import Conflict
from theodolite.domain.run import Run, UnitKind
from theodolite.store.executor import bind_thread, unbind_thread

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_UNITS = 60


@pytest.fixture
def run(database: Database) -> Run:
    store = database.open()
    run = store.open_run(a_study(), a_plan())
    store.add_units(run, (a_session(run, number) for number in range(N_UNITS)))
    return run


def start(database: Database, task: str, owner: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.integration.store.worker", task, owner]
    command += [str(database.workspace), database.url or ""]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_two_processes_divide_the_units(database: Database, run: Run) -> None:
    workers = [start(database, "claim", f"w{number}") for number in range(2)]

    lines = [line for worker in workers for line in takewhile(lambda line: line != "end\n", worker.stdout)]
    for worker in workers:
        worker.communicate()
    keys = [key for line in lines for key in line.split()]
    assert sorted(keys) == sorted(a_session(run, number).key for number in range(N_UNITS))


def test_eight_threads_divide_the_units(database: Database, run: Run) -> None:
    def claim_all(owner: str) -> list[str]:
        store, had = database.open(), []
        while units := store.claim(run, UnitKind.SESSION, owner=owner, limit=3, lease_s=60):
            had += [unit.key for unit in units]
        return had

    with ThreadPoolExecutor(8) as threads:
        shares = list(threads.map(claim_all, [f"w{number}" for number in range(8)]))

    keys = [key for share in shares for key in share]
    assert (len(keys), len(set(keys))) == (N_UNITS, N_UNITS)


def test_a_thread_that_is_bound_to_the_database_works_within_its_own_transaction(database: Database, run: Run) -> None:
    store = database.open()

    def begin_and_break_off() -> None:
        bind_thread(database_settings(database.workspace, database.url, patience_s=PATIENCE_S))
        with suppress(ZeroDivisionError), transaction.atomic():
            store.add_units(run, [a_session(run, N_UNITS)])
            counted.append(store.count_units(run, UnitKind.SESSION)["waiting"])
            raise ZeroDivisionError
        counted.append(store.count_units(run, UnitKind.SESSION)["waiting"])
        unbind_thread()

    counted: list[int] = []
    with ThreadPoolExecutor(1) as threads:
        threads.submit(begin_and_break_off).result()

    assert counted == [N_UNITS + 1, N_UNITS]


def test_two_processes_start_one_run(database: Database) -> None:
    stores = [database.open() for _ in range(4)]

    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda store: store.open_run(a_study(), a_plan(seed=9)), stores))

    assert len({run.key for run in runs}) == 1


def test_two_processes_add_the_same_units_once(database: Database, run: Run) -> None:
    units = [a_session(run, number) for number in range(N_UNITS, N_UNITS + 40)]
    stores = [database.open() for _ in range(4)]

    with ThreadPoolExecutor(4) as threads:
        added = list(threads.map(lambda store: store.add_units(run, units), stores))

    assert sum(added) == 40


def test_acknowledged_results_survive_a_kill(database: Database, run: Run) -> None:
    with start(database, "write", "w1") as worker:
        said = [worker.stdout.readline() for _ in range(50)]
        worker.send_signal(signal.SIGKILL)
        said += worker.stdout.readlines()

    entries = database.open().entries(a_session(run).key)
    acknowledged = [int(line) for line in said if line.endswith("\n")]
    assert [entry.position for entry in entries[: len(acknowledged)]] == acknowledged
    assert len(entries) - len(acknowledged) <= 1


def test_leases_of_a_killed_worker_are_released_at_once(database: Database, run: Run) -> None:
    with start(database, "write", "w1") as worker:
        worker.stdout.readline()
        worker.send_signal(signal.SIGKILL)

    units = database.open().claim(run, UnitKind.SESSION, owner="w2", limit=5, lease_s=60)

    assert (units[0].label, units[0].tries) == ("d000", 2)


def test_the_status_distinguishes_units_of_living_and_dead_workers(database: Database, run: Run) -> None:
    with start(database, "write", "w1") as worker:
        worker.stdout.readline()
        assert database.open().count_orphans(run, UnitKind.SESSION) == 0
        worker.send_signal(signal.SIGKILL)

    assert [database.open().count_orphans(run, UnitKind.SESSION) for _ in range(2)] == [1, 1]


def test_leases_of_a_living_worker_are_kept(database: Database, run: Run) -> None:
    with start(database, "write", "w1") as worker:
        worker.stdout.readline()

        store, units = database.open(), []
        while claimed := store.claim(run, UnitKind.SESSION, owner="w2", limit=N_UNITS, lease_s=60):
            units += claimed

        worker.kill()
    assert [unit.label for unit in units] == [a_session(run, number).label for number in range(1, N_UNITS)]


def test_a_worker_that_returns_with_its_name_gets_its_units_at_once(database: Database, run: Run) -> None:
    with start(database, "write", "w1") as worker:
        worker.stdout.readline()
        worker.send_signal(signal.SIGKILL)

    assert database.open().claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60)[0].label == "d000"


def test_a_name_belongs_to_one_living_worker(database: Database, run: Run) -> None:
    database.open().claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60)

    with pytest.raises(Conflict, match="w1"):
        database.open().claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60)
