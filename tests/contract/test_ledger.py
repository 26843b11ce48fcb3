"""What every store's ledger does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.run import Lease, Run, RunState, UnitKind, UnitState
from theodolite.ports.store import Store

from .given import a_dialogue, a_failure, a_plan, a_session, a_study, an_annotation, an_annotation_unit, an_entry

SESSION, ANNOTATION = UnitKind.SESSION, UnitKind.ANNOTATION


def labels(store: Store, run: Run, kind: UnitKind = SESSION, *, limit: int = 10, lease_s: float = 60.0) -> list[str]:
    return [unit.label for unit in store.claim(run, kind, owner="w1", limit=limit, lease_s=lease_s)]


def test_the_same_plan_is_the_same_run(store: Store, run: Run) -> None:
    again = store.open_run(a_study(), a_plan())

    assert again == run
    assert (run.number, run.study, run.state, run.finished) == (1, "support", RunState.UNFINISHED, None)


def test_another_plan_is_the_next_run_of_its_study(store: Store, run: Run) -> None:
    other = store.open_run(a_study(), a_plan(seed=2))

    assert (other.number, other.key != run.key) == (2, True)


def test_a_new_run_of_the_same_plan_can_be_started(store: Store, run: Run) -> None:
    new_run = store.open_run(a_study(), a_plan(), new_run=True)

    assert (new_run.number, new_run.plan_version) == (2, run.plan_version)
    assert store.open_run(a_study(), a_plan()) == new_run


def test_studies_are_numbered_separately(store: Store, run: Run) -> None:
    assert store.open_run(a_study("other"), a_plan(seed=3)).number == 1


def test_the_latest_run_of_a_study_is_found_by_name(store: Store, run: Run) -> None:
    latest = store.open_run(a_study(), a_plan(), new_run=True)

    assert store.latest_run("support") == latest


def test_all_runs_of_a_study_are_listed_in_order_of_their_numbers(store: Store, run: Run) -> None:
    store.open_run(a_study("other"), a_plan(seed=3))
    new_run = store.open_run(a_study(), a_plan(), new_run=True)

    assert store.runs("support") == [run, new_run]
    assert store.runs("never run") == []


def test_a_study_without_a_run_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.latest_run("support")


def test_the_latest_run_of_a_plan_is_found_among_later_runs_of_others(store: Store, run: Run) -> None:
    store.open_run(a_study(), a_plan(seed=2))

    assert store.run_of(a_plan()) == run


def test_a_plan_without_a_run_is_not_found(store: Store, run: Run) -> None:
    with pytest.raises(NotFound):
        store.run_of(a_plan(seed=9))


def test_the_end_of_a_run_is_stored(store: Store, run: Run) -> None:
    store.close_run(run, RunState.FINISHED)

    closed = store.latest_run("support")
    assert closed.state is RunState.FINISHED
    assert closed.finished is not None
    assert closed.finished >= closed.started


def test_a_resumed_run_has_not_ended(store: Store, run: Run) -> None:
    store.close_run(run, RunState.FINISHED)
    store.close_run(run, RunState.UNFINISHED)

    assert store.latest_run("support").finished is None


def test_units_are_added_once(store: Store, run: Run) -> None:
    units = [a_session(run, number) for number in range(3)]

    assert store.add_units(run, units[:2]) == 2
    assert store.add_units(run, iter(units)) == 1
    assert store.count_units(run, SESSION) == {"waiting": 3, "leased": 0, "done": 0, "failed": 0, "withdrawn": 0}


def test_a_unit_given_twice_is_added_once(store: Store, run: Run) -> None:
    assert store.add_units(run, [a_session(run), a_session(run)]) == 1


def test_units_of_another_kind_or_run_are_not_counted(store: Store, run: Run) -> None:
    other = store.open_run(a_study(), a_plan(), new_run=True)
    store.add_units(run, [a_session(run)])

    assert sum(store.count_units(run, ANNOTATION).values()) == 0
    assert sum(store.count_units(other, SESSION).values()) == 0


def test_units_are_leased_in_order_of_the_plan_and_once(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in (3, 1, 2, 0)])

    assert labels(store, run, limit=3) == ["d000", "d001", "d002"]
    assert labels(store, run, limit=3) == ["d003"]
    assert labels(store, run) == []


def test_units_after_a_position_are_not_affected(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(3)])

    first = store.claim(run, SESSION, owner="w1", limit=10, lease_s=60.0, within=range(2))

    assert [unit.position for unit in first] == [0, 1]


def test_units_at_other_positions_are_not_affected(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(5)])

    first = store.claim(run, SESSION, owner="w1", limit=10, lease_s=60.0, within=[1, 4])

    assert [unit.position for unit in first] == [1, 4]
    assert store.claim(run, SESSION, owner="w1", limit=10, lease_s=60.0, within=[]) == []


def test_a_leased_unit_is_marked_and_counts_its_attempts(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run)])

    first = store.claim(run, SESSION, owner="w1", limit=1, lease_s=60)[0]
    store.release("w1")
    second = store.claim(run, SESSION, owner="w1", limit=1, lease_s=60)[0]

    assert (first.state, first.tries, second.tries) == (UnitState.LEASED, 1, 2)
    assert (first.key, first.work_key, first.application) == (second.key, a_session(run).work_key, "bot")


def test_an_expired_lease_is_given_to_another_owner(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(2)])

    labels(store, run, limit=1, lease_s=-1.0)

    assert [u.label for u in store.claim(run, SESSION, owner="w2", limit=5, lease_s=60)] == ["d000", "d001"]


def test_an_expired_lease_is_not_given_to_its_previous_owner(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(2)])

    labels(store, run, limit=1, lease_s=-1.0)

    assert labels(store, run) == ["d001"]


def test_units_with_an_expired_lease_are_orphans(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(3)])
    labels(store, run, limit=1)
    assert store.count_orphans(run, SESSION) == 0

    store.claim(run, SESSION, owner="w2", limit=1, lease_s=-1.0)

    assert store.count_orphans(run, SESSION) == 1


def test_a_renewed_lease_is_valid(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run)])
    labels(store, run, lease_s=-1.0)

    held = store.renew("w1", 60)

    assert held == {a_session(run).key}
    assert store.claim(run, SESSION, owner="w2", limit=5, lease_s=60) == []


def test_released_units_wait_again_and_those_of_others_do_not(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(2)])
    labels(store, run, limit=1)
    store.claim(run, SESSION, owner="w2", limit=1, lease_s=60)

    store.release("w1")

    assert store.count_units(run, SESSION) == {"waiting": 1, "leased": 1, "done": 0, "failed": 0, "withdrawn": 0}


async def test_annotations_are_leased_only_once_their_session_is_done(store: Store, run: Run) -> None:
    first, second = a_session(run, 0), a_session(run, 1)
    store.add_units(run, [first, second])
    store.add_units(run, [an_annotation_unit(run, first), an_annotation_unit(run, second)])
    assert labels(store, run, ANNOTATION) == []

    await store.keep_dialogue(second, a_dialogue(second))

    assert labels(store, run, ANNOTATION) == ["d001"]


async def test_the_owner_of_a_dialogue_may_lease_its_annotations_at_once(store: Store, run: Run) -> None:
    first, second = a_session(run, 0), a_session(run, 1)
    judges = [an_annotation_unit(run, first, annotator) for annotator in ("judge", "other")]
    store.add_units(run, [first, second])
    store.add_units(run, [*judges, an_annotation_unit(run, second)])
    assert labels(store, run) == ["d000", "d001"]

    leased = await store.keep_dialogue(first, a_dialogue(first), lease=Lease(owner="w1", seconds=60.0))

    assert leased == tuple(replace(unit, state=UnitState.LEASED, tries=1) for unit in judges)
    assert labels(store, run, ANNOTATION) == []
    store.release("w1")
    assert labels(store, run, ANNOTATION) == ["d000", "d000"]
    assert await store.keep_dialogue(second, a_dialogue(second)) == ()


async def test_annotations_of_a_completed_session_are_leased_at_once(store: Store, run: Run) -> None:
    session = a_session(run)
    store.add_units(run, [session])
    await store.keep_dialogue(session, a_dialogue(session))

    store.add_units(run, [an_annotation_unit(run, session)])

    claimed = store.claim(run, ANNOTATION, owner="w1", limit=5, lease_s=60)
    assert [(unit.subject, unit.annotator) for unit in claimed] == [(session.key, "judge")]


async def test_an_owner_who_lost_a_unit_does_not_fail_it_for_its_new_owner(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run)])
    [slept] = store.claim(run, SESSION, owner="w1", limit=1, lease_s=-1)
    [at_work] = store.claim(run, SESSION, owner="w2", limit=1, lease_s=60)

    with pytest.raises(Conflict):
        await store.keep_failure(slept, a_failure(slept))

    assert (store.count_units(run, SESSION)["leased"], list(store.failures(run))) == (1, [])
    await store.keep_failure(at_work, a_failure(at_work))
    assert store.count_units(run, SESSION)["failed"] == 1


async def test_a_failed_unit_that_is_reopened_waits_again_without_its_failure(store: Store, run: Run) -> None:
    units = [a_session(run, number) for number in range(2)]
    store.add_units(run, units)
    for unit in units:
        await store.keep_failure(unit, a_failure(unit))

    store.reopen([units[0].key])

    assert store.count_units(run, SESSION) == {"waiting": 1, "leased": 0, "done": 0, "failed": 1, "withdrawn": 0}
    assert [failure.label for failure in store.failures(run)] == ["d001"]


async def test_a_reopened_unit_preserves_its_journal_and_may_fail_again(store: Store, run: Run) -> None:
    unit = a_session(run)
    store.add_units(run, [unit])
    await store.append(unit.key, an_entry())
    await store.keep_failure(unit, a_failure(unit))
    store.reopen([unit.key])

    await store.keep_failure(unit, a_failure(unit, message="again"))

    assert [failure.message for failure in store.failures(run)] == ["again"]
    assert len(store.entries(unit.key)) == 1


async def test_units_that_are_done_are_not_reopened(store: Store, run: Run) -> None:
    unit = a_session(run)
    store.add_units(run, [unit])
    await store.keep_dialogue(unit, a_dialogue(unit))

    store.reopen([unit.key])

    assert store.count_units(run, SESSION)["done"] == 1


async def held(store: Store, run: Run, *, adopt: bool = True) -> tuple[str, str]:
    """Hold and annotate one session in a run, unless it is adopted; return the units' keys."""
    session = a_session(run)
    annotation = an_annotation_unit(run, session)
    store.add_units(run, [session, annotation], adopt=adopt)
    if store.count_units(run, SESSION)["done"] == 0:
        await store.append(session.key, an_entry())
        await store.keep_dialogue(session, a_dialogue(session))
        await store.keep_annotation(annotation, an_annotation(annotation, session.key))
    return session.key, annotation.key


