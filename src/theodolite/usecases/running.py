"""Runs of a study: their units in the ledger, the sessions and annotations, and their status."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from theodolite.assessment import annotating
from theodolite.assessment.annotating import AnnotationTask, adjudication, annotate
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.application import code_differences
from theodolite.domain.dialogue import Dialogue, Search, TesterType
from theodolite.domain.errors import InputError, NotFound, StoreError
from theodolite.domain.flow import Flow
from theodolite.domain.identity import digest, version_of
from theodolite.domain.persona import Persona
from theodolite.domain.plan import (
    EVERYTHING,
    EventSessions,
    Plan,
    Selection,
    Sessions,
    TesterKind,
    expected_of,
    held_by_runs,
)
from theodolite.domain.run import Run, RunState, Unit, UnitKind, UnitState
from theodolite.domain.study import Budget, Study
from theodolite.execution.clients import BlockingExecutor, Clients
from theodolite.execution.run_worker import Flows, RunWorker, n_finished
from theodolite.ports.application import Endpoint, EndpointCheck
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store
from theodolite.testing.people import people_units
from theodolite.testing.sessions import SessionTask, run_session, task_version
from theodolite.testing.strategies import APPROACHES, Approach

if TYPE_CHECKING:
    from theodolite.domain.live import LiveDialogueSummary, RecordedDialogue
    from theodolite.domain.shards import Shard
    from theodolite.domain.status import Status


@cache
def below_half(a: float, b: float) -> float:
    """Return the probability that a Beta(a, b) variable is below one half."""
    from theodolite.measurement.proportion import beta_below_half

    return beta_below_half(a, b)


def session_units(study: Study, run: Run, sessions: Sessions, at: Iterable[int] | None = None) -> Iterator[Unit]:
    """Yield one unit for each planned session, in order of the plan.

    A unit's work key identifies the work, in whichever run: what
    the tester's side sees, the application and the model that plays the user.

    Args:
        study: Names applications and models.
        run: The run of the units.
        sessions: All sessions of the plan.
        at: Positions of the sessions; None for all.
    """
    sessions = held_by_runs(sessions)
    versions = {application.name: study.application_version(application.name) for application in study.applications}
    players = {"": "", **{model.name: model.version for model in study.models}}
    task = task_version()
    for position in range(len(sessions)) if at is None else at:
        setting = sessions.setting(position)
        who = versions[setting.application], players[setting.model]
        work_key = digest("session", sessions.pair_key(position), *who, task)
        yield Unit(
            key=digest(run.key, work_key),
            kind=UnitKind.SESSION,
            work_key=work_key,
            position=position,
            label=sessions.label(position),
            application=setting.application,
        )


def annotations_due(study: Study, scenarios: Iterable[str]) -> int:
    """Return the number of annotations that some sessions require; count.

    Args:
        study: Names the annotators.
        scenarios: The scenario of each session.
    """
    return sum(
        n * sum(study.asks(annotator.guideline, scenario) for annotator in study.asked)
        for scenario, n in Counter(scenarios).items()
    )


def annotation_units(
    study: Study, run: Run, planned: Sessions, sessions: Iterable[Unit], origins: Mapping[str, str]
) -> Iterator[Unit]:
    """Yield one unit for each session and each of its annotators, in order of the plan.

    Args:
        study: Names the annotators.
        run: The run of the units.
        planned: All sessions of the plan.
        sessions: The run's session units.
        origins: Sessions that were reused from an earlier run, with their origin;
            an annotation may be reused only together with its dialogue.
    """
    versions = {annotator.name: study.annotator_version(annotator.name) for annotator in study.asked}
    rules = {annotator.name: annotating.task_version(annotator) for annotator in study.asked}
    for session in sessions:
        for name, version in versions.items():
            if not study.asks(study.annotator(name).guideline, planned.setting(session.position).scenario):
                continue
            subject = origins.get(session.key, session.key)
            work_key = digest("annotation", subject, version, rules[name])
            yield Unit(
                key=digest(run.key, work_key),
                kind=UnitKind.ANNOTATION,
                work_key=work_key,
                position=session.position,
                label=session.label,
                application=session.application,
                subject=session.key,
                annotator=name,
            )


def enter_units(
    store: Store,
    study: Study,
    run: Run,
    sessions: Sessions,
    *,
    at: Sequence[int],
    people: Sequence[Unit] = (),
    adopt: bool,
) -> None:
    """Add units to the ledger; they are generated twice because they may not fit into memory.

    Args:
        store: The database.
        study: Names applications and annotators.
        run: The run of the units.
        sessions: All sessions of the plan.
        at: Positions of the sessions to add.
        people: Units of sessions by people.
        adopt: Whether to reuse results of earlier runs.
    """
    if not people and _are_entered(store, study, run, held_by_runs(sessions), at):
        return
    store.add_units(run, session_units(study, run, sessions, at), adopt=adopt)
    store.add_units(run, people)
    units = chain(session_units(study, run, sessions, at), people)
    store.add_units(run, annotation_units(study, run, sessions, units, store.origins(run)), adopt=adopt)


def _are_entered(store: Store, study: Study, run: Run, sessions: Sessions, at: Sequence[int]) -> bool:
    """Return whether all units of the plan are in the ledger, so that a joining worker need not compare each.

    A run has only the units of its plan, so the whole plan is there if the counts are equal.
    """
    if len(at) < len(sessions):
        return False
    counted = {kind: sum(store.count_units(run, kind).values()) for kind in UnitKind}
    due = annotations_due(study, (sessions.setting(position).scenario for position in at))
    return counted == {UnitKind.SESSION: len(sessions), UnitKind.ANNOTATION: due}


class StudyFlows:
    """Begins the flows of one study.

    Args:
        study: The study's preregistration.
        sessions: Sessions of its plan.
        recordings: Dialogues of the recorded applications.
        searches: Name of a scenario to the search of its corpus.
        approaches: Strategies of red teaming by name.
    """

    def __init__(
        self,
        study: Study,
        sessions: Sessions,
        recordings: Sequence[RecordedDialogue],
        *,
        searches: Mapping[str, Search] | None = None,
        approaches: Mapping[str, Approach] = APPROACHES,
    ) -> None:
        self._study = study
        self._searches = searches or {}
        self._approaches = approaches
        self._sessions = sessions
        self._rows: Mapping[tuple[str, str, int], Sequence[Mapping[str, str]]] = {
            (recording.application, recording.key, recording.repeat): recording.rows for recording in recordings
        }

    def session(self, unit: Unit) -> Flow[Dialogue]:
        """Return the flow of a session."""
        session = self._sessions[unit.position]
        scenario = self._study.scenario(session.scenario)
        task = SessionTask(
            key=unit.key,
            session=session,
            scenario=scenario,
            application_version=self._application_versions[session.application],
            scenario_version=self._scenario_versions.get(scenario.name) or version_of(scenario),
            # The recorded application searched elsewhere, or not at all.
            search=None if session.held_by is TesterType.RECORDED else self._searches.get(scenario.name),
            approaches=self._approaches,
        )
        return run_session(task)

    def annotation(self, unit: Unit, dialogue: Dialogue) -> Flow[Annotation]:
        """Return the flow in which an annotator answers about a dialogue."""
        annotator = self._study.annotator(unit.annotator)
        guideline = self._study.guideline(annotator.guideline)
        task = AnnotationTask(
            unit=unit.key,
            annotator=annotator,
            annotator_version=self._annotator_versions[annotator.name],
            guideline=guideline,
            guideline_version=self._guideline_versions[guideline.name],
            dialogue=dialogue,
            rows=self._rows_of(unit.position),
            below_half=below_half,
            packet=self._study.scenario(dialogue.scenario).packet,
            expected=expected_of(self._sessions[unit.position].tester),
        )
        return annotate(task)

    def adjudications(self, dialogues: Iterable[tuple[int, Dialogue]]) -> tuple[Adjudication, ...]:
        """Return the final labels of dialogues from the recorded rows, with their positions."""
        reference = self._study.reference
        if reference is None:
            return ()
        guideline = self._study.guideline(reference.guideline)
        return tuple(
            adjudication(reference, guideline, dialogue, self._rows_of(position)) for position, dialogue in dialogues
        )

    def _rows_of(self, position: int) -> Sequence[Mapping[str, str]]:
        """Return the rows of a recorded dialogue, by turn; none for one from a run or another file."""
        setting = self._sessions.setting(position)
        if setting.held_by is not TesterType.RECORDED:
            return ()
        return self._rows.get((setting.application, setting.tester, self._sessions[position].repeat), ())

    @cached_property
    def _application_versions(self) -> dict[str, str]:
        return {a.name: self._study.application_version(a.name) for a in self._study.applications}

    @cached_property
    def _scenario_versions(self) -> dict[str, str]:
        return {scenario.name: version_of(scenario) for scenario in self._study.scenarios}

    @cached_property
    def _annotator_versions(self) -> dict[str, str]:
        return {a.name: self._study.annotator_version(a.name) for a in self._study.annotators}

    @cached_property
    def _guideline_versions(self) -> dict[str, str]:
        return {guideline.name: version_of(guideline) for guideline in self._study.guidelines}


ALL_KINDS = frozenset(UnitKind)
"""Testing and assessment."""

_AT_ONCE = 500
"""Dialogues with final labels that are read together; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Scope of a run.

    Attributes:
        kinds: Testing, assessment or both.
        limit: Run only the first selected sessions of the plan; count, None for all.
        selection: Run only these sessions of the plan.
        new_run: Start a new run even if one of this plan exists; every call is made again.
        retry_failed: Retry earlier failures once.
        concurrency: Concurrent calls per kind of unit; count.
        cache: Store and reuse the replies of all models, regardless of the study.
        budget: Limits instead of the study's; None for the study's.
        shard: Run only this part of the plan; None for all.
    """

    kinds: frozenset[UnitKind] = ALL_KINDS
    limit: int | None = None
    selection: Selection = EVERYTHING
    new_run: bool = False
    retry_failed: bool = False
    concurrency: int = 32
    cache: bool = False
    budget: Budget | None = None
    shard: Shard | None = None

    def positions(self, sessions: Sessions) -> Sequence[int]:
        """Return the positions of the sessions to run now."""
        return self.part_of(self.selection.positions(held_by_runs(sessions))[: self.limit])

    def scope(self, sessions: Sessions) -> Sequence[int] | None:
        """Return the positions that the run is restricted to; None for no restriction, also of people's dialogues."""
        return self.selection.positions(held_by_runs(sessions))[: self.limit] if self.is_restricted else None

    @property
    def is_restricted(self) -> bool:
        """Whether a limit or a selection restricts the run to a part of the plan."""
        return self.limit is not None or not self.selection.is_all

    def part_of(self, positions: Sequence[int]) -> Sequence[int]:
        """Return the positions that belong to the shard."""
        return positions if self.shard is None else self.shard.of(positions)


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
        lost: Annotations without a dialogue because its session failed; count.
        remedy: Action needed before resuming; empty if none.
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
            if self.study.reference is not None:
                await adjudicate(self.store, run, self.sessions, flows, executor)
            return await executor.call(self._status, run, options)
        finally:
            await executor.call(self.store.disconnect)
            executor.close()

    def _enter_units(self, run: Run, options: RunOptions) -> None:
        participants = () if options.shard or options.is_restricted else self.people
        people = list(people_units(run, self.study, self.sessions, participants))
        at = options.positions(self.sessions)
        enter_units(self.store, self.study, run, self.sessions, at=at, people=people, adopt=not options.new_run)
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
            within=options.scope(self.sessions),
        )
        try:
            await worker.work(options.kinds)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        finally:
            self.progress.end()
            await executor.call(self.store.reopen, self.clients.stop_conditions.endpoint_failures())
            await executor.call(self.store.release, self.owner)

    def _status(self, run: Run, options: RunOptions) -> RunStatus:
        sessions = self.sessions
        positions = [*options.part_of(range(len(held_by_runs(sessions))))]
        if isinstance(sessions, EventSessions) and options.shard is None:
            positions += sessions.units.values()
        stop_conditions = self.clients.stop_conditions
        stopped, remedy = stop_conditions.reason, stop_conditions.remedy
        return close_if_complete(self.store, self.study, run, sessions, at=positions, stopped=stopped, remedy=remedy)


