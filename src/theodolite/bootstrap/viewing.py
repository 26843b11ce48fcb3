"""Studies of a folder on this machine with their runs, as `theodolite view` shows and starts them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING

from theodolite.bootstrap.comparing import Request, compare, context_of_run, keep_watch
from theodolite.bootstrap.connections import SystemClock
from theodolite.bootstrap.database import (
    DATABASE_NAME,
    DATABASE_VARIABLE,
    make_workspace,
    open_store,
    open_store_to_read,
)
from theodolite.bootstrap.permission import (
    CodeRequest,
    KeyRequest,
    code_request,
    key_request,
    require_code_permission,
    require_key_permission,
    trust_new_study,
)
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import facts_of
from theodolite.bootstrap.run_process import RunProcess, latest_process, start_process, stop_process
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.config.calls import CallEstimate, estimate_calls
from theodolite.config.editable_files import EditableFiles
from theodolite.config.load_context import report_assets
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import study_file, workspace_for
from theodolite.config.starters import StarterKind, create_study
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, InputError, NotFound, StoreError, WrongSchema
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import digest
from theodolite.domain.run import Spending
from theodolite.ports.application import EndpointCheck
from theodolite.ports.progress import Clock
from theodolite.reporting.page.report import report_pieces
from theodolite.reporting.queries.cases import CaseRecord, records_at
from theodolite.reporting.results.document import results_pieces
from theodolite.usecases.running import ALL_KINDS, check_endpoints
from theodolite.usecases.viewing import RunDialogue, RunProgress, listed_dialogues, runs_of

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

STUDY_NAMES = ("study.yaml", "study.yml")
"""Files that mark a folder below the root as a study."""

DEPTH = 4
"""Levels of folders that are searched for studies; count."""

MOST_FOLDERS = 5_000
"""Maximum number of folders that are searched for studies; count."""

_SKIPPED = {"node_modules", "__pycache__", "venv", "site-packages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStudy:
    """A study on this machine, valid or with errors.

    Attributes:
        key: Name in addresses.
        path: Path as a person types it.
        folder: Its folder.
        name: Name of the study; of its folder if the study has errors.
        loaded: The study; None if it has errors.
        diagnostics: Errors, notes and open items, as listed by `theodolite check`.
    """

    key: str
    path: str
    folder: Path
    name: str
    loaded: LoadedStudy | None
    diagnostics: tuple[LocatedDiagnostic, ...] = ()

    @property
    def command(self) -> str:
        """Path of the study, quoted for a shell."""
        return shlex.quote(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRuns:
    """The runs of a study at one moment.

    Attributes:
        runs: Runs, the latest first.
        process: The latest run process that a page started; None if there was none.
        problem: Why the runs cannot be read; empty if they can.
    """

    runs: tuple[RunProgress, ...] = ()
    process: RunProcess | None = None
    problem: str = ""

    @property
    def active(self) -> RunProgress | None:
        """The run that a process works on; None if there is none."""
        return next((run for run in self.runs if run.is_active), None)

    @property
    def latest(self) -> RunProgress | None:
        """The latest run; None if the study was never run here."""
        return self.runs[0] if self.runs else None

    @property
    def is_active(self) -> bool:
        """Whether a process works on a run or is about to."""
        return self.active is not None or (self.process is not None and self.process.is_alive)

    @property
    def is_for_judges(self) -> bool:
        """Whether the latest process of a page lets judges annotate completed dialogues, and does nothing else."""
        return self.process is not None and "--stage score" in self.process.command

    @property
    def has_judged(self) -> bool:
        """Whether such a process has ended and left no completed dialogue to the judges.

        Annotations are planned for all dialogues, so the share of finished annotations is compared with that of
        completed dialogues. This assumes that judges annotate each dialogue equally often.
        """
        if self.process is None or self.process.is_alive or not self.is_for_judges or self.latest is None:
            return False
        annotations, dialogues = self.latest.annotations, self.latest.sessions
        is_even = annotations.over * dialogues.total >= annotations.total * dialogues.done
        return self.process.exit_code in {0, None} and annotations.over > 0 and is_even

    @property
    def can_stop(self) -> bool:
        """Whether the working process was started from a page, so that a page can stop it."""
        return self.process is not None and self.process.is_alive


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A run as a person starts it from a page.

    Attributes:
        limit: The first dialogues only; count, None for all.
        stage: `test` or `score` for one stage only; empty for all.
        new_run: Whether to start a new run of the same plan.
        retry_failed: Whether to retry failed units.
        budget_usd: Limit of the run's cost instead of the study's; US dollars, None for the study's.
        concurrency: Maximum number of concurrent calls; count, None for the default.
    """

    limit: int | None = None
    stage: str = ""
    new_run: bool = False
    retry_failed: bool = False
    budget_usd: float | None = None
    concurrency: int | None = None

    def options(self) -> list[str]:
        """Return the options of `theodolite run`."""
        numbers = (("--limit", self.limit), ("--budget", self.budget_usd), ("--concurrency", self.concurrency))
        valued = (*numbers, ("--stage", self.stage))
        result = [part for name, value in valued if value for part in (name, str(value))]
        return [*result, *["--new-run"] * self.new_run, *["--retry-failed"] * self.retry_failed]


