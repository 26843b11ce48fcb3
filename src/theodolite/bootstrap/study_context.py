"""Study contexts: a loaded study with its plan, store, clock and environment."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.connections import NOTHING_PASSED, Passed, SystemClock, open_clients
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store, open_store_to_read
from theodolite.bootstrap.permission import with_stored_keys, with_team_keys
from theodolite.bootstrap.plugins import plugin_measures, resource_resolver, strategy_catalogue, tree_methods
from theodolite.config.load_context import role_break_rules
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import workspace_for
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.application import CacheUse, PromptedModel
from theodolite.domain.errors import NotFound
from theodolite.domain.plan import EVERYTHING, Plan, Selection, Sessions
from theodolite.domain.run import Run, RunState, UnitKind
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients
from theodolite.gateways.factory import Caching
from theodolite.gateways.retrieval import searches_of
from theodolite.ports.application import Endpoint
from theodolite.ports.progress import Clock, Progress
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import Runner, latest_run, status_of

if TYPE_CHECKING:
    from theodolite.domain.estimate import Findings
    from theodolite.domain.evidence import Archive, EventEvidence, Evidence
    from theodolite.domain.live import LiveDialogueSummary
    from theodolite.domain.shards import Shard
    from theodolite.domain.status import Status
    from theodolite.store.django_store import DjangoStore
    from theodolite.store.response_cache import ResponseCache


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContext:
    """A loaded study with everything that its commands need.

    Attributes:
        loaded: The study and its files.
        plan: The plan of the study.
        sessions: Sessions of the plan, and the sessions of people so far.
        path: Path of the study as the user typed it, quoted for a shell.
        store: Database of the workspace.
        clock: Clock.
        environ: Environment variables; the only source of API keys.
        owner: Name of this process in the ledger.
        chosen: The selected run; None for the latest run of the plan.
        passed: Functions that run in this process instead of files of the study.
        shard: The part of the plan that this database is for; None for the whole plan.
    """

    loaded: LoadedStudy
    plan: Plan
    sessions: Sessions
    path: str
    store: DjangoStore
    clock: Clock = field(default_factory=SystemClock)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    chosen: Run | None = None
    passed: Passed = NOTHING_PASSED
    shard: Shard | None = None

    def connect(self, caching: Caching | None = None) -> Clients:
        """Return connections to all models and applications of the study.

        Args:
            caching: Cache of replies; None for no cache.
        """
        return open_clients(
            self.loaded if self.shard is None else _with_share(self.loaded, self.shard),
            workspace=workspace_for(self.loaded.folder),
            environ=self.environ,
            clock=self.clock,
            caching=caching,
            passed=self.passed,
            limits=self.store.limits_of(self.owner),
        )

    def wants_cache(self) -> bool:
        """Return whether any model of the study uses the response cache."""
        return any(model.cache is not CacheUse.NO for model in self.loaded.study.models)

    def open_cache(self, tell: Callable[[str], None]) -> ResponseCache:
        """Open the response cache of the workspace; the caller closes it.

        Args:
            tell: Receives a sentence if the cache cannot be used.
        """
        from theodolite.store.response_cache import CACHE_NAME, ResponseCache

        return ResponseCache(workspace_for(self.loaded.folder) / CACHE_NAME, tell=tell)

    def endpoints(
        self, clients: Clients, kinds: frozenset[UnitKind], selection: Selection = EVERYTHING
    ) -> tuple[Endpoint, ...]:
        """Return the endpoints that these kinds of units of a selection call, each once, in order of the study file."""
        study = self.loaded.study
        chosen = [a for a in study.applications if not selection.applications or a.name in selection.applications]
        needed: set[str] = set()
        if UnitKind.SESSION in kinds:
            needed |= {group.model for group in study.personas}
            needed |= {scenario.attacker for scenario in study.scenarios}
            needed |= {a.connection.model for a in chosen if isinstance(a.connection, PromptedModel)}
        if UnitKind.ANNOTATION in kinds:
            needed |= {a.labelling.model for a in study.annotators if isinstance(a.labelling, ModelJudge)}
        clients_in_use: list[object] = [client for name, client in clients.models.items() if name in needed]
        if UnitKind.SESSION in kinds:
            clients_in_use += [
                clients.applications[a.name] for a in chosen if not isinstance(a.connection, PromptedModel)
            ]
        return tuple(client for client in clients_in_use if isinstance(client, Endpoint))

    def users_of(self, name: str) -> str:
        """Return the use of an endpoint as text, e.g. "application `bot`"."""
        return users_of(self.loaded.study, name)

    def place_of(self, name: str) -> str:
        """Return the location of an endpoint in the study file, e.g. `line 3`; empty if unknown."""
        for section in ("models", "applications"):
            client = self.loaded.line_of(section, name)
            if client:
                return f"line {client}"
        return ""

    def runner(self, clients: Clients, progress: Progress) -> Runner:
        """Return the runner of the study."""
        return Runner(
            study=self.loaded.study,
            plan=self.plan,
            sessions=self.sessions,
            recordings=self.loaded.recordings,
            store=self.store,
            clients=clients,
            progress=progress,
            owner=self.owner,
            searches=searches_of(self.loaded.study.scenarios),
            approaches=strategy_catalogue(),
            people=dialogue_summaries(self.store, self.loaded.study.name),
        )

    def is_finished(self) -> bool:
        """Return whether the current version of the study has a finished run."""
        try:
            return self.store.run_of(self.plan).state is RunState.FINISHED
        except NotFound:
            return False

    def evidence(self) -> Evidence:
        """Return the evidence of the latest run.

        Raises:
            NotFound: If the study has no run in this workspace.
            InputError: If it has changed since.
        """
        from theodolite.usecases.measuring import evidence_of

        study, event = self.loaded.study, event_evidence_in(self.store, self.loaded.study)
        return evidence_of(
            self.store, study, self.sessions, self.current_run(), role_break_rules=role_break_rules(), event=event
        )

    def archive(self) -> Archive:
        """Return the records of the latest run for random access.

        Raises:
            NotFound: If the study has no run in this workspace.
            InputError: If it has changed since.
        """
        from theodolite.usecases.measuring import StoredArchive

        study = self.loaded.study
        people = dialogue_summaries(self.store, study.name)
        return StoredArchive(
            store=self.store, study=study, run=self.current_run(), sessions=self.sessions, people=people
        )

    def current_run(self) -> Run:
        """Return the selected run, or the latest run of the plan.

        Raises:
            NotFound: If the study has no run in this workspace.
            InputError: If it has changed since.
        """
        if self.chosen is not None:
            return self.chosen
        study = self.loaded.study
        try:
            return latest_run(self.store, study, self.plan)
        except NotFound as error:
            message = f"study `{study.name}` has not been run here yet. Run it:  theodolite run {self.path}"
            raise NotFound(message) from error

    def findings(self, evidence: Evidence) -> Findings:
        """Return the measurements of the evidence; cached for unchanged evidence."""
        from theodolite.bootstrap.files import measured

        def measure(of: Evidence) -> Findings:
            from theodolite.measurement.study.findings import measure_study

            return measure_study(
                of, role_break_rules=role_break_rules(), summaries=tree_methods(), measures=plugin_measures()
            )

        return measured(evidence, workspace_for(self.loaded.folder), measure)

    def close(self) -> None:
        """Close the database connection."""
        self.store.disconnect()


def open_study(path: str, *, environ: Mapping[str, str] | None = None, shard: Shard | None = None) -> StudyContext:
    """Load a study and open its workspace.

    Args:
        path: A folder with a study file, or the file.
        environ: Environment variables; default: those of the process.
        shard: Open the database of this part of the plan, which shares no file with other parts.

    Raises:
        StudyError: If the study has errors; lists all of them.
        PlanError: If no plan can be drawn.
        StoreError: If the database cannot be opened.
    """
    variables = os.environ if environ is None else environ
    loaded = load_study(Path(path), resolver=resource_resolver()).with_held_recordings()
    plan, sessions = draw_plan(loaded.study, loaded.recordings)
    workspace = workspace_for(loaded.folder)
    if shard is None:
        store = open_store(workspace, variables.get(DATABASE_VARIABLE))
    else:
        store = open_store(workspace / "shards" / f"{loaded.study.name}-{shard.number}-of-{shard.count}")
    sessions = event_sessions(loaded.study, sessions, dialogue_summaries(store, loaded.study.name))
    environ = with_stored_keys(with_team_keys(variables, store, loaded.study.name), store, loaded.study)
    return StudyContext(
        loaded=loaded, plan=plan, sessions=sessions, path=shlex.quote(path), store=store, environ=environ, shard=shard
    )


def _with_share(loaded: LoadedStudy, shard: Shard) -> LoadedStudy:
    """Return a study whose models are called at the rate of one shard of several that run at the same time."""

    def part(limit: int | None) -> int | None:
        return None if limit is None else max(1, limit // shard.count)

    models = tuple(
        replace(model, rpm=part(model.rpm), tpm=part(model.tpm), parallel=max(1, model.parallel // shard.count))
        for model in loaded.study.models
    )
    return replace(loaded, study=replace(loaded.study, models=models))


def dialogue_summaries(store: DjangoStore, study: str) -> list[LiveDialogueSummary]:
    """Return the dialogues of participants in a study; the tables of events are loaded only if there are any."""
    return store.events.dialogues.summaries(study) if store.has_event_sessions(study) else []


def event_evidence_in(store: DjangoStore, study: Study) -> EventEvidence:
    """Return participants' contributions to a study; the tables of events are loaded only if needed."""
    if not study.topics and not store.has_event_sessions(study.name):
        from theodolite.usecases.measuring import NO_EVENT

        return NO_EVENT
    from theodolite.events.results import event_evidence  # tables of events

    return event_evidence(store, study)


