"""The workbench: a study that was read, with everything that working on it needs."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.connections import open_lines
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store
from theodolite.bootstrap.sealing import with_team_keys
from theodolite.bootstrap.shelves import plugin_shelves, strategy_catalogue, tree_methods
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.workspace import workspace_for
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.application import PromptedModel
from theodolite.domain.errors import NotFound
from theodolite.domain.model import CacheUse
from theodolite.domain.plan import Plan, Sessions
from theodolite.domain.run import Run, RunState, UnitKind
from theodolite.domain.study import Study
from theodolite.execution.lines import Lines
from theodolite.gateways.factory import Caching
from theodolite.gateways.retrieval import searches_of
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Endpoint
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.placing import latest_run
from theodolite.usecases.running import Runner

if TYPE_CHECKING:  # only who measures waits for what measures
    from theodolite.domain.estimate import Findings
    from theodolite.domain.evidence import Archive, Evidence
    from theodolite.store.response_cache import ResponseCache


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """One study on the bench.

    Attributes:
        loaded: The study as it was read.
        plan: The same fully drawn.
        sessions: The sessions of the plan, and those of people that there are by now.
        path: What the user types to name it, quoted for a shell.
        store: The workspace's database.
        clock: Tells the time.
        environ: Environment variables; keys are taken from it and from nowhere else.
        owner: Name of this process in the ledger.
        chosen: The run that is looked at; None for the latest of the plan.
    """

    loaded: LoadedStudy
    plan: Plan
    sessions: Sessions
    path: str
    store: Store
    clock: Clock = field(default_factory=SystemClock)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    chosen: Run | None = None

    def connect(self, caching: Caching | None = None) -> Lines:
        """Return connections to all models and applications of the study.

        Args:
            caching: How replies are kept; None for not at all.
        """
        return open_lines(
            self.loaded,
            workspace=workspace_for(self.loaded.folder),
            environ=self.environ,
            clock=self.clock,
            caching=caching,
        )

    def wants_cache(self) -> bool:
        """Tell whether any model of the study asks for the response cache."""
        return any(model.cache is not CacheUse.NO for model in self.loaded.study.models)

    def open_cache(self, tell: Callable[[str], None]) -> ResponseCache:
        """Return the response cache of the workspace; whoever opened it closes it.

        Args:
            tell: Told in one sentence when the cache cannot be used.
        """
        from theodolite.store.response_cache import CACHE_NAME, ResponseCache

        return ResponseCache(workspace_for(self.loaded.folder) / CACHE_NAME, tell=tell)

    def endpoints(self, lines: Lines, kinds: frozenset[UnitKind]) -> tuple[Endpoint, ...]:
        """Return the endpoints that some kinds of work need, each once, in order of the file."""
        study = self.loaded.study
        needed: set[str] = set()
        if UnitKind.SESSION in kinds:
            needed |= {group.model for group in study.personas}
            needed |= {scenario.attacker for scenario in study.scenarios}
            needed |= {a.connection.model for a in study.applications if isinstance(a.connection, PromptedModel)}
        if UnitKind.ANNOTATION in kinds:
            needed |= {a.labelling.model for a in study.annotators if isinstance(a.labelling, ModelJudge)}
        lines_in_use: list[object] = [line for name, line in lines.models.items() if name in needed]
        if UnitKind.SESSION in kinds:
            lines_in_use += [
                lines.applications[a.name] for a in study.applications if not isinstance(a.connection, PromptedModel)
            ]
        return tuple(line for line in lines_in_use if isinstance(line, Endpoint))

    def users_of(self, name: str) -> str:
        """Return what an endpoint is needed for, in words."""
        return users_of(self.loaded.study, name)

    def place_of(self, name: str) -> str:
        """Return where the study names an endpoint, e.g. `line 3`; empty where it cannot be told."""
        for section in ("models", "applications"):
            line = self.loaded.line_of(section, name)
            if line:
                return f"line {line}"
        return ""

    def runner(self, lines: Lines, progress: Progress) -> Runner:
        """Return what runs the study."""
        return Runner(
            study=self.loaded.study,
            plan=self.plan,
            sessions=self.sessions,
            recordings=self.loaded.recordings,
            store=self.store,
            lines=lines,
            progress=progress,
            owner=self.owner,
            searches=searches_of(self.loaded.study.scenarios),
            approaches=strategy_catalogue(),
        )

    def is_finished(self) -> bool:
        """Tell whether the study, as it is written now, has been run to its end."""
        try:
            return self.store.run_of(self.plan).state is RunState.FINISHED
        except NotFound:
            return False

    def evidence(self) -> Evidence:
        """Return everything that the latest run of the study holds.

        Raises:
            NotFound: If it was never run here.
            InputError: If it has changed since.
        """
        from theodolite.config.lapse_rules import lapse_rules
        from theodolite.usecases.measuring import evidence_of

        return evidence_of(self.store, self.loaded.study, self.sessions, self._run(), lapse_rules=lapse_rules())

    def archive(self) -> Archive:
        """Return the records of the latest run of the study, to be read here and there.

        Raises:
            NotFound: If it was never run here.
            InputError: If it has changed since.
        """
        from theodolite.usecases.measuring import StoredArchive

        return StoredArchive(store=self.store, study=self.loaded.study, run=self._run(), sessions=self.sessions)

    def _run(self) -> Run:
        if self.chosen is not None:
            return self.chosen
        study = self.loaded.study
        try:
            return latest_run(self.store, study, self.plan)
        except NotFound as error:
            message = f"study `{study.name}` has not been run here yet. Run it:  theodolite run {self.path}"
            raise NotFound(message) from error

    def findings(self, evidence: Evidence) -> Findings:
        """Return all measurements of some evidence; of the same evidence as last time without measuring again."""
        from theodolite.bootstrap.findings_cache import measured
        from theodolite.config.lapse_rules import lapse_rules

        def measure(of: Evidence) -> Findings:
            from theodolite.measurement import measure_study  # numpy and scipy: only a new measurement needs them

            return measure_study(of, lapse_rules=lapse_rules(), summaries=tree_methods())

        return measured(evidence, workspace_for(self.loaded.folder), measure)

    def close(self) -> None:
        """Let go of the database."""
        self.store.disconnect()


def open_workbench(path: str, *, environ: Mapping[str, str] | None = None) -> Workbench:
    """Read a study and open its workspace.

    Args:
        path: A folder with a study file, or the file.
        environ: Environment variables; those of the process where left out.

    Raises:
        StudyError: If the study holds faults; says all of them.
        PlanError: If nothing can be planned.
        StoreError: If the database cannot be used.
    """
    variables = os.environ if environ is None else environ
    loaded = load_study(Path(path), shelves=plugin_shelves()).with_held_recordings()
    plan, sessions = draw_plan(loaded.study, loaded.recordings)
    store = open_store(workspace_for(loaded.folder), variables.get(DATABASE_VARIABLE))
    sessions = event_sessions(loaded.study, sessions, store.held(loaded.study.name))
    environ = with_team_keys(variables, store, loaded.study.name)
    return Workbench(loaded=loaded, plan=plan, sessions=sessions, path=shlex.quote(path), store=store, environ=environ)


def users_of(study: Study, name: str) -> str:
    """Return what an endpoint of a study is needed for, in words, e.g. "application `bot-1.4`"."""
    for application in study.applications:
        connection = application.connection
        if application.name == name or (isinstance(connection, PromptedModel) and connection.model == name):
            return f"application `{application.name}`"
    played = any(group.model == name for group in study.personas)
    played |= any(scenario.attacker == name for scenario in study.scenarios)
    return f"{'simulated user' if played else 'judge'} `{name}`"