async def adjudicate(store: Store, run: Run, sessions: Sessions, flows: StudyFlows, executor: BlockingExecutor) -> None:
    """Store the final labels from a study's recorded rows for the dialogues of a run."""
    stored = as_planned(store.dialogues(run), sessions)
    while dialogues := await executor.call(lambda: list(islice(stored, _AT_ONCE))):
        await store.keep_adjudications(run, flows.adjudications(dialogues))


def close_if_complete(
    store: Store, study: Study, run: Run, sessions: Sessions, *, at: Sequence[int], stopped: str = "", remedy: str = ""
) -> RunStatus:
    """Return the status of a run, and close the run if its plan is complete.

    Args:
        store: The database.
        study: Names the annotators.
        run: The run.
        sessions: All sessions of the plan.
        at: Positions of the sessions that complete the run.
        stopped: Why the run stopped; empty if it did not.
        remedy: Action needed before resuming; empty if none.
    """
    failed = (sessions.find(failure.label) for failure in store.failures(run) if not failure.annotator)
    status = RunStatus(
        run=run,
        stopped=stopped,
        sessions=store.count_units(run, UnitKind.SESSION),
        annotations=store.count_units(run, UnitKind.ANNOTATION),
        planned=len(at),
        due=annotations_due(study, (sessions.setting(position).scenario for position in at)),
        lost=annotations_due(study, (sessions.setting(p).scenario for p in failed if p is not None)),
        remedy=remedy,
    )
    if not status.is_complete:  # another process may have finished the run since the counts were read
        return replace(status, run=replace(run, state=RunState.UNFINISHED))
    store.close_run(run, RunState.FINISHED)
    # A stop condition that became true only after the last call had no effect.
    return replace(status, run=replace(run, state=RunState.FINISHED), stopped="")


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