async def test_equal_work_of_an_earlier_run_is_reused(store: Store, run: Run) -> None:
    origin = await held(store, run)
    later = store.open_run(a_study(), a_plan(seed=2))

    own = await held(store, later)

    assert store.origins(later) == dict(zip(own, origin, strict=True))
    assert store.count_units(later, SESSION)["done"] == store.count_units(later, ANNOTATION)["done"] == 1
    assert list(store.dialogues(later)) == list(store.dialogues(run))
    assert list(store.annotations(later)) == list(store.annotations(run))
    assert list(store.dialogues_of([own[0]]).values()) == list(store.dialogues_of([origin[0]]).values())


async def test_reused_work_costs_nothing_in_this_run(store: Store, run: Run) -> None:
    await held(store, run)
    later = store.open_run(a_study(), a_plan(seed=2))
    await held(store, later)

    assert store.spending(run).calls == 1
    assert store.spending(later).calls == 0


async def test_a_third_run_reuses_work_of_the_first(store: Store, run: Run) -> None:
    origin = await held(store, run)
    await held(store, store.open_run(a_study(), a_plan(seed=2)))
    third = store.open_run(a_study(), a_plan(seed=3))

    own = await held(store, third)

    assert store.origins(third) == dict(zip(own, origin, strict=True))