def users_of(study: Study, name: str) -> str:
    """Return the use of an endpoint of a study as text, e.g. "application `bot-1.4`"."""
    for application in study.applications:
        connection = application.connection
        if application.name == name or (isinstance(connection, PromptedModel) and connection.model == name):
            return f"application `{application.name}`"
    played = any(group.model == name for group in study.personas)
    played |= any(scenario.attacker == name for scenario in study.scenarios)
    return f"{'simulated user' if played else 'judge'} `{name}`"


def look_at(path: str, *, environ: Mapping[str, str] | None = None) -> Status:
    """Return where the latest run of a study is.

    Args:
        path: A folder with a study file, or the file.
        environ: Environment variables; default: those of the process.

    Raises:
        StudyError: If the study has errors; lists all of them.
        NotFound: If it was never run here.
        StoreError: If the database cannot be used.
    """
    variables = os.environ if environ is None else environ
    loaded = load_study(Path(path), resolver=resource_resolver())
    never = f"study `{loaded.study.name}` has not been run here yet. Run it:  theodolite run {path}"
    store = open_store_to_read(workspace_for(loaded.folder), variables.get(DATABASE_VARIABLE))
    if store is None:
        raise NotFound(never)
    try:
        return status_of(store, loaded.study.name, SystemClock().now())
    except NotFound as error:
        raise NotFound(never) from error
    finally:
        store.disconnect()