def status_of(store: Store, study: str, now: datetime, *, run: Run | None = None) -> Status:
    """Return the status of a run without writing anything.

    Args:
        store: The database; it need not be started.
        study: Name of the study.
        now: The present moment; UTC.
        run: The run; None for the latest run of the study.

    Raises:
        NotFound: If the study was never run here.
    """
    from theodolite.domain.status import PACE_S, Status

    run = run or store.latest_run(study)
    return Status(
        run=run,
        sessions=_units(store, run, UnitKind.SESSION),
        annotations=_units(store, run, UnitKind.ANNOTATION),
        failed=Counter(failure.party for failure in store.failures(run)),
        spent=store.spending(run),
        pace=store.pace(run, since=max(run.started, now - timedelta(seconds=PACE_S)), until=now),
        calls=store.calls_so_far(run),
        workers=store.workers(run),
    )


def _units(store: Store, run: Run, kind: UnitKind) -> dict[str, int]:
    """Return units by state; units of a dead worker wait for the next one."""
    counted, orphans = store.count_units(run, kind), store.count_orphans(run, kind)
    leased, waiting = counted[UnitState.LEASED] - orphans, counted[UnitState.WAITING] + orphans
    return counted | {UnitState.LEASED: leased, UnitState.WAITING: waiting}


