"""Operations that show, estimate, start and stop runs, with the rules of the page *Runs*."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status

from theodolite.bootstrap.server_runs import SCORE
from theodolite.bootstrap.viewing import RunRequest, StudyRuns
from theodolite.config.calls import CallEstimate, EndpointCalls, Range
from theodolite.config.required_access import hosts_of
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.usecases.viewing import RunProgress, UnitProgress
from theodolite.web.access import AccessContext
from theodolite.web.api import records
from theodolite.web.api.requests import ApiProblem, documented, permitted, token_of
from theodolite.web.events import environment_of, last_edition, told_changes
from theodolite.web.models import AuditEntry
from theodolite.web.organiser.runs import may_start, may_stop, server_study
from theodolite.web.runs import is_paid, output_of

router = Router(tags=["Runs"])

_STARTED, _STOPPED = "started run", "stopped run"
"""Entries of the audit log, from pages and from the API."""


@router.get("studies/{study}/runs", **documented("list_runs", records.RunList))
def list_runs(request: HttpRequest, study: str) -> dict[str, Any]:
    """List the runs of a study with progress and cost, the latest first; whichever process works on them."""
    runs = _runs(permitted(request, "list_runs", study))
    return {"is_active": runs.is_active, "process": _process(runs), "items": [_run(run) for run in runs.runs]}


@router.get("studies/{study}/runs/estimate", **documented("estimate_run", records.RunEstimate))
def estimate_run(request: HttpRequest, study: str, query: Query[records.EstimateQuery]) -> dict[str, Any]:
    """Return the number, the calls and the cost of the run that a start begins or continues.

    Analysts get it for `score` alone, if an organiser lets them run judges.
    """
    access = permitted(request, "estimate_run", study)
    stage = _stage(access, query.stage)
    server = server_study(access.hosted)
    loaded = server.loaded()
    estimate, current, runs = server.estimate(loaded, stage), server.run_of(loaded), _runs(access)
    following, release = (runs.latest.number + 1 if runs.latest else 1), last_edition(access.hosted)
    blocked = ""
    try:
        server.require_permission(loaded, environment_of(access.hosted, loaded.study))
    except InputError as error:
        blocked = str(error)
    return {
        "run": following if current is None else current.number,
        "is_resumed": current is not None,
        "next_run": following,
        "stage": query.stage,
        **_estimate(estimate),
        "hosts": list(hosts_of(loaded.study)),
        "blocked": blocked or None,
        "changes": (told_changes(release) if release is not None else "") or None,
    }


@router.get("studies/{study}/runs/{int:run}", **documented("read_run", records.RunRecord))
def read_run(request: HttpRequest, study: str, run: int) -> dict[str, Any]:
    """Return a run with its progress and cost."""
    access = permitted(request, "read_run", study)
    return _run(_run_of(access, _runs(access), run))


@router.put("studies/{study}/runs/{int:run}", **documented("start_run", records.ControlledRun, 200, 202))
def start_run(request: HttpRequest, study: str, run: int, body: records.RunStart) -> Status[dict[str, Any]]:
    """Start or resume the run of a number; the same request may be repeated without a further effect.

    The number is `run` of the estimate, which resumes a stopped run, or `next_run`, which makes every call again.
    Analysts start `score` alone, if an organiser lets them run judges.
    """
    access = permitted(request, "start_run", study)
    stage = _stage(access, body.stage)
    server = server_study(access.hosted)
    loaded = server.loaded()
    if not body.confirm_cost and is_paid(server.estimate(loaded, stage)):
        expected = "`true`: the run has a cost, or an unknown one. Read it with `estimate_run` first"
        errors = [{"where": "body.confirm_cost", "expected": expected, "came": "false"}]
        raise ApiProblem(HTTPStatus.UNPROCESSABLE_ENTITY, f"`confirm_cost` must be {expected}", errors=errors)
    sent = RunRequest(
        limit=body.limit,
        stage=stage,
        retry_failed=body.retry_failed,
        budget_usd=body.budget_usd,
        concurrency=body.concurrency,
    )
    is_started = server.ensure_run(run, loaded, sent, environment_of(access.hosted, loaded.study))
    if is_started:
        facts = {"run": run, "options": " ".join(sent.options()), "token": token_of(request).token}
        access.audit(_STARTED, f"study {access.hosted.token}", **facts)
    return Status(HTTPStatus.ACCEPTED if is_started else HTTPStatus.OK, _status(access, run))


@router.post("studies/{study}/runs/{int:run}/stop", **documented("stop_run", records.ControlledRun))
def stop_run(request: HttpRequest, study: str, run: int) -> dict[str, Any]:
    """Stop a run after the calls in flight; all work is kept, and a start resumes it. It may be repeated."""
    access = permitted(request, "stop_run", study)
    runs = _runs(access)
    is_starting = runs.active is None and runs.is_active
    if not is_starting:
        _run_of(access, runs, run)  # it exists
    if not may_stop(access, runs):
        raise _refused(action="stop this run")
    if runs.active is not None and runs.active.number != run:
        message = f"run {runs.active.number} is in progress, not run {run}"
        raise Conflict(message)
    if runs.is_active and not runs.can_stop:
        message = "the run was started in a terminal. Stop it there, with Ctrl-C"
        raise Conflict(message)
    if runs.is_active and not _is_stopping(access, runs):
        server_study(access.hosted).stop()
        access.audit(_STOPPED, f"study {access.hosted.token}", run=run, token=token_of(request).token)
    return _status(access, run)


def _runs(access: AccessContext) -> StudyRuns:
    return server_study(access.hosted).readable_runs()


def _run_of(access: AccessContext, runs: StudyRuns, number: int) -> RunProgress:
    """Return the run of a number.

    Raises:
        NotFound: If there is none.
    """
    for run in runs.runs:
        if run.number == number:
            return run
    message = f"study `{access.hosted.token}` has no run {number}"
    raise NotFound(message)


def _stage(access: AccessContext, stage: records.RunStage) -> str:
    """Return a stage as the command takes it.

    Raises:
        ApiProblem: If the role may not start it.
    """
    name = "" if stage is records.RunStage.ALL else stage.value
    if not may_start(access, name):
        raise _refused(action="start judges" if name == SCORE else "start runs other than with `stage` `score`")
    return name


def _refused(*, action: str) -> ApiProblem:
    message = f"analysts may not {action}. Ask an organiser: analysts run judges if an organiser allows it"
    return ApiProblem(HTTPStatus.FORBIDDEN, message)


def _is_stopping(access: AccessContext, runs: StudyRuns) -> bool:
    """Return whether the living process was asked to stop: a second request would end its calls at once."""
    entries = AuditEntry.objects.filter(hosted=access.hosted, verb__in=[_STARTED, _STOPPED])
    last = entries.order_by("-id").first()
    return runs.can_stop and last is not None and last.verb == _STOPPED


def _status(access: AccessContext, number: int) -> dict[str, Any]:
    runs = _runs(access)
    progress = next((run for run in runs.runs if run.number == number), None)
    is_own = runs.active is None or runs.active.number == number
    return {
        "number": number,
        "is_active": runs.is_active and is_own,
        "is_stopping": is_own and _is_stopping(access, runs),
        "process": _process(runs),
        "progress": None if progress is None else _run(progress),
    }


def _process(runs: StudyRuns) -> dict[str, Any] | None:
    process = runs.process
    if process is None:
        return None
    return {"is_active": process.is_alive, "exit_code": process.exit_code, "output": output_of(runs)}


def _run(progress: RunProgress) -> dict[str, Any]:
    status = progress.status
    return {
        "number": progress.number,
        "study_version": status.run.study_version,
        "activity": progress.activity.value,
        "is_active": progress.is_active,
        "started": status.run.started,
        "finished": status.run.finished,
        "ends": progress.ends,
        "left_s": status.left_s if progress.is_active else None,
        "dialogues": _counts(progress.sessions),
        "annotations": _counts(progress.annotations),
        "failures": {source.value: n for source, n in sorted(status.failed.items())},
        "calls": status.spent.calls,
        "cost_usd": status.spent.cost_microusd / 1e6,
        "unpriced_calls": status.spent.unpriced_calls,
    }


def _counts(units: UnitProgress) -> dict[str, int]:
    return {"done": units.done, "failed": units.failed, "total": units.total}


def _estimate(estimate: CallEstimate) -> Mapping[str, Any]:
    return {
        "dialogues": estimate.dialogues,
        "with_people": estimate.with_people,
        "judges": estimate.judges,
        "calls": estimate.calls,
        "tokens_in": _range(estimate.tokens_in),
        "tokens_out": _range(estimate.tokens_out),
        "cost_usd": _range(estimate.cost_usd),
        "unpriced": list(estimate.unpriced),
        "needs_confirmation": is_paid(estimate),
        "endpoints": [_endpoint(item) for item in estimate.endpoints],
        "assumption": estimate.assumption,
    }


def _endpoint(item: EndpointCalls) -> dict[str, Any]:
    cost = None if item.cost_usd is None else _range(item.cost_usd)
    return {"name": item.name, "is_model": item.is_model, "calls": item.calls, "cost_usd": cost}


def _range(amount: Range) -> dict[str, float]:
    return {"low": amount.low, "high": amount.high}
