"""The ledgers in the database and in memory agree for every sequence of operations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.contract.given import a_dialogue, a_failure, a_plan, a_session, a_study, an_annotation, an_annotation_unit
from tests.databases import Database
from tests.fakes.store import FakeStore
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.ports.store import Store

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

NUMBERS = st.integers(0, 4)
OWNERS = st.sampled_from(["w1", "w2"])


class LedgerLaw(RuleBasedStateMachine):
    """Applies the same operations to two stores, which must return the same results."""

    real: ClassVar[Store]
    loop: ClassVar[asyncio.AbstractEventLoop]

    @initialize()
    def begin(self) -> None:
        self.fake = FakeStore()
        self.fake.started = True
        # A run of its own for every example; the database is shared.
        self.runs = [(store, store.open_run(a_study(), a_plan(), new_run=True)) for store in (self.fake, self.real)]
        for store, _ in self.runs:
            store.release("w1")
            store.release("w2")

    def both(self, ask: object) -> None:
        answers = [ask(store, run) for store, run in self.runs]
        assert answers[0] == answers[1]

    @rule(numbers=st.sets(NUMBERS))
    def add(self, numbers: set[int]) -> None:
        def ask(store: Store, run: Run) -> int:
            sessions = [a_session(run, number) for number in sorted(numbers)]
            judgings = [an_annotation_unit(run, session) for session in sessions]
            return store.add_units(run, sessions + judgings, adopt=False)

        self.both(ask)

    @rule(kind=st.sampled_from(UnitKind), owner=OWNERS, limit=st.integers(1, 3), lease_s=st.sampled_from([-1.0, 60.0]))
    def claim(self, kind: UnitKind, owner: str, limit: int, lease_s: float) -> None:
        def ask(store: Store, run: Run) -> list[tuple[str, str, int]]:
            units = store.claim(run, kind, owner=owner, limit=limit, lease_s=lease_s)
            return [(unit.label, unit.annotator, unit.tries) for unit in units]

        self.both(ask)

    @rule(owner=OWNERS, lease_s=st.sampled_from([-1.0, 60.0]))
    def renew(self, owner: str, lease_s: float) -> None:
        self.both(lambda store, _: len(store.renew(owner, lease_s)))  # keys hang on those of runs, which differ

    @rule(owner=OWNERS)
    def release(self, owner: str) -> None:
        self.both(lambda store, _: store.release(owner))

    @rule(number=NUMBERS, annotate=st.booleans(), well=st.booleans(), tries=st.integers(0, 2))
    def finish(self, number: int, annotate: bool, well: bool, tries: int) -> None:
        def ask(store: Store, run: Run) -> str:
            session = a_session(run, number)
            unit = replace(an_annotation_unit(run, session) if annotate else session, tries=tries)
            try:
                self.loop.run_until_complete(_finish(store, unit, well=well))
            except Exception as error:  # noqa: BLE001  # the kind of refusal is the answer
                return type(error).__name__
            return "kept"

        self.both(ask)

    @rule(numbers=st.sets(NUMBERS))
    def reopen(self, numbers: set[int]) -> None:
        self.both(lambda store, run: store.reopen([a_session(run, number).key for number in numbers]))

    @invariant()
    def they_agree(self) -> None:
        for kind in UnitKind:
            self.both(lambda store, run, kind=kind: store.count_units(run, kind))
        self.both(lambda store, run: [(f.label, f.annotator) for f in store.failures(run)])
        self.both(lambda store, run: [dialogue.label for dialogue in store.dialogues(run)])
        self.both(lambda store, run: [annotation.annotator for annotation in store.annotations(run)])


async def _finish(store: Store, unit: Unit, *, well: bool) -> None:
    if not well:
        await store.keep_failure(unit, a_failure(unit))
    elif unit.kind is UnitKind.SESSION:
        await store.keep_dialogue(unit, a_dialogue(unit))
    else:
        await store.keep_annotation(unit, an_annotation(unit, unit.subject))


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def test_both_ledgers_obey_the_law(sqlite: Database, loop: asyncio.AbstractEventLoop) -> None:
    LedgerLaw.real, LedgerLaw.loop = sqlite.open(), loop
    loop.run_until_complete(LedgerLaw.real.start())

    run_state_machine_as_test(
        LedgerLaw,
        settings=settings(
            max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )

    loop.run_until_complete(LedgerLaw.real.stop())
