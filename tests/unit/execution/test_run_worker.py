from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.builders import group, judge, study
from tests.fakes.clients import InlineExecutor, Jitter, Switchboard, Watcher, clients_for, to_model, usual_answer
from tests.fakes.store import FakeStore

from theodolite.domain.errors import ServerFault, StorageUnavailable
from theodolite.domain.flow import SayToApplication
from theodolite.domain.run import Spending, UnitKind
from theodolite.domain.study import Budget
from theodolite.execution import run_worker as run_worker_module
from theodolite.execution.run_worker import Flows, RunWorker
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import StudyFlows, annotation_units, session_units

BOTH = frozenset(UnitKind)
SESSIONS, ANNOTATIONS = ({kind} for kind in (UnitKind.SESSION, UnitKind.ANNOTATION))
FAULT = ServerFault("500")
DISK_FULL = StorageUnavailable("disk full")
HANGING_S = 20
"""Patience with a sitting that may have lost a wake-up; none ever takes as long."""


class JitteryStore(FakeStore):
    """A store whose writes let others go first, and which may be full after some of them."""

    def __init__(self, jitter=None, room=10**9):
        super().__init__()
        self.jitter, self.room, self.renewed = jitter or Jitter(), room, asyncio.Event()

    async def append(self, unit, entry):
        await self.jitter()
        self.room -= 1
        if self.room < 0:
            raise DISK_FULL
        await super().append(unit, entry)
        await self.jitter()

    async def keep_dialogue(self, unit, dialogue, **how):
        await self.jitter()
        leased = await super().keep_dialogue(unit, dialogue, **how)
        await self.jitter()
        return leased

    def renew(self, owner, lease_s):
        held = super().renew(owner, lease_s)
        self.renewed.set()
        return held


@dataclass
class Desk:
    """A run with its units in a ledger, and everything that a sitting needs."""

    study: object
    store: JitteryStore = field(default_factory=JitteryStore)
    board: Switchboard = field(default_factory=Switchboard)
    jitter: Jitter = field(default_factory=Jitter)
    parallel: int = 4
    watcher: Watcher = field(default_factory=Watcher)

    def __post_init__(self):
        plan, sessions = draw_plan(self.study)
        self.run = self.store.open_run(self.study, plan)
        self.flows = StudyFlows(self.study, sessions, ())
        held = list(session_units(self.study, self.run, sessions))
        self.store.add_units(self.run, held)
        self.store.add_units(self.run, annotation_units(self.study, self.run, sessions, held, {}))
        self.clients = clients_for(self.board)

    def worker(self, owner="me"):
        return RunWorker(
            run=self.run,
            owner=owner,
            store=self.store,
            clients=self.clients,
            flows=Flows(session=self.flows.session, annotation=self.flows.annotation),
            progress=self.watcher,
            parallel=self.parallel,
            executor=InlineExecutor(self.jitter),
        )

    async def sit(self, kinds=BOTH, *owners):
        self.store.started = True
        async with asyncio.timeout(HANGING_S):
            await asyncio.gather(*(self.worker(owner).work(frozenset(kinds)) for owner in owners or ("me",)))

    def count(self, kind, state):
        return self.store.count_units(self.run, kind)[state]

    def states(self, kind):
        return {state: number for state, number in self.store.count_units(self.run, kind).items() if number}


def people(number, annotators=1, **more):
    names = [f"P{n}" for n in range(number)]
    return study(personas=(group(*names),), annotators=tuple(judge(f"judge-{n}") for n in range(annotators)), **more)


async def test_every_unit_is_done_once():
    desk = Desk(people(5, annotators=2))

    await desk.sit()

    assert desk.states(UnitKind.SESSION) == {"done": 5}
    assert desk.states(UnitKind.ANNOTATION) == {"done": 10}
    assert len(desk.board.asked) == 5 * 4 + 10
    assert (len(desk.watcher.sessions), len(desk.watcher.annotations)) == (5, 10)


JITTERS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@settings(deadline=None, max_examples=150)
@given(JITTERS, JITTERS, JITTERS, st.integers(1, 5), st.integers(0, 5), st.integers(1, 3), st.integers(0, 12))
def test_no_order_of_events_misses_a_wake_up(calls, writes, reads, parallel, n_people, n_judges, failures):
    def answer(request):
        return FAULT if failures and len(desk.board.asked) % (failures + 1) == 0 else usual_answer(request)

    desk = Desk(
        people(n_people + 1, n_judges),
        store=JitteryStore(Jitter(writes)),
        board=Switchboard(answer=answer, jitter=Jitter(calls)),
        jitter=Jitter(reads),
        parallel=parallel,
    )

    asyncio.run(desk.sit())

    held = desk.count(UnitKind.SESSION, "done")
    assert held + desk.count(UnitKind.SESSION, "failed") == n_people + 1
    judged = desk.count(UnitKind.ANNOTATION, "done") + desk.count(UnitKind.ANNOTATION, "failed")
    assert judged == held * n_judges
    assert desk.board.most_in_flight <= 2 * parallel


