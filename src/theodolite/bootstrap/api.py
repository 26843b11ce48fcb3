"""The Python interface: `run` and its async twin, over the same use cases as the command."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from theodolite.bootstrap.permission import code_request, key_request
from theodolite.bootstrap.python_study import HOME, Cases, Function, JudgeOption, PythonStudy
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.running import RunResult, run_study, slots_for
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.study_run import StudyRun
from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, RunStopped
from theodolite.domain.plan import held_by_runs, selection_of
from theodolite.domain.run import Failure, Spending
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions, check_endpoints


class Silent:
    """Observes a run without output."""

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Ignore the event."""

    def session(self, result: Dialogue | Failure) -> None:
        """Ignore the event."""

    def annotation(self, result: Annotation | Failure) -> None:
        """Ignore the event."""

    def over(self, *, sessions: int, annotations: int) -> None:
        """Ignore the event."""

    def spent(self, total: Spending) -> None:
        """Ignore the event."""

    def end(self) -> None:
        """Ignore the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """The arguments of one call of `run`."""

    study: str | Mapping[str, Any]
    applications: Mapping[str, Function] = field(default_factory=dict)
    cases: Cases | None = None
    judges: Mapping[str, JudgeOption | Function] = field(default_factory=dict)
    options: RunOptions
    out: str | None = None
    allow_code: bool = False
    only: Sequence[str] = ()
    allow_keys: bool = False
    progress: Progress | None = None

    def open(self) -> StudyContext:
        """Write the study if it was given as a dict, open it and store permissions.

        Raises:
            InputError: If the parts of the study cannot be used.
        """
        if isinstance(self.study, Mapping):
            return self._open_written(self.study)
        if self.applications or self.judges or self.cases is not None:
            message = (
                f"`applications`, `cases` and `judges` belong to a study that is given as a dict; `{self.study}` is a"
                " path. Write them into its file, or pass the study as a dict"
            )
            raise InputError(message)
        context = open_study(self.study)
        if self.allow_code and (request := code_request(context.loaded)) is not None:
            request.remember()
        if self.allow_keys and (keys := key_request(context.loaded, context.environ)) is not None:
            keys.remember()
        return context

    def _open_written(self, content: Mapping[str, Any]) -> StudyContext:
        name = content.get("study")
        if not isinstance(name, str) or not name.strip() or "/" in name or name.startswith("."):
            message = f'the study needs a name: `{{"study": "smoke", ...}}`; got {name!r}'
            raise InputError(message)
        written = PythonStudy(content=content, applications=self.applications, cases=self.cases, judges=self.judges)
        folder = Path(HOME) / name
        written.write(folder)
        return replace(open_study(str(folder)), passed=written.passed)

    async def hold(self, context: StudyContext) -> RunResult:
        """Run the study until its plan is complete or a stop condition holds."""
        part = selection_of(self.only, held_by_runs(context.sessions), context.loaded.study.personas)
        options = replace(self.options, concurrency=slots_for(context), selection=part)
        return await run_study(context, options, progress=self.progress or Silent(), before_asking=_check_endpoint)

    def result(self, context: StudyContext, result: RunResult) -> StudyRun:
        """Measure the run and write its report."""
        evidence = context.evidence()
        findings = context.findings(evidence)
        written = write_reports(context, evidence, findings, out=self.out)
        return StudyRun(status=result.status, evidence=evidence, findings=findings, written=written, context=context)


def run(
    study: str | Mapping[str, Any],
    *,
    applications: Mapping[str, Function] | None = None,
    cases: Cases | None = None,
    judges: Mapping[str, JudgeOption | Function] | None = None,
    limit: int | None = None,
    only: Sequence[str] = (),
    new_run: bool = False,
    retry_failed: bool = False,
    cache: bool = False,
    out: str | None = None,
    allow_code: bool = False,
    allow_keys: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Test, score, measure and report a study; a later call resumes it.

    It works in a notebook as well: the event loop runs in its own thread.
    A study given as a dict is written to `theodolite-studies/NAME`, an
    ordinary study folder; its functions run in this process. Functions that are
    not async run on threads, several at a time.

    Args:
        study: A folder with a study file, or the file; or the content of a study file as a dict.
        applications: With a dict: functions from prompt to reply, sync or async, by name.
        cases: With a dict: test cases, a DataFrame or a list of dicts with `prompt`, and optionally `id`,
            `expected` and further columns, by which results are grouped.
        judges: With a dict: judges by name, made by `rule` and `judge`.
        limit: Run only the first dialogues of the plan; count, None for all.
        only: Run only these dialogues, e.g. `["application=v2"]`, as the option `--only`.
        new_run: Start a new run of the same plan; every call is made again.
        retry_failed: Retry failed dialogues and annotations.
        cache: Answer repeated requests to models from the cache, but never those to applications.
        out: Folder for report.html and results.json; default: the study folder.
        allow_code: Allow the code that a study file names, in its current version; stored in the workspace.
        allow_keys: Send the keys that a study file names to the hosts that it names; stored in the workspace.
        progress: Receives progress reports; None for no receiver.

    Raises:
        StudyError: If the study has errors; lists all of them, as `theodolite check` does.
        InputError: If the study runs code, or sends keys, that were not allowed.
        RunStopped: If an endpoint cannot be used.
        StoreError: If the database fails; acknowledged data are stored.
    """
    call = _Call(
        study=study,
        applications=applications or {},
        cases=cases,
        judges=judges or {},
        only=only,
        options=RunOptions(limit=limit, new_run=new_run, retry_failed=retry_failed, cache=cache),
        out=out,
        allow_code=allow_code,
        allow_keys=allow_keys,
        progress=progress,
    )
    context = call.open()
    try:
        with ThreadPoolExecutor(max_workers=1) as room:
            result = room.submit(asyncio.run, call.hold(context)).result()
        return call.result(context, result)
    finally:
        context.close()


async def run_async(
    study: str | Mapping[str, Any],
    *,
    applications: Mapping[str, Function] | None = None,
    cases: Cases | None = None,
    judges: Mapping[str, JudgeOption | Function] | None = None,
    limit: int | None = None,
    only: Sequence[str] = (),
    new_run: bool = False,
    retry_failed: bool = False,
    cache: bool = False,
    out: str | None = None,
    allow_code: bool = False,
    allow_keys: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Run like `run`, but in the caller's event loop, e.g. for functions that belong to it; same arguments."""
    call = _Call(
        study=study,
        applications=applications or {},
        cases=cases,
        judges=judges or {},
        only=only,
        options=RunOptions(limit=limit, new_run=new_run, retry_failed=retry_failed, cache=cache),
        out=out,
        allow_code=allow_code,
        allow_keys=allow_keys,
        progress=progress,
    )
    # The database refuses threads that run an event loop, so all access to it runs in another thread.
    context = await asyncio.to_thread(call.open)
    try:
        result = await call.hold(context)
        return await asyncio.to_thread(call.result, context, result)
    finally:
        await asyncio.to_thread(context.close)


async def _check_endpoint(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    checks = await check_endpoints(context.endpoints(clients, options.kinds, options.selection))
    dead = [f"{context.users_of(check.name)} cannot be used: {check.answer}" for check in checks if not check.alive]
    if dead:
        raise RunStopped("; ".join(dead))