@dataclass(slots=True)
class ViewedRun:
    """An opened run: its records, and their measurements.

    Attributes:
        context: The study and its run.
        evidence: The evidence of the run.
        dialogues: Every planned dialogue with its labels.
    """

    context: StudyContext
    evidence: Evidence
    dialogues: tuple[RunDialogue, ...]
    _findings: Findings | None = None
    _report: str = ""

    @property
    def findings(self) -> Findings:
        """The measurements of the run; measured once."""
        if self._findings is None:
            self._findings = self.context.findings(self.evidence)
        return self._findings

    def report(self) -> str:
        """Return the report of the run as one HTML page; written once."""
        if not self._report:
            self._report = "".join(report_pieces(self.evidence, self.findings, facts_of(self.context), report_assets()))
        return self._report

    def results(self) -> str:
        """Return the results file of the run."""
        return "".join(results_pieces(self.evidence, self.findings, facts_of(self.context)))

    def record(self, position: int) -> CaseRecord:
        """Return a dialogue with its annotations, failures and calls."""
        return next(records_at(self.evidence, [position], with_calls=True))


MOST_OPEN = 4
"""Maximum number of open runs; count."""


@dataclass(slots=True)
class LocalStudies:
    """The studies below a folder, or one study.

    Attributes:
        root: A folder, or a study's folder or file.
        environ: Environment variables; the only source of API keys.
        clock: Clock.
        umask: Permissions that files of runs do not get.
    """

    root: str
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    clock: Clock = field(default_factory=SystemClock)
    umask: int = -1
    _loaded: dict[str, tuple[object, LocalStudy]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _open: dict[tuple[str, int], tuple[object, ViewedRun]] = field(default_factory=dict)
    _opening: Lock = field(default_factory=Lock)
    _pages: dict[tuple[str, str, int, int], tuple[object, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a root that does not exist.

        Raises:
            InputError: If there is no such folder or file.
        """
        if not Path(self.root).exists():
            message = f"expected a folder with studies, or a study; there is no `{self.root}`"
            raise InputError(message)

    @property
    def is_one(self) -> bool:
        """Whether the root is a study itself."""
        return _is_study(Path(self.root))

    def all(self) -> tuple[LocalStudy, ...]:
        """Return the studies in order of their paths; files that changed are read again."""
        root = Path(self.root)
        paths = [self.root] if _is_study(root) else [str(path) for path in _studies_below(root)]
        if not paths and isinstance(study_file(root), Path):
            paths = [self.root]  # a folder with a single YAML file
        return tuple(self._study(path) for path in paths)

    def study(self, key: str) -> LocalStudy:
        """Return the study of a key.

        Raises:
            NotFound: If there is none.
        """
        for study in self.all():
            if study.key == key:
                return study
        message = f"there is no study `{key}` here"
        raise NotFound(message)

    def valid(self, key: str) -> tuple[LocalStudy, LoadedStudy]:
        """Return a study without errors.

        Raises:
            NotFound: If there is none.
            InputError: If it has errors.
        """
        study = self.study(key)
        if study.loaded is None:
            message = f"study `{study.name}` has errors; correct them first"
            raise InputError(message)
        return study, study.loaded

    def _study(self, path: str) -> LocalStudy:
        """Return a study from its current files; unchanged files are read once."""
        state = _state_of(Path(path))
        with self._lock:
            known = self._loaded.get(path)
            if known is None or known[0] != state:
                known = self._loaded[path] = (state, _read(path, self.environ))
            return known[1]

    def runs(self, study: LocalStudy) -> StudyRuns:
        """Return the runs of a study from its database, whichever process works on them."""
        process = latest_process(workspace_for(study.folder))
        try:
            store = self._store(study)
            if store is None:
                return StudyRuns(process=process)
            try:
                return StudyRuns(runs=runs_of(store, study.name, self.clock.now()), process=process)
            finally:
                store.disconnect()
        except StoreError as error:
            return StudyRuns(process=process, problem=str(error))

    def _store(self, study: LocalStudy) -> DjangoStore | None:
        """Return the database of a study for reading; an older version is migrated first."""
        workspace, database_url = workspace_for(study.folder), self.environ.get(DATABASE_VARIABLE)
        with self._lock:  # Django is pointed at one database after the other
            try:
                return open_store_to_read(workspace, database_url)
            except WrongSchema:
                return open_store(workspace, database_url)

    @contextmanager
    def context(self, study: LocalStudy, number: int = 0) -> Iterator[StudyContext]:
        """Open a study, and an earlier run of it.

        Args:
            study: The study.
            number: Number of the run; 0 for the latest.

        Raises:
            InputError: If there is no such run, or its records can no longer be read.
        """
        with self._lock:
            context = open_study(study.path, environ=self.environ)
        try:
            yield context_of_run(context, number) if number else context
        finally:
            context.close()

    def viewed_run(self, study: LocalStudy, number: int = 0) -> ViewedRun:
        """Return a run of a study; it is read again once its database or its files have changed.

        Args:
            study: The study.
            number: Number of the run; 0 for the latest run of the current study.

        Raises:
            InputError: If there is no such run, or its records can no longer be read.
            NotFound: If the study was never run.
        """
        state = self._state(study)
        with self._opening:
            known = self._open.pop((study.key, number), None)
            if known is None or state is None or known[0] != state:
                with self.context(study, number) as context:
                    evidence = context.evidence()
                    known = (state, ViewedRun(context=context, evidence=evidence, dialogues=listed_dialogues(evidence)))
            self._open[study.key, number] = known
            while len(self._open) > MOST_OPEN:
                self._open.pop(next(iter(self._open)))[1].context.close()
            return known[1]

    def _state(self, study: LocalStudy) -> object:
        """Return a value that changes with each write of a run; None on PostgreSQL, which has no such value."""
        if self.environ.get(DATABASE_VARIABLE):
            return None
        database = workspace_for(study.folder) / DATABASE_NAME
        files = (database, database.with_name(f"{database.name}-wal"))
        facts = [(file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else None for file in files]
        return [facts, _state_of(Path(study.path))]

    def compared(self, study: LocalStudy, first: int, second: int) -> str:
        """Return the comparison of two runs of a study as one HTML page.

        Raises:
            InputError: If the runs cannot be compared.
        """
        places = [f"{study.path}@{number}" for number in (first, second)]

        def page(folder: str) -> str:
            return compare(*places, study=study.path, out=folder, environ=self.environ).page

        return self._page(study, ("compare", first, second), page)

    def monitored(self, study: LocalStudy) -> str:
        """Return the scores of a study over its runs as one HTML page.

        Raises:
            InputError: If its runs contain no history that can be monitored.
        """

        def page(folder: str) -> str:
            return keep_watch(Request(place=study.path, out=folder), environ=self.environ).page

        return self._page(study, ("monitor", 0, 0), page)

    def _page(self, study: LocalStudy, key: tuple[str, int, int], write: Callable[[str], str]) -> str:
        """Return a page that a command writes to a folder; it is written again once the runs have changed."""
        state = self._state(study)
        with self._opening, self._lock, TemporaryDirectory() as folder:
            known = self._pages.get((study.key, *key))
            if known is None or state is None or known[0] != state:
                known = (state, Path(write(folder)).read_text(encoding="utf-8"))
                self._pages[study.key, *key] = known
                while len(self._pages) > MOST_OPEN:
                    self._pages.pop(next(iter(self._pages)))
            return known[1]

    def estimate(self, study: LoadedStudy) -> CallEstimate:
        """Return the calls and the cost of a whole run."""
        return estimate_calls(study)

    def permissions(self, study: LoadedStudy) -> tuple[CodeRequest | None, KeyRequest | None]:
        """Return the code and the keys of a study that are not allowed yet."""
        return code_request(study), key_request(study, self.environ)

    async def endpoints(self, study: LocalStudy) -> tuple[EndpointCheck, ...]:
        """Call each endpoint of a study once, and return their answers.

        Raises:
            InputError: If the study runs code, or sends keys, that are not allowed.
        """
        with self.context(study) as context:
            clients = context.connect()
            try:
                return await check_endpoints(context.endpoints(clients, ALL_KINDS))
            finally:
                await clients.close()

    def stored_dialogues(self, study: LocalStudy) -> tuple[Dialogue, ...]:
        """Return the first dialogues of the latest run; empty if no run can be read."""
        latest = self.runs(study).latest
        if latest is None:
            return ()
        try:
            evidence = self.viewed_run(study, latest.number).evidence
        except (InputError, NotFound):
            return ()
        return tuple(islice(evidence.archive.dialogues(), _FIRST_DIALOGUES))

    def spent(self, study: LocalStudy) -> Spending:
        """Return the cost of the latest run."""
        latest = self.runs(study).latest
        return latest.status.spent if latest is not None else Spending()

    def files(self, study: LocalStudy) -> EditableFiles:
        """Return the files of a study, to be edited; a save writes the file itself.

        Raises:
            InputError: If the folder contains several YAML files, and none is the study's.
        """
        file = study_file(Path(study.path))
        if not isinstance(file, Path):
            message = f"`{file.file}`: {file.message}"
            raise InputError(message)
        workspace = workspace_for(study.folder)
        make_workspace(workspace)
        storage = workspace / "edited" / digest("edited", str(study.folder.resolve()))[:16]
        return EditableFiles(folder=study.folder, storage=storage, main=file.name)

    def create(self, name: str, kind: StarterKind, answers: Mapping[str, str]) -> LocalStudy:
        """Write the first files of a new study below the root, and return it.

        Args:
            name: Name of its folder.
            kind: The kind of measurement.
            answers: The answers, as for `write_starter`.

        Raises:
            InputError: If the folder name is invalid, an answer cannot be used, or a study exists there already.
        """
        folder = create_study(Path(self.root), name, kind, answers)
        trust_new_study(folder)
        return next(study for study in self.all() if study.folder == folder)

    def start(self, study: LocalStudy, request: RunRequest) -> None:
        """Start or resume a run in its own process.

        Raises:
            Conflict: If a run of the study is in progress.
            InputError: If the study runs code, or sends keys, that are not allowed.
        """
        loaded = self.valid(study.key)[1]
        require_code_permission(loaded)
        require_key_permission(loaded, self.environ)
        if self.runs(study).is_active:
            message = f"a run of study `{study.name}` is in progress; stop it first, or wait for its end"
            raise Conflict(message)
        options = request.options()
        command = " ".join(["theodolite run", study.command, *options])
        workspace = workspace_for(study.folder)
        start_process(workspace, ["run", study.path, *options], command=command, umask=self.umask)

    def stop(self, study: LocalStudy) -> None:
        """Stop the run that a page started; all work is kept.

        Raises:
            NotFound: If no such run is in progress.
        """
        stop_process(workspace_for(study.folder))


def _is_study(path: Path) -> bool:
    return path.is_file() or any((path / name).is_file() for name in STUDY_NAMES)


def _studies_below(root: Path) -> list[Path]:
    """Return the folders with a study file, in order; hidden folders and links are left out."""
    result, level, n_seen = [], [root], 0
    for _ in range(DEPTH):
        below = []
        for folder in level:
            n_seen += 1
            if n_seen > MOST_FOLDERS:
                break
            result += [folder] if folder != root and _is_study(folder) else []
            below += _folders_in(folder)
        level = below
    return sorted(result)


def _folders_in(folder: Path) -> list[Path]:
    try:
        entries = [Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [entry for entry in entries if not entry.name.startswith(".") and entry.name not in _SKIPPED]


def _read(path: str, environ: Mapping[str, str]) -> LocalStudy:
    start = Path(path)
    folder = start if start.is_dir() else start.parent
    name = folder.resolve().name
    key = f"{''.join(c if c.isalnum() and c.isascii() else '-' for c in name)}-{digest('viewed', path)[:6]}"
    try:
        loaded = load_study(path, environ=environ, resolver=resource_resolver(), looks_at_code=True)
    except InvalidStudyError as error:
        return LocalStudy(key=key, path=path, folder=folder, name=name, loaded=None, diagnostics=error.placed)
    name = loaded.study.name
    return LocalStudy(key=key, path=path, folder=folder, name=name, loaded=loaded, diagnostics=loaded.notes)


_WATCHED_FILES = 500

_FIRST_DIALOGUES = 20


def _state_of(path: Path) -> object:
    """Return a key that changes with every file of a study: names, sizes and times of its files."""
    folder = path if path.is_dir() else path.parent
    files = []
    for level in [folder, *_folders_in(folder)]:
        try:
            files += [entry for entry in os.scandir(level) if entry.is_file() and not entry.name.startswith(".")]
        except OSError:
            continue
    watched = sorted(files, key=lambda entry: entry.path)[:_WATCHED_FILES]
    return [(entry.path, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in watched]
