"""Runs of a study and its judges: progress for organisers and analysts, and the start and stop of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.bootstrap.server_runs import SCORE, ServerStudy
from theodolite.bootstrap.study_trials import CONNECTION_S
from theodolite.bootstrap.viewing import StudyRuns
from theodolite.config.loading import LoadedStudy
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.ports.application import EndpointCheck
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import environment_of, event_of, last_edition, server_store, told_changes
from theodolite.web.models import HostedStudy
from theodolite.web.runs import RunForm, RunPages, is_paid, progress_context, start_context
from theodolite.web.study_trials import problem_of


def server_study(hosted: HostedStudy) -> ServerStudy:
    """Return a hosted study with its runs.

    Raises:
        Http404: If it has no files.
    """
    if not hosted.folder:
        raise Http404
    try:
        name = event_of(hosted).study.name
    except TheodoliteError:  # the files have errors; the page of the start shows them
        name = hosted.name
    return ServerStudy(
        folder=Path(hosted.folder),
        name=name,
        token=hosted.token,
        workspace=Path(str(settings.WORKSPACE)),
        store=server_store(),
        database_url=settings.DATABASE_URL,
        operator_key=str(settings.OPERATOR_KEY),
    )


def may_start(access: AccessContext, stage: str = SCORE) -> bool:
    """Return whether the reader may start a stage: organisers any, analysts the judges if an organiser allows it."""
    return access.role is Role.ORGANISER or (stage == SCORE and access.hosted.analysts_run_judges)


def may_stop(access: AccessContext, runs: StudyRuns) -> bool:
    """Return whether the reader may stop the process: analysts only one that they could have started."""
    return access.role is Role.ORGANISER or (may_start(access) and runs.is_for_judges)


def _pages(access: AccessContext, runs: StudyRuns, stage: str = "") -> RunPages:
    token = access.hosted.token
    return RunPages(
        runs=reverse("organiser:runs", args=[token]),
        live=reverse("organiser:runs_live", args=[token]),
        start=reverse("organiser:start_run", args=[token]) if may_start(access) else "",
        check=reverse("organiser:check_run", args=[token]),
        stop=reverse("organiser:stop_run", args=[token]) if may_stop(access, runs) else "",
        stage=stage,
    )


def _list_context(access: AccessContext) -> dict[str, object]:
    runs = server_study(access.hosted).runs()
    pages = _pages(access, runs)
    context = progress_context(runs, pages)
    can_start = may_start(access) and not runs.is_active
    return {**context, "access": access, "can_start": can_start, "is_startable": may_start(access, "")}


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def runs(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the runs of a study with their progress, whichever process works on them."""
    return render(request, "web/organiser/runs.html", _list_context(access))


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def live(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Return the part of the page that changes while a run is in progress."""
    context = _list_context(access)
    response = render(request, "web/runs/_live.html", context)
    shown = context["runs"]
    if request.GET.get("active") and isinstance(shown, StudyRuns) and not shown.is_active:
        response.headers["HX-Refresh"] = "true"  # it has ended: the whole page changes
    return response


@allowed(Role.ORGANISER)
@require_POST
def permit_judges(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Let analysts start judges at the cost of the study, or end this."""
    is_allowed = request.POST.get("analysts") == "yes"
    HostedStudy.objects.filter(pk=access.hosted.pk).update(analysts_run_judges=is_allowed)
    verb = "allowed analysts to run judges" if is_allowed else "ended analysts' permission to run judges"
    access.audit(verb, f"study {access.hosted.token}")
    return redirect("organiser:runs", study=access.hosted.token)


def _stage_of(request: HttpRequest, access: AccessContext) -> str:
    """Return the stage that a request names; analysts start judges only."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get("stage", "") if access.role is Role.ORGANISER else SCORE


def _not_allowed(request: HttpRequest, access: AccessContext) -> HttpResponse:
    messages.warning(request, "Ask an organiser to let analysts run judges.")
    return redirect("organiser:runs", study=access.hosted.token)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_http_methods(["GET", "POST"])
def start_run(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the estimate of a run, and start it once its cost is confirmed."""
    stage, study = _stage_of(request, access), server_study(access.hosted)
    if not may_start(access, stage):
        return _not_allowed(request, access)
    try:
        loaded = study.loaded()
        is_priced = is_paid(study.estimate(loaded, stage))
    except InputError as error:
        return _faulty(request, access, error)
    form = RunForm(request.POST or None, is_paid=is_priced)
    if form.is_valid():
        asked = replace(form.run_request(), stage=stage)
        try:
            study.start(loaded, asked, environment_of(access.hosted, loaded.study))
        except TheodoliteError as error:
            form.add_error(None, study.without_paths(str(error)))
        else:
            facts = {"options": " ".join(asked.options())}
            access.audit("started run", f"study {access.hosted.token}", **facts)
            messages.success(request, "Run started. Closing this page does not stop it.")
            return redirect("organiser:runs", study=access.hosted.token)
    return _start_page(request, access, loaded, stage, form=form)


def _start_page(
    request: HttpRequest, access: AccessContext, loaded: LoadedStudy, stage: str, **more: object
) -> HttpResponse:
    """Return the page with the estimate, the endpoints and the form of a run."""
    study = server_study(access.hosted)
    shown_runs, release = study.runs(), last_edition(access.hosted)
    try:
        study.require_permission(loaded, environment_of(access.hosted, loaded.study))
        blocked = ""
    except InputError as error:
        blocked = study.without_paths(str(error))
    context = start_context(
        loaded,
        shown_runs,
        study.estimate(loaded, stage),
        _pages(access, shown_runs, SCORE if stage == SCORE else ""),
        access=access,
        blocked=blocked,
        changes=told_changes(release) if release is not None else "",
        command=f"{study.folder.name}{f' --stage {stage}' if stage else ''}",
        **{"form": RunForm(), **more},
    )
    is_refused = bool(more.get("problem")) or bool(getattr(more.get("form"), "errors", None))
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render(request, "web/organiser/start_run.html", context, status=status)


def _faulty(request: HttpRequest, access: AccessContext, error: InputError) -> HttpResponse:
    """Return the page for a study whose files have errors."""
    faults = server_study(access.hosted).without_paths(problem_of(error))
    context = {"access": access, "faults": faults}
    return render(request, "web/organiser/start_run.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
async def check_run(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Call each endpoint of a run once, and show the responses next to the form."""
    if not may_start(access):
        return _not_allowed(request, access)
    try:
        stage, study, loaded, environ = await sync_to_async(_prepared)(request, access)
    except InputError as error:
        return await sync_to_async(_faulty)(request, access, error)
    checks: tuple[EndpointCheck, ...] = ()
    problem = ""
    try:
        async with asyncio.timeout(CONNECTION_S):
            checks = await study.endpoints(loaded, stage, environ)
    except TimeoutError:
        problem = f"no result within {CONNECTION_S:.0f} seconds"
    except TheodoliteError as error:
        problem = study.without_paths(str(error))
    return await sync_to_async(_start_page)(request, access, loaded, stage, checks=checks, problem=problem)


def _prepared(request: HttpRequest, access: AccessContext) -> tuple[str, ServerStudy, LoadedStudy, Mapping[str, str]]:
    """Return stage, study and keys of a check, which is recorded.

    Raises:
        InvalidStudyError: If the files have errors.
    """
    stage, study = _stage_of(request, access), server_study(access.hosted)
    loaded = study.loaded()
    study.estimate(loaded, stage)  # a study without a plan cannot be run
    access.audit("checked endpoints", f"study {access.hosted.token}", stage=stage)
    return stage, study, loaded, environment_of(access.hosted, loaded.study)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
def stop_run(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Stop the run in progress; calls in flight finish, and all work is saved."""
    study = server_study(access.hosted)
    if not may_stop(access, study.runs()):
        return _not_allowed(request, access)
    try:
        study.stop()
    except TheodoliteError as error:
        messages.warning(request, str(error))
    else:
        access.audit("stopped run", f"study {access.hosted.token}")
        messages.success(request, "Stopping after the calls in flight. All work is kept.")
    return redirect("organiser:runs", study=access.hosted.token)
