"""Runs of a study on a server: the command `theodolite run` in its own process, which survives the server."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from theodolite.bootstrap.connections import SystemClock, open_clients
from theodolite.bootstrap.database import DATABASE_VARIABLE, make_workspace
from theodolite.bootstrap.permission import VARIABLE, require_code_permission, require_key_permission
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.run_process import latest_process, start_process, stop_process
from theodolite.bootstrap.study_context import StudyContext, dialogue_summaries
from theodolite.bootstrap.viewing import RunRequest, StudyRuns
from theodolite.config.calls import CallEstimate, estimate_calls
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import (
    ALLOW_CODE,
    ALLOW_KEYS,
    ALLOW_PATHS,
    WORKSPACE,
    read_permissions,
    workspace_for,
)
from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.run import Run, UnitKind
from theodolite.domain.session import SessionState
from theodolite.ports.application import EndpointCheck
from theodolite.ports.progress import Clock
from theodolite.testing.people import counted
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import ALL_KINDS, check_endpoints
from theodolite.usecases.viewing import runs_of

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

RUNS = "runs"
"""Folder of a server's workspace with the files of run processes, a folder for each study."""

START_LOCK = "start.lock"
"""File that is locked while a numbered run is chosen and started."""

START_PATIENCE_S = 30
"""Time that a second start waits for the first one; seconds."""

_NEW_RUN = "--new-run"

_PATH = re.compile(r"(?<![\w:/.…~-])/(?:[^\s/'\"`:,()]+/)+([^\s/'\"`:,()]*)")
"""An absolute path, but no part of an address."""

SCORE = "score"
"""The stage in which judges annotate completed dialogues."""


