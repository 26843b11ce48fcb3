"""A run that is stopped anywhere goes on: nothing stored is asked again, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.builders import group, judge, latest_evidence, live, study
from tests.fakes.clients import Jitter, Switchboard, Watcher, clients_for, usual_answer
from tests.fakes.store import FakeStore
from theodolite.domain.errors import StorageUnavailable
from theodolite.domain.identity import version_of
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import Runner, RunOptions

STUDY = study(
    personas=(group("Ana", "Ben", "Chi"),),
    applications=(live("blue"), live("green")),
    annotators=(judge(), judge("second")),
)
N_CALLS = 3 * 2 * (4 + 2)
DEAD = StorageUnavailable("the process is dead")


class MortalStore(FakeStore):
    """A store whose process may die: from then on nothing more is written, not even a release."""

    def __init__(self):
        super().__init__()
        self.is_dead = False

    def live_again(self):
        self.is_dead = False
        for kept in self.units.values():
            kept.lease_until = 0.0

    def _outlive(self):
        if self.is_dead:
            raise DEAD

    async def append(self, unit, entry):
        self._outlive()
        await super().append(unit, entry)
        await asyncio.sleep(0)

    async def keep_dialogue(self, unit, dialogue, **how):
        self._outlive()
        return await super().keep_dialogue(unit, dialogue, **how)

    async def keep_annotation(self, unit, annotation):
        self._outlive()
        await super().keep_annotation(unit, annotation)

    def release(self, owner):
        if not self.is_dead:
            super().release(owner)

    def reopen(self, units):
        if not self.is_dead:
            super().reopen(units)

    def stored(self):
        return Counter(entry.request_hash for key in self.units for entry in self.entries(key))


@dataclass
class Machine:
    """Runs one study, and may be stopped at some call: by a signal, or dead on the spot."""

    store: MortalStore = field(default_factory=MortalStore)
    asked: Counter = field(default_factory=Counter)
    sittings: int = 0

    def sit(self, stop_at=None, *, hard=False, jitter=(0,), concurrency=3):
        asyncio.run(self._sit(stop_at, hard, jitter, concurrency))

    async def _sit(self, stop_at, hard, jitter, concurrency):
        self.store.started = True
        self.store.live_again()
        self.asked = Counter()
        self.sittings += 1  # each is a process of its own, and has a name of its own

        def answer(request):
            self.asked[version_of(request)] += 1
            if self.asked.total() == stop_at:
                self.store.is_dead = hard
                running.cancel()
            return usual_answer(request)

        plan, sessions = draw_plan(STUDY)
        runner = Runner(
            study=STUDY,
            plan=plan,
            sessions=sessions,
            recordings=(),
            store=self.store,
            clients=clients_for(Switchboard(answer=answer, jitter=Jitter(jitter)), applications=("blue", "green")),
            progress=Watcher(),
            owner=f"process {self.sittings}",
        )
        running = asyncio.create_task(runner.run(RunOptions(concurrency=concurrency)))
        async with asyncio.timeout(20):
            with contextlib.suppress(asyncio.CancelledError, StorageUnavailable):
                await running

    def evidence(self):
        archive = latest_evidence(self.store, STUDY).archive
        given = [(one.dialogue, one.annotator, one.answers) for one in archive.annotations()]
        assert len(set(given)) == len(given)
        return {dialogue.label: dialogue for dialogue in archive.dialogues()}, set(given)


@pytest.fixture(scope="module")
def whole():
    """Return a run without a break."""
    machine = Machine()
    machine.sit()
    assert machine.asked.total() == N_CALLS
    assert machine.asked == machine.store.stored()
    return machine


@pytest.mark.parametrize("hard", [False, True], ids=["signal", "dead"])
@pytest.mark.parametrize("stop_at", range(1, N_CALLS + 1))
def test_a_run_stopped_at_any_call_resumes(stop_at, hard, whole):
    machine = Machine()
    machine.sit(stop_at, hard=hard)
    stored = machine.store.stored()
    assert machine.asked.total() - stored.total() <= 2 * 3

    machine.sit()

    assert machine.asked == whole.asked - stored
    assert machine.store.stored() == whole.asked
    assert machine.evidence() == whole.evidence()


@settings(deadline=None, max_examples=60)
@given(
    stops=st.lists(st.tuples(st.integers(1, 20), st.booleans(), st.integers(1, 8)), max_size=4),
    jitter=st.lists(st.integers(0, 3), min_size=1, max_size=8),
)
def test_a_run_stopped_repeatedly_resumes(stops, jitter, whole):
    machine = Machine()
    for stop_at, hard, concurrency in stops:
        before = machine.store.stored()
        machine.sit(stop_at, hard=hard, jitter=jitter, concurrency=concurrency)
        assert machine.asked <= whole.asked - before

    before = machine.store.stored()
    machine.sit()

    assert machine.asked == whole.asked - before
    assert machine.store.stored() == whole.asked
    assert machine.evidence() == whole.evidence()