async def test_work_is_reused_on_request_only(store: Store, run: Run) -> None:
    await held(store, run)
    new_run = store.open_run(a_study(), a_plan(), new_run=True)

    await held(store, new_run, adopt=False)

    assert store.origins(new_run) == {}
    assert [dialogue.key for dialogue in store.dialogues(new_run)] == [a_session(new_run).key]


async def test_failures_are_not_reused(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run)])
    await store.keep_failure(a_session(run), a_failure(a_session(run)))
    later = store.open_run(a_study(), a_plan(seed=2))

    store.add_units(later, [a_session(later)])

    assert store.count_units(later, SESSION)["waiting"] == 1


def test_units_that_are_ready_or_leased_by_others_are_open(store: Store, run: Run) -> None:
    store.add_units(run, [a_session(run, number) for number in range(4)])
    store.claim(run, SESSION, owner="w1", limit=1, lease_s=60.0)
    store.claim(run, SESSION, owner="w2", limit=1, lease_s=60.0)

    assert store.count_open(run, SESSION, owner="w1") == 3
    assert store.count_open(run, SESSION, owner="w3") == 4
    assert store.count_open(run, SESSION, owner="w1", within=range(2)) == 1
    assert store.count_open(run, SESSION, owner="w1", within=[1, 3]) == 2


def test_annotations_of_dialogues_that_do_not_exist_yet_are_not_open(store: Store, run: Run) -> None:
    session = a_session(run, 0)
    store.add_units(run, [session])
    store.add_units(run, [an_annotation_unit(run, session)])

    assert store.count_open(run, ANNOTATION, owner="w1") == 0