def kinds_of(stage: str) -> frozenset[UnitKind]:
    """Return the kinds of units of a stage of a run; all kinds for an empty text."""
    stages = {"test": frozenset({UnitKind.SESSION}), SCORE: frozenset({UnitKind.ANNOTATION})}
    return stages.get(stage, ALL_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStudy:
    """A study of a server, whose runs its pages show, start and stop.

    Attributes:
        folder: Folder of its files.
        name: Its name in the database.
        token: Identifies it on the server; names the folder of its run process.
        workspace: Folder of the server's workspace, which need not be next to the study.
        store: Database of the workspace.
        database_url: A PostgreSQL database; None for the workspace's own file.
        operator_key: Key by which the process decrypts stored keys; empty for none.
        clock: Clock.
    """

    folder: Path
    name: str
    token: str
    workspace: Path
    store: DjangoStore
    database_url: str | None = None
    operator_key: str = field(default="", repr=False)
    clock: Clock = field(default_factory=SystemClock)

    @property
    def home(self) -> Path:
        """Folder of the files of its run process."""
        return self.workspace / RUNS / self.token

    def loaded(self) -> LoadedStudy:
        """Return the study from its current files.

        Raises:
            InvalidStudyError: If they have errors; lists all of them.
        """
        return load_study(self.folder, resolver=resource_resolver())

    def runs(self) -> StudyRuns:
        """Return the runs from the database, whichever process works on them; texts contain no path of the server."""
        process = latest_process(self.home)
        if process is not None:
            command, output = self.without_paths(process.command), self.without_paths(process.output)
            process = replace(process, command=command, output=output)
        try:
            return StudyRuns(runs=runs_of(self.store, self.name, self.clock.now()), process=process)
        except StoreError as error:
            return StudyRuns(process=process, problem=self.without_paths(str(error)))

    def without_paths(self, text: str) -> str:
        """Return a text for a page: the study's folder becomes its name, other paths keep their last part."""
        for folder in sorted({str(self.folder), str(self.folder.resolve())}, key=len, reverse=True):
            text = text.replace(folder, self.name)
        for folder in sorted(
            {str(self.home), str(self.workspace), str(self.workspace.resolve())}, key=len, reverse=True
        ):
            text = text.replace(folder, "…")
        return _PATH.sub(r"…/\1", text)

    def readable_runs(self) -> StudyRuns:
        """Return the runs as the database shows them now.

        Raises:
            StoreError: If they cannot be read.
        """
        runs = self.runs()
        if runs.problem:
            raise StoreError(runs.problem)
        return runs

    def estimate(self, loaded: LoadedStudy, stage: str) -> CallEstimate:
        """Return the calls and the cost of a stage, with judges over the completed dialogues of people.

        Args:
            loaded: The study.
            stage: `score` for judges only; other values include the planned dialogues.
        """
        summaries = counted(loaded.study, dialogue_summaries(self.store, loaded.study.name))
        completed = [
            summary for summary in summaries if summary.unit and summary.session.state is not SessionState.WITHDRAWN
        ]
        people = [(one.session.scenario, one.turns) for one in completed]
        return estimate_calls(loaded, people=() if stage == "test" else people, judges_only=stage == SCORE)

    def require_permission(self, loaded: LoadedStudy, environ: Mapping[str, str]) -> None:
        """Raise an error if the operator has not allowed the code or the keys of the study.

        Raises:
            InputError: If something is not allowed; states how the operator allows it.
        """
        require_code_permission(loaded)
        require_key_permission(loaded, environ)

    async def endpoints(self, loaded: LoadedStudy, stage: str, environ: Mapping[str, str]) -> tuple[EndpointCheck, ...]:
        """Call each endpoint of a stage once, and return their answers; no database is used.

        Args:
            loaded: The study.
            stage: `test` or `score`; empty for both.
            environ: Environment variables with the keys.

        Raises:
            InputError: If the study runs code, or sends keys, that are not allowed.
        """
        plan, sessions = draw_plan(loaded.study, loaded.recordings)
        context = StudyContext(
            loaded=loaded, plan=plan, sessions=sessions, path=str(self.folder), store=self.store, environ=environ
        )
        clients = open_clients(loaded, workspace=self.workspace, environ=environ, clock=self.clock)
        try:
            return await check_endpoints(context.endpoints(clients, kinds_of(stage)))
        finally:
            await clients.close()

    def start(self, loaded: LoadedStudy, request: RunRequest, environ: Mapping[str, str]) -> None:
        """Start or resume a run in its own process.

        The process reads stored keys from the database itself, as a run of a terminal does.

        Args:
            loaded: The study from its current files.
            request: Scope of the run.
            environ: Environment variables with the keys, to check the operator's permission.

        Raises:
            Conflict: If a run of the study is in progress, in whichever process.
            InputError: If the study runs code, or sends keys, that are not allowed.
        """
        self.require_permission(loaded, environ)
        if self.runs().is_active:
            message = f"a run of study `{self.name}` is in progress; stop it first, or wait for its end"
            raise Conflict(message)
        options = request.options()
        files = [] if request.stage else ["--out", str(self.home)]
        arguments = ["run", str(self.folder), *options, *files]
        start_process(self.home, arguments, command=self._command(request), environ=self._environment())

    def run_of(self, loaded: LoadedStudy) -> Run | None:
        """Return the run that a start continues; None if it creates one."""
        plan, _ = draw_plan(loaded.study, loaded.recordings)
        try:
            return self.store.run_of(plan)
        except NotFound:
            return None

    def ensure_run(self, number: int, loaded: LoadedStudy, request: RunRequest, environ: Mapping[str, str]) -> bool:
        """Start or resume the run of a number, and return whether that started a process.

        A repeated call has no further effect while the run is in progress with the same options.

        Args:
            number: Number of the run of the present files, or of the next run, which starts a new one.
            loaded: The study as its files are now.
            request: Scope of the run; `new_run` is set by the number.
            environ: Environment variables with the keys, to check the operator's permission.

        Raises:
            Conflict: If another run or another scope is in progress, or the present files cannot continue the run.
            InputError: If the study runs code, or sends keys, that are not allowed.
            StoreError: If the runs cannot be read.
        """
        make_workspace(self.home)
        try:
            with FileLock(self.home / START_LOCK, timeout=START_PATIENCE_S):
                return self._ensure_run(number, loaded, request, environ)
        except Timeout as error:
            message = "another start of this study is in progress. Try again in a minute"
            raise Conflict(message) from error

    def _ensure_run(self, number: int, loaded: LoadedStudy, request: RunRequest, environ: Mapping[str, str]) -> bool:
        runs, current = self.readable_runs(), self.run_of(loaded)
        following = runs.latest.number + 1 if runs.latest else 1
        starting = following if current is None else current.number
        possible = {starting, following}
        if runs.is_active:
            possible = {runs.active.number} if runs.active else possible
            command = self.without_paths(self._command(request))
            is_same = _without_new_run(command) == _without_new_run(_command_of(runs))
            if is_same and number in possible:
                return False
            name = f"run {runs.active.number}" if runs.active else "a run"
            scope = " with other options" if number in possible else ""
            message = f"{name} of this study is in progress{scope}. Stop it first, or wait for its end"
            raise Conflict(message)
        if number not in possible:
            resumed = f"{starting}, or " if starting != following else ""
            message = f"the present files cannot continue run {number}; expected {resumed}{following} for a new run"
            raise Conflict(message)
        self.start(loaded, replace(request, new_run=number != starting), environ)
        return True

    def _command(self, request: RunRequest) -> str:
        return " ".join(["theodolite run", shlex.quote(str(self.folder)), *request.options()])

    def stop(self) -> None:
        """Stop the run that a page started; all work is kept.

        Raises:
            NotFound: If no such run is in progress.
        """
        stop_process(self.home)

    def _environment(self) -> dict[str, str]:
        """Return the variables of the run process: workspace and database are those of the server.

        Permissions are stored in the workspace next to the study; if the server has another one, they are passed on.
        """
        own = {WORKSPACE: str(self.workspace), DATABASE_VARIABLE: self.database_url or ""}
        own |= {VARIABLE: self.operator_key} if self.operator_key else {}
        if workspace_for(self.folder) != self.workspace.resolve():
            paths = os.pathsep.join(str(path) for path in read_permissions(self.folder).paths)
            own |= {ALLOW_CODE: "1", ALLOW_KEYS: "1", ALLOW_PATHS: paths}
        return {**os.environ, **own}


def _command_of(runs: StudyRuns) -> str:
    """Return the command of the living process; empty if another program started the active run."""
    return runs.process.command if runs.process is not None and runs.process.is_alive else ""


def _without_new_run(command: str) -> str:
    return command.replace(f" {_NEW_RUN}", "")
