"""SQLite finds units by an index that also provides their order, so long plans stay fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.contract.given import a_plan, a_session, a_study
from tests.databases import Database
from theodolite.domain.run import UnitKind, UnitState
from theodolite.store.django_store import DjangoStore
from theodolite.store.ledger import id_of_run
from theodolite.store.statements import Bookmark, next_units

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def ways(store: DjangoStore, work: Callable[[], Any]) -> list[str]:
    """Return SQLite's query plans for reads of the ledger."""
    found: list[str] = []

    def note(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith("SELECT") and "store_unit" in sql:
            with connection.cursor() as cursor:
                rows = cursor.cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params).fetchall()
            found.extend(row[3] for row in rows)
        return execute(sql, params, *rest)

    def observed() -> None:
        with connection.execute_wrapper(note):
            work()

    store._executor.read(observed)
    return found


@pytest.mark.parametrize("what", ["claim", "read"])
def test_the_query_plan_of_units_needs_no_sorting(sqlite: Database, what: str) -> None:
    store = sqlite.open()
    run = store.open_run(a_study(), a_plan())
    store.add_units(run, [a_session(run)])
    work = {
        "claim": lambda: store._ledger.claim(run, UnitKind.SESSION, owner="w1", limit=5, lease_s=60),
        "read": lambda: next_units(id_of_run(run), UnitKind.SESSION, UnitState.DONE, Bookmark(3, 4), None),
    }

    found = ways(store, work[what])

    leased_alone = "SCAN store_unit USING INDEX unit_leased"  # holds what is in work, never a whole plan
    assert any("unit_in_plan" in way for way in found)
    assert not [way for way in found if "TEMP B-TREE" in way or (way.startswith("SCAN") and way != leased_alone)]