@settings(deadline=None, max_examples=50)
@given(JITTERS, JITTERS, st.integers(1, 3))
def test_two_workers_share_the_units(calls, reads, parallel):
    desk = Desk(people(6, 2), board=Switchboard(jitter=Jitter(calls)), jitter=Jitter(reads), parallel=parallel)

    asyncio.run(desk.sit(BOTH, "me", "you"))

    assert desk.states(UnitKind.SESSION) == {"done": 6}
    assert desk.states(UnitKind.ANNOTATION) == {"done": 12}
    assert len(desk.board.asked) == 6 * 4 + 12


@pytest.fixture(autouse=True)
def no_pause_between_polls(monkeypatch):
    """Poll without a pause: other workers in these tests take no time."""
    monkeypatch.setattr(run_worker_module, "EMPTY_POLL_INTERVAL_S", 0.0)


def everybody_oversleeps(monkeypatch):
    """Let every lease have run out by the time that it is looked at, as after a laptop's sleep."""
    monkeypatch.setattr(run_worker_module, "LEASE_S", -1.0)


async def test_a_process_that_lost_its_leases_does_not_repeat_its_units(monkeypatch):
    everybody_oversleeps(monkeypatch)
    desk = Desk(people(20), board=Switchboard(jitter=Jitter((3, 1))), parallel=3)

    await desk.sit()

    assert desk.states(UnitKind.ANNOTATION) == {"done": 20}
    assert len(desk.board.asked) == 20 * 4 + 20


@pytest.mark.parametrize("draws", [(0, 1), (3, 1), (1, 0, 4), (2,)], ids=str)
async def test_a_unit_taken_over_by_another_process_is_left_to_it(monkeypatch, draws):
    everybody_oversleeps(monkeypatch)
    desk = Desk(people(12, 2), board=Switchboard(jitter=Jitter(draws)), parallel=3)

    await desk.sit(BOTH, "me", "you")

    assert desk.states(UnitKind.SESSION) == {"done": 12}
    assert desk.states(UnitKind.ANNOTATION) == {"done": 24}
    assert len(desk.store.kept_dialogues) == 12


class Gate:
    """Holds the second dialogue back until so many judgements are under way or done."""

    def __init__(self, wanted):
        self.wanted, self.judged, self.open = wanted, 0, asyncio.Event()

    async def application(self, board, request):
        if "P1" in request.prompt:
            await self.open.wait()
        return await Switchboard.take(board, request)

    async def judge(self, board, request):
        self.judged += 1
        if self.judged == self.wanted:
            self.open.set()
        return await Switchboard.take(board, request)


class GatedBoard(Switchboard):
    gate: Gate

    async def take(self, request):
        if isinstance(request, SayToApplication):
            return await self.gate.application(self, request)
        return await (self.gate.judge(self, request) if request.model == "large" else Switchboard.take(self, request))


def gated(desk_study, gate, parallel):
    board = GatedBoard(
        answer=lambda r: r.messages[0].text[:200] if to_model(r) and r.model == "user" else usual_answer(r)
    )
    board.gate = gate
    return Desk(desk_study, board=board, parallel=parallel)


class Slow(Gate):
    """Lets no judgement end before all of them have begun."""

    async def judge(self, board, request):
        self.judged += 1
        if self.judged == self.wanted:
            self.open.set()
        await self.open.wait()
        return await Switchboard.take(board, request)


async def test_all_annotators_of_one_dialogue_work_concurrently():
    desk = gated(people(2, annotators=3), Slow(wanted=3), parallel=3)

    await desk.sit()

    assert desk.states(UnitKind.ANNOTATION) == {"done": 6}


async def test_a_store_with_more_units_than_one_batch_is_polled_again():
    desk = gated(people(2, annotators=7), Gate(wanted=7), parallel=2)

    await desk.sit()

    assert desk.states(UnitKind.ANNOTATION) == {"done": 14}