async def check_endpoints(endpoints: Iterable[Endpoint]) -> tuple[EndpointCheck, ...]:
    """Test endpoints at the same time, and return their answers."""
    return tuple(await asyncio.gather(*(endpoint.check_endpoint() for endpoint in endpoints)))


def latest_run(store: Store, study: Study, plan: Plan) -> Run:
    """Return the latest run of a study as currently written.

    Raises:
        NotFound: If the study was never run here.
        InputError: If it has changed since its last run, or this program version runs sessions differently.
    """
    try:
        return store.run_of(plan)
    except NotFound as unknown:
        last = store.latest_run(study.name)
        raise InputError(_what_changed(store, study, last)) from unknown


def _what_changed(store: Store, study: Study, last: Run) -> str:
    """Return why no run fits the study: a new program version may plan an unchanged study differently."""
    if last.study_version == version_of(study):
        return (
            f"the last run (number {last.number}) of study `{study.name}` is by an earlier version of this program, "
            "whose dialogues follow other rules; run the study again: all its dialogues are run again"
        )
    return (
        f"study `{study.name}` has changed since its last run (number {last.number})"
        f"{_changed_code(store, study, last)}; run it again: only changed parts are called again"
    )


def _changed_code(store: Store, study: Study, last: Run) -> str:
    """Return the changed files of applications, with the key that leaves out files that applications write."""
    try:
        earlier = store.study(last.study_version)
    except StoreError:  # the earlier study cannot be read any more
        return ""
    changes = code_differences(earlier.applications, study.applications)
    if not changes:
        return ""
    named = ", ".join(f"{', '.join(files)} of application `{name}`" for name, files in changes.items())
    return f": {named} changed (list files that the application writes itself under `ignore`)"


