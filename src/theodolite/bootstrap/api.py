"""The same from Python: what `theodolite run` does, as one function."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from theodolite.bootstrap.permission import code_request, key_request
from theodolite.bootstrap.reports import WrittenFiles, write_reports
from theodolite.bootstrap.running import run_study, slots_for
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import RunStopped
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.run import Failure, Spending
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Progress
from theodolite.usecases.endpoint_check import check_endpoints
from theodolite.usecases.running import RunOptions, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """What running a study brought.

    Attributes:
        status: Where the run stands; `standing.stopped` says why it is not finished, if it is not.
        evidence: Everything that it holds.
        findings: Everything that was measured on it.
        written: Where report and results are.
    """

    status: RunStatus
    evidence: Evidence
    findings: Findings
    written: WrittenFiles


class Silent:
    """Watches a run and says nothing."""

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Take note of nothing."""

    def session(self, result: Dialogue | Failure) -> None:
        """Take note of nothing."""

    def annotation(self, result: Annotation | Failure) -> None:
        """Take note of nothing."""

    def over(self, *, sessions: int, annotations: int) -> None:
        """Take note of nothing."""

    def spent(self, total: Spending) -> None:
        """Take note of nothing."""

    def end(self) -> None:
        """Take note of nothing."""


def run(
    study: str,
    *,
    limit: int | None = None,
    new_run: bool = False,
    retry_failed: bool = False,
    cache: bool = False,
    out: str | None = None,
    allow_code: bool = False,
    allow_keys: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Test, assess, measure and report a study; goes on where an earlier call stopped.

    Works in a notebook too: the event loop runs in a thread of its own.

    Args:
        study: A folder with a study file, or the file.
        limit: Run only the first sessions of the plan; count, None for all.
        new_run: Start a new run of the same plan; every call is made again.
        retry_failed: Retry failed dialogues and annotations.
        cache: Answer equal requests to models from the cache; never the application's.
        out: Folder for report.html and results.json; the study's own where None.
        allow_code: Allow the code that the study names, as it is now; remembered in the workspace.
        allow_keys: Send the keys that the study names to the hosts that it names; remembered in the workspace.
        progress: Who watches; nobody where None.

    Raises:
        StudyError: If the study holds faults; says all of them.
        InputError: If the study runs code, or sends keys, that were not allowed.
        RunStopped: If an endpoint cannot be used.
        StoreError: If the database fails; what was acknowledged is kept.
    """
    context = open_study(study)
    try:
        if allow_code and (request := code_request(context.loaded)) is not None:
            request.remember()
        if allow_keys and (keys := key_request(context.loaded, context.environ)) is not None:
            keys.remember()
        slots = slots_for(context)
        options = RunOptions(limit=limit, new_run=new_run, retry_failed=retry_failed, concurrency=slots, cache=cache)
        running = run_study(context, options, progress=progress or Silent(), before_asking=_check_endpoint)
        with ThreadPoolExecutor(max_workers=1) as room:
            result = room.submit(asyncio.run, running).result()
        evidence = context.evidence()
        findings = context.findings(evidence)
        written = write_reports(context, evidence, findings, out=out)
        return StudyRun(status=result.status, evidence=evidence, findings=findings, written=written)
    finally:
        context.close()


async def _check_endpoint(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    checks = await check_endpoints(context.endpoints(clients, options.kinds))
    dead = [f"{context.users_of(check.name)} cannot be used: {check.answer}" for check in checks if not check.alive]
    if dead:
        raise RunStopped("; ".join(dead))