class Drawer(JitteryStore):
    """Stores nothing before it is opened, or as many replies wait as are wanted."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.waiting, self.open = wanted, 0, asyncio.Event()

    async def append(self, unit, entry):
        self.waiting += 1
        if self.waiting == self.wanted:
            self.open.set()
        await self.open.wait()
        await super().append(unit, entry)


async def test_replies_being_stored_take_no_slot():
    desk = Desk(people(6), store=Drawer(wanted=6), parallel=4)

    await desk.sit()

    assert desk.states(UnitKind.SESSION) == {"done": 6}


async def test_the_number_of_concurrent_calls_is_limited():
    desk = Desk(people(9), board=Switchboard(jitter=Jitter((3, 1))), parallel=4)

    await desk.sit(SESSIONS)

    assert desk.board.most_in_flight == 4


async def test_running_only_sessions_leaves_annotations_waiting():
    desk = Desk(people(3))

    await desk.sit(SESSIONS)

    assert desk.states(UnitKind.SESSION) == {"done": 3}
    assert desk.states(UnitKind.ANNOTATION) == {"waiting": 3}


async def test_running_only_annotations_covers_existing_dialogues():
    desk = Desk(people(3))
    await desk.sit(ANNOTATIONS)
    assert desk.states(UnitKind.ANNOTATION) == {"waiting": 3}

    await desk.sit(SESSIONS)
    await desk.sit(ANNOTATIONS)

    assert desk.states(UnitKind.ANNOTATION) == {"done": 3}


async def test_dialogues_that_left_memory_are_read_back(monkeypatch):
    monkeypatch.setattr(run_worker_module, "DIALOGUES_IN_MEMORY", 1)
    desk = Desk(people(6, 2), parallel=3, jitter=Jitter((3, 0, 1)))

    await desk.sit()

    assert desk.states(UnitKind.ANNOTATION) == {"done": 12}


@pytest.mark.parametrize("calls", range(1, 30, 4))
async def test_a_stop_takes_effect_between_two_requests_and_loses_nothing(calls):
    desk = Desk(people(4, 2), parallel=3)

    def answer(request):
        if len(desk.board.asked) == calls:
            desk.clients.stop_conditions.stop("enough")
        return usual_answer(request)

    desk.board.answer = answer
    await desk.sit()

    stored = sum(len(desk.store.entries(key)) for key in desk.store.units)
    assert stored == len(desk.board.asked) <= calls + 6

    desk.clients.stop_conditions.reason = ""
    desk.store.release("me")
    await desk.sit()
    assert desk.states(UnitKind.ANNOTATION) == {"done": 8}
    assert len(desk.board.asked) == 4 * 4 + 8


@pytest.mark.parametrize("room", [0, 1, 5, 13, 20])
async def test_a_full_disk_stops_all_workers_with_a_message(room):
    desk = Desk(people(4, 2), store=JitteryStore(Jitter((0, 2, 1)), room=room), parallel=3)

    with pytest.raises(ExceptionGroup) as group_:
        await desk.sit()

    assert group_.group_contains(StorageUnavailable, match="disk full")
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("steps", range(0, 60, 7))
async def test_a_cancelled_worker_leaves_no_task_running(steps):
    desk = Desk(people(4, 2), board=Switchboard(jitter=Jitter((1, 2))), parallel=3)
    worker = asyncio.create_task(desk.sit())
    for _ in range(steps):
        await asyncio.sleep(0)

    worker.cancel()

    if steps < 20:
        with pytest.raises(asyncio.CancelledError):
            await worker
    else:
        await asyncio.gather(worker, return_exceptions=True)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_units_taken_over_while_waiting_are_not_started():
    desk = Desk(people(8), parallel=1)
    worker = desk.worker()
    unit_queue = worker._unit_queue
    first = await unit_queue.next(UnitKind.SESSION)
    (waiting,) = unit_queue._waiting[UnitKind.SESSION]
    desk.store.units[waiting.key].owner = "you"

    unit_queue._leases_valid_until_s = 0.0  # the process slept for longer than its leases hold
    second = await unit_queue.next(UnitKind.SESSION)

    assert second.key not in {first.key, waiting.key}


async def test_watchers_get_updates_while_no_session_ends(monkeypatch):
    monkeypatch.setattr(run_worker_module, "PROGRESS_INTERVAL_S", 0.001)
    desk = Desk(people(1))
    lengths = asyncio.Event()
    desk.watcher.spent = lambda total: lengths.set()

    async def hang(request):
        await lengths.wait()
        return await Switchboard.take(desk.board, request)

    desk.board.take = hang
    await desk.sit()

    assert lengths.is_set()


async def test_leases_are_renewed_during_work(monkeypatch):
    monkeypatch.setattr(run_worker_module, "LEASE_S", 0.01)
    desk = Desk(people(1))

    async def wait_for_the_pulse():
        await desk.store.renewed.wait()

    desk.board.jitter = wait_for_the_pulse
    await desk.sit()

    assert desk.store.renewed.is_set()


async def test_work_and_cost_of_other_processes_are_counted(monkeypatch):
    monkeypatch.setattr(run_worker_module, "STATUS_INTERVAL_S", 0.01)
    desk = Desk(people(3))
    desk.clients.stop_conditions.budget = Budget(calls=100)
    desk.store.spending = lambda run: Spending(calls=100)
    desk.store.count_units = lambda run, kind: {"done": 2, "failed": 1, "waiting": 5}

    lengths = asyncio.Event()
    desk.watcher.over = lambda **counts: (desk.watcher.begun.update(counts), lengths.set())

    async def wait_for_the_news(request):
        await lengths.wait()
        return await Switchboard.take(desk.board, request)

    desk.board.take = wait_for_the_news
    await desk.sit()

    assert desk.watcher.begun == {"sessions": 3, "annotations": 3}
    assert len(desk.board.asked) <= 4
    assert "100 calls is spent" in desk.clients.stop_conditions.reason


async def test_a_run_without_units_ends_at_once():
    desk = Desk(people(1))
    await desk.sit()
    asked = len(desk.board.asked)

    await desk.sit()

    assert len(desk.board.asked) == asked