def as_planned(
    dialogues: Iterable[Dialogue], sessions: Sessions, at: Collection[int] | None = None
) -> Iterator[tuple[int, Dialogue]]:
    """Yield dialogues with the labels, clusters and groups of the current plan, and their positions.

    A dialogue reused from an earlier run may have been `d002` there and
    be `d003` now; its content and tester are unchanged.

    Args:
        dialogues: Dialogues in order of the plan.
        sessions: The sessions of the current plan.
        at: Positions that the dialogues are of; None for all.

    Raises:
        StoreError: If a dialogue is of no planned session, or out of order.
    """
    positions = iter(range(len(sessions)) if at is None else sorted(at))
    event = sessions if isinstance(sessions, EventSessions) else None
    for dialogue in dialogues:
        if event is not None and (location := event.units.get(dialogue.key)) is not None:
            yield location, _as_planned(dialogue, sessions, location)
            continue
        if event is not None and (dialogue.held_by is TesterType.PERSON or dialogue.key in event.left_out):
            continue  # sessions that ended after the listing are counted next time
        position = next((location for location in positions if _is_of(dialogue, sessions, location)), None)
        if position is None:
            label = f"dialogue `{dialogue.label}` ({dialogue.key})"
            message = f"{label} belongs to no session of this plan; start a run with --new-run"
            raise StoreError(message)
        yield position, _as_planned(dialogue, sessions, position)


def _is_of(dialogue: Dialogue, sessions: Sessions, position: int) -> bool:
    is_pair = sessions.pair_key(position) == dialogue.pair_key
    return is_pair and sessions.setting(position).application == dialogue.application


def _as_planned(dialogue: Dialogue, sessions: Sessions, position: int) -> Dialogue:
    setting, label = sessions.setting(position), sessions.label(position)
    persona = _persona(dialogue, sessions, position) if setting.kind is TesterKind.PERSONA else None
    was = (dialogue.label, dialogue.scenario, dialogue.cluster, dialogue.groups)
    if persona is dialogue.persona and was == (label, setting.scenario, setting.cluster, setting.groups):
        return dialogue  # most are in this plan
    return replace(
        dialogue,
        label=label,
        scenario=setting.scenario,
        cluster=setting.cluster,
        groups=setting.groups,
        persona=persona,
    )


def _persona(dialogue: Dialogue, sessions: Sessions, position: int) -> Persona | None:
    """Return the persona under the key of the current plan; equal pair keys mean equal texts."""
    setting, played = sessions.setting(position), dialogue.persona
    if played is not None and played.key == setting.tester:
        return played
    tester = sessions[position].tester
    return tester if isinstance(tester, Persona) else None
