"""Runs a study: test, assess, and resume where an earlier run stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from theodolite.domain.errors import StoreError
from theodolite.domain.event_sessions import EventSessions, held_by_runs
from theodolite.domain.passage import Search
from theodolite.domain.plan import Plan, Sessions
from theodolite.domain.run import Run, RunState, UnitKind, UnitState
from theodolite.domain.study import Study
from theodolite.execution.clients import BlockingExecutor, Clients
from theodolite.execution.run_worker import Flows, RunWorker, n_finished
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store
from theodolite.testing.people import people_units
from theodolite.testing.strategies.approach import Approach
from theodolite.testing.strategies.catalogue import APPROACHES
from theodolite.usecases.flows import StudyFlows
from theodolite.usecases.ledger import annotation_units, annotations_due, session_units
from theodolite.usecases.placing import as_planned

if TYPE_CHECKING:  # they are handed over by whoever has loaded them
    from theodolite.domain.live import LiveDialogueSummary
    from theodolite.domain.recording import RecordedDialogue

ALL_KINDS = frozenset(UnitKind)
"""Testing and assessment."""

_AT_ONCE = 500
"""Dialogues that final labels are looked up for together; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How far a run is to go this time.

    Attributes:
        kinds: Testing, assessment or both.
        limit: Run only the first sessions of the plan; count, None for all.
        new_run: Start a new run even if one of this plan exists; every call is made again.
        retry_failed: Try once more what failed before.
        concurrency: Concurrent calls per kind of unit; count.
        cache: Keep the replies of all models and give them again, whatever the study says.
    """

    kinds: frozenset[UnitKind] = ALL_KINDS
    limit: int | None = None
    new_run: bool = False
    retry_failed: bool = False
    concurrency: int = 32
    cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """Status of a run.

    Attributes:
        run: The run.
        stopped: Why the run stopped before its plan was complete; empty if it did not.
        sessions: Session units by state; counts.
        annotations: Annotation units by state; counts.
        planned: Sessions of the whole plan; count.
        due: Annotations of the whole plan; count.
        lost: Annotations whose session failed, so that there is no dialogue to annotate; count.
        remedy: What the user does before resuming; empty if nothing.
    """

    run: Run
    stopped: str
    sessions: Mapping[str, int]
    annotations: Mapping[str, int]
    planned: int
    due: int
    lost: int = 0
    remedy: str = ""

    @property
    def dialogues(self) -> int:
        """Completed dialogues; count."""
        return self.sessions.get(UnitState.DONE, 0)

    @property
    def annotated(self) -> int:
        """Stored annotations; count."""
        return self.annotations.get(UnitState.DONE, 0)

    @property
    def is_complete(self) -> bool:
        """Whether every planned unit has a result or an explicit failure."""
        failed = self.sessions.get(UnitState.FAILED, 0)
        labelled = self.annotated + self.annotations.get(UnitState.FAILED, 0)
        return self.dialogues + failed == self.planned and labelled + self.lost == self.due


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs one study.

    Attributes:
        study: The study.
        plan: Its plan.
        sessions: The sessions of the plan.
        recordings: Dialogues of its recorded applications.
        store: The database; started.
        clients: Models and applications.
        progress: Receives progress reports.
        owner: Name of this process in the ledger.
        searches: Search functions of corpora, by scenario.
        approaches: Strategies of red teaming by name.
        people: Dialogues of participants in the study, without texts.
    """

    study: Study
    plan: Plan
    sessions: Sessions
    recordings: Sequence[RecordedDialogue]
    store: Store
    clients: Clients
    progress: Progress
    owner: str
    searches: Mapping[str, Search] = field(default_factory=dict)
    approaches: Mapping[str, Approach] = field(default_factory=lambda: APPROACHES)
    people: Sequence[LiveDialogueSummary] = ()

    async def run(self, options: RunOptions) -> RunStatus:
        """Test and assess until the plan is complete or a stop condition holds.

        The same call resumes an interrupted run; stored replies are never requested again.

        Raises:
            StoreError: If the database fails; acknowledged writes are kept.
        """
        flows = StudyFlows(
            self.study, self.sessions, self.recordings, searches=self.searches, approaches=self.approaches
        )
        executor = BlockingExecutor()
        try:
            run = await executor.call(self.store.open_run, self.study, self.plan, new_run=options.new_run)
            await executor.call(self._enter_units, run, options)
            await self._work(run, flows, options, executor)
            await self._adjudicate(run, flows, executor)
            return await executor.call(self._standing, run)
        finally:
            await executor.call(self.store.disconnect)
            executor.close()

    def _enter_units(self, run: Run, options: RunOptions) -> None:
        """Add all units to the ledger; they are generated twice because they may not fit into memory."""
        study, sessions, adopt = self.study, self.sessions, not options.new_run
        self.store.add_units(run, session_units(study, run, sessions, options.limit), adopt=adopt)
        people = list(people_units(run, study, sessions, self.people, first=options.limit))
        self.store.add_units(run, people)
        held = chain(session_units(study, run, sessions, options.limit), people)
        origins = self.store.origins(run)
        self.store.add_units(run, annotation_units(study, run, sessions, held, origins), adopt=adopt)
        if options.retry_failed:
            self.store.reopen([failure.unit for failure in self.store.failures(run)])

    async def _work(self, run: Run, flows: StudyFlows, options: RunOptions, executor: BlockingExecutor) -> None:
        self.clients.stop_conditions.spent = await executor.call(self.store.spending, run)
        counts = [await executor.call(self.store.count_units, run, kind) for kind in UnitKind]
        if run.state is RunState.FINISHED and any(n_finished(count) < sum(count.values()) for count in counts):
            await executor.call(
                self.store.close_run, run, RunState.UNFINISHED
            )  # failed units are retried, or units are new
        self.progress.begin(
            sessions=sum(counts[0].values()),
            annotations=sum(counts[1].values()),
            done=n_finished(counts[0]),
            annotated=n_finished(counts[1]),
        )
        self.progress.spent(self.clients.stop_conditions.spent)
        worker = RunWorker(
            run=run,
            owner=self.owner,
            store=self.store,
            clients=self.clients,
            flows=Flows(session=flows.session, annotation=flows.annotation),
            progress=self.progress,
            parallel=options.concurrency,
            executor=executor,
            before=options.limit,
        )
        try:
            await worker.work(options.kinds)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        finally:
            self.progress.end()
            await executor.call(self.store.reopen, self.clients.stop_conditions.endpoint_failures())
            await executor.call(self.store.release, self.owner)

    async def _adjudicate(self, run: Run, flows: StudyFlows, executor: BlockingExecutor) -> None:
        if self.study.reference is None:
            return
        stored = as_planned(self.store.dialogues(run), self.sessions)
        while dialogues := await executor.call(lambda: list(islice(stored, _AT_ONCE))):
            await self.store.keep_adjudications(run, flows.adjudications(dialogues))

    def _standing(self, run: Run) -> RunStatus:
        sessions = self.sessions
        places = list(range(len(held_by_runs(sessions))))
        if isinstance(sessions, EventSessions):
            places += sessions.units.values()
        failed = (sessions.find(failure.label) for failure in self.store.failures(run) if not failure.annotator)
        standing = RunStatus(
            run=run,
            stopped=self.clients.stop_conditions.reason,
            sessions=self.store.count_units(run, UnitKind.SESSION),
            annotations=self.store.count_units(run, UnitKind.ANNOTATION),
            planned=len(places),
            due=annotations_due(self.study, (sessions.setting(place).scenario for place in places)),
            lost=annotations_due(self.study, (sessions.setting(p).scenario for p in failed if p is not None)),
            remedy=self.clients.stop_conditions.remedy,
        )
        if not standing.is_complete:  # another process may have finished the run since the counts were read
            return replace(standing, run=replace(run, state=RunState.UNFINISHED))
        self.store.close_run(run, RunState.FINISHED)
        # A stop condition that held only after the last call stopped nothing.
        return replace(standing, run=replace(run, state=RunState.FINISHED), stopped="")


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that ended a run: the first database error, else the first error.

    The failure of one task cancels the others, so the other errors of the group only repeat it.
    """
    inside = [
        cause
        for member in group.exceptions
        for cause in ([_cause(member)] if isinstance(member, BaseExceptionGroup) else [member])
    ]
    return next((cause for cause in inside if isinstance(cause, StoreError)), inside[0])
