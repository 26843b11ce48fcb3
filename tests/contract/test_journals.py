"""Replies of many units, read back together."""

from __future__ import annotations

from theodolite.domain.identity import digest
from theodolite.domain.run import Run
from theodolite.ports.store import Store

from .given import a_dialogue, a_plan, a_session, a_study, an_entry


async def test_replies_of_many_units_are_returned_by_unit(store: Store, run: Run) -> None:
    unit, *others = [a_session(run, number) for number in range(450)]
    store.add_units(run, [unit, *others])
    await store.append(unit.key, an_entry(1))
    await store.append(unit.key, an_entry(0))
    await store.append(others[-1].key, an_entry(0))

    journals = store.journals([unit.key, *(other.key for other in others), digest("nobody")])

    assert len(journals) == 451
    assert journals[unit.key] == [an_entry(0), an_entry(1)]
    assert {key for key, entries in journals.items() if entries} == {unit.key, others[-1].key}


async def test_replies_of_a_reused_unit_are_those_of_its_result(store: Store, run: Run) -> None:
    first = a_session(run)
    store.add_units(run, [first])
    await store.append(first.key, an_entry())
    await store.keep_dialogue(first, a_dialogue(first), journalled=False)
    new_run = store.open_run(a_study(), a_plan(), new_run=True)
    store.add_units(new_run, [a_session(new_run)])

    assert store.journals([a_session(new_run).key]) == {a_session(new_run).key: [an_entry()]}
