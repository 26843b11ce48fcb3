"""Running a study: test, assess, and go on where an earlier sitting stopped."""

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
from theodolite.execution.aside import Aside
from theodolite.execution.lines import Lines
from theodolite.execution.sitting import Flows, Sitting, n_over
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store
from theodolite.testing.strategies.catalogue import APPROACHES
from theodolite.testing.strategies.line import Approach
from theodolite.usecases.flows import StudyFlows
from theodolite.usecases.ledger import annotation_units, annotations_due, people_units, session_units
from theodolite.usecases.placing import as_planned

if TYPE_CHECKING:  # they are handed over by whoever has loaded them
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
        first: Hold the first sessions of the plan only; count, None for all.
        anew: Begin another run even if one of this plan exists, and ask everything again.
        retry_failed: Try once more what failed before.
        parallel: Calls of each kind of unit in flight at most; count.
        cache: Keep the replies of all models and give them again, whatever the study says.
    """

    kinds: frozenset[UnitKind] = ALL_KINDS
    first: int | None = None
    anew: bool = False
    retry_failed: bool = False
    parallel: int = 32
    cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands after a sitting.

    Attributes:
        run: The run.
        stopped: Why the sitting stopped before its work was done; empty where it did not.
        sessions: Session units by state; counts.
        annotations: Annotation units by state; counts.
        planned: Sessions of the whole plan; count.
        due: Annotations of the whole plan; count.
        lost: Those among them whose session failed, so that there is nothing to annotate; count.
        remedy: What to do before going on, where something is to be done.
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
        """Dialogues that were held; count."""
        return self.sessions.get(UnitState.DONE, 0)

    @property
    def annotated(self) -> int:
        """Annotations that were given; count."""
        return self.annotations.get(UnitState.DONE, 0)

    @property
    def is_complete(self) -> bool:
        """Whether every planned unit has brought a result or an explicit failure."""
        failed = self.sessions.get(UnitState.FAILED, 0)
        answered = self.annotated + self.annotations.get(UnitState.FAILED, 0)
        return self.dialogues + failed == self.planned and answered + self.lost == self.due


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs one study.

    Attributes:
        study: What was written down.
        plan: The same fully drawn.
        sessions: The sessions of the plan.
        recordings: Dialogues of its recorded applications.
        store: The database; started.
        lines: Connections to models and applications.
        progress: Who watches.
        owner: Name of this process in the ledger.
        searches: Name of a scenario to what searches its corpus.
        approaches: Strategies of red teaming by name.
    """

    study: Study
    plan: Plan
    sessions: Sessions
    recordings: Sequence[RecordedDialogue]
    store: Store
    lines: Lines
    progress: Progress
    owner: str
    searches: Mapping[str, Search] = field(default_factory=dict)
    approaches: Mapping[str, Approach] = field(default_factory=lambda: APPROACHES)

    async def run(self, options: RunOptions) -> Standing:
        """Test and assess until the plan is done or the run is stopped.

        The same call goes on where an earlier sitting stopped: what is stored
        is never asked again.

        Raises:
            StoreError: If the database fails; what was acknowledged is kept.
        """
        flows = StudyFlows(
            self.study, self.sessions, self.recordings, searches=self.searches, approaches=self.approaches
        )
        aside = Aside()
        try:
            run = await aside.call(self.store.open_run, self.study, self.plan, anew=options.anew)
            await aside.call(self._enter_units, run, options)
            await self._sit(run, flows, options, aside)
            await self._adjudicate(run, flows, aside)
            return await aside.call(self._standing, run)
        finally:
            await aside.call(self.store.disconnect)
            aside.close()

    def _enter_units(self, run: Run, options: RunOptions) -> None:
        """Put all units into the ledger; they are worked out twice, since all of them together are too many to hold."""
        study, sessions, adopt = self.study, self.sessions, not options.anew
        self.store.add_units(run, session_units(study, run, sessions, options.first), adopt=adopt)
        people = list(people_units(run, study, sessions, self.store.held(study.name), first=options.first))
        self.store.add_units(run, people)
        held = chain(session_units(study, run, sessions, options.first), people)
        origins = self.store.origins(run)
        self.store.add_units(run, annotation_units(study, run, sessions, held, origins), adopt=adopt)
        if options.retry_failed:
            self.store.reopen([failure.unit for failure in self.store.failures(run)])

    async def _sit(self, run: Run, flows: StudyFlows, options: RunOptions, aside: Aside) -> None:
        self.lines.brakes.spent = await aside.call(self.store.spending, run)
        counts = [await aside.call(self.store.count_units, run, kind) for kind in UnitKind]
        if run.state is RunState.FINISHED and any(n_over(count) < sum(count.values()) for count in counts):
            await aside.call(self.store.close_run, run, RunState.UNFINISHED)  # something is tried again, or is new
        self.progress.begin(
            sessions=sum(counts[0].values()),
            annotations=sum(counts[1].values()),
            done=n_over(counts[0]),
            annotated=n_over(counts[1]),
        )
        self.progress.spent(self.lines.brakes.spent)
        sitting = Sitting(
            run=run,
            owner=self.owner,
            store=self.store,
            lines=self.lines,
            flows=Flows(session=flows.session, annotation=flows.annotation),
            progress=self.progress,
            parallel=options.parallel,
            aside=aside,
            before=options.first,
        )
        try:
            await sitting.work(options.kinds)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        finally:
            self.progress.end()
            await aside.call(self.store.reopen, self.lines.brakes.unjust_failures())
            await aside.call(self.store.release, self.owner)

    async def _adjudicate(self, run: Run, flows: StudyFlows, aside: Aside) -> None:
        if self.study.reference is None:
            return
        rest = as_planned(self.store.dialogues(run), self.sessions)
        while dialogues := await aside.call(lambda: list(islice(rest, _AT_ONCE))):
            await self.store.keep_adjudications(run, flows.adjudications(dialogues))

    def _standing(self, run: Run) -> Standing:
        sessions = self.sessions
        places = list(range(len(held_by_runs(sessions))))
        if isinstance(sessions, EventSessions):
            places += sessions.units.values()
        failed = (sessions.find(failure.label) for failure in self.store.failures(run) if not failure.annotator)
        standing = Standing(
            run=run,
            stopped=self.lines.brakes.reason,
            sessions=self.store.count_units(run, UnitKind.SESSION),
            annotations=self.store.count_units(run, UnitKind.ANNOTATION),
            planned=len(places),
            due=annotations_due(self.study, (sessions.setting(place).scenario for place in places)),
            lost=annotations_due(self.study, (sessions.setting(p).scenario for p in failed if p is not None)),
            remedy=self.lines.brakes.remedy,
        )
        if not standing.is_complete:  # as the run is, unless another process has ended it since we looked
            return replace(standing, run=replace(run, state=RunState.UNFINISHED))
        self.store.close_run(run, RunState.FINISHED)
        # Brakes that took hold at the very last call have stopped nothing.
        return replace(standing, run=replace(run, state=RunState.FINISHED), stopped="")


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what ended a sitting: the first failure of the database, else the first of all.

    One worker's failure cancels the others, so the rest of a group only repeats it.
    """
    inside = [
        cause
        for member in group.exceptions
        for cause in ([_cause(member)] if isinstance(member, BaseExceptionGroup) else [member])
    ]
    return next((cause for cause in inside if isinstance(cause, StoreError)), inside[0])
