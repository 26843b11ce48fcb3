"""Studies of this machine: entry, the list of studies, the editor, runs with their progress, start and stop."""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.bootstrap.viewing import LocalStudies, LocalStudy, StudyRuns
from theodolite.config.loading import LoadedStudy
from theodolite.config.starters import StarterKind
from theodolite.domain.errors import InputError, Severity, TheodoliteError
from theodolite.web.access import open_to_all
from theodolite.web.new_study import StudyCreation
from theodolite.web.new_study import new_study as new_study_page
from theodolite.web.runs import RunForm, RunPages, is_paid, progress_context, start_context
from theodolite.web.study_editor import edit
from theodolite.web.study_trials import EditedStudy, TrialSetting

LOCAL = "local"
"""Access to these pages: only the browser that has used the one-time link."""

_ENTERED = "viewer"

_TOKENS: set[str] = set()
"""Tokens of unused links, kept in memory."""

_VIEWED: list[LocalStudies] = []
"""The studies of this process."""


def one_time_link(viewed: LocalStudies) -> str:
    """Set the studies, and return the path of an address that admits one browser."""
    _VIEWED[:] = [viewed]
    token = secrets.token_urlsafe(24)
    _TOKENS.add(token)
    return reverse("enter", kwargs={"token": token})


def studies() -> LocalStudies:
    """Return the studies of this process."""
    return _VIEWED[0]


@open_to_all
@require_GET
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Exchange the token of the link for a session; the link is then used up."""
    if token not in _TOKENS:
        raise Http404
    _TOKENS.discard(token)
    request.session.cycle_key()
    request.session[_ENTERED] = True
    return redirect("home")


def local_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open a view to the browser that has used the link; others learn how to get a link."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **rest: Any) -> HttpResponse:
        if not request.session.get(_ENTERED):
            return render(request, "web/viewer/closed.html", status=403)
        return view(request, **rest)

    guarded.access = LOCAL  # type: ignore[attr-defined] # read by the test of all addresses
    return guarded


def of_study(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open a view of one study; the address contains its key as `study`, and errors of the study become messages."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, study: str, **rest: Any) -> HttpResponse:
        viewed = studies().study(study)
        try:
            return view(request, viewed, **rest)
        except InputError as error:
            context = page_context(viewed, "", heading="Not available", why=str(error))
            return render(request, "web/viewer/problem.html", context, status=422)

    return local_only(guarded)


def of_run(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open a view of one run; number 0 in an address leads to the latest run, so that addresses stay permanent."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, study: LocalStudy, run: int, **rest: Any) -> HttpResponse:
        if run:
            return view(request, study, run, **rest)
        latest = studies().runs(study).latest
        if latest is None:
            return render(request, "web/viewer/no_runs.html", page_context(study, ""))
        name = request.resolver_match.view_name if request.resolver_match is not None else "results"
        address = reverse(name, kwargs={"study": study.key, "run": latest.number, **rest})
        query = request.META.get("QUERY_STRING", "")
        return redirect(f"{address}?{query}" if query else address)

    return of_study(guarded)


def page_context(study: LocalStudy, section: str, **more: object) -> dict[str, object]:
    """Return the variables of every page of a study: its name, and the section of the menu.

    Args:
        study: The study.
        section: Key of the menu's entry.
        more: Other values shown on the page.
    """
    return {"study": study, "section": section, "is_one": studies().is_one, **more}


@local_only
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """List the studies of the folder; redirect if there is only one."""
    viewed = studies()
    entries = viewed.all()
    if viewed.is_one:
        return redirect("study", study=entries[0].key)
    rows = [_study_row(study, viewed.runs(study)) for study in entries]
    return render(request, "web/viewer/studies.html", {"rows": rows, "root": viewed.root})


def _study_row(study: LocalStudy, runs: StudyRuns) -> tuple[object, ...]:
    return study, runs, progress_context(runs, run_pages(study))["lines"], _faults(study)


def _faults(study: LocalStudy) -> int:
    return sum(item.severity is Severity.ERROR for item in study.diagnostics)


@of_study
@require_GET
def study(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Show the runs of a study, their progress, and its errors and notes."""
    return render(request, "web/viewer/study.html", page_context(study, "runs", **_progress_context(study)))


@local_only
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study from a template, and open its editor."""

    def create(name: str, kind: StarterKind, answers: Mapping[str, str]) -> str:
        return reverse("edit_study", kwargs={"study": studies().create(name, kind, answers).key})

    creation = StudyCreation(template="web/viewer/base.html", root=str(studies().root), create=create)
    return new_study_page(request, creation)


@of_study
@require_http_methods(["GET", "POST"])
def edit_study(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Edit the files of a study; saving writes the file itself."""
    edited = EditedStudy(
        title=study.name,
        files=studies().files(study),
        template="web/viewer/base.html",
        address=reverse("edit_study", kwargs={"study": study.key}),
        context=page_context(study, "edit"),
        running=reverse("new_run", kwargs={"study": study.key}),
        trials=TrialSetting(
            environ=lambda _: studies().environ,
            public_only=False,
            stored=lambda: studies().stored_dialogues(study),
            spent=lambda: studies().spent(study),
        ),
        environ=studies().environ,
    )
    return edit(request, edited)


@of_study
@require_GET
def live(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Return the part of the page that changes while a run is in progress."""
    context = _progress_context(study)
    response = render(request, "web/runs/_live.html", page_context(study, "runs", **context))
    if request.GET.get("active") and not context["runs"].is_active:
        response.headers["HX-Refresh"] = "true"  # it has ended: the whole page changes
    return response


def _progress_context(study: LocalStudy) -> dict[str, Any]:
    is_startable = study.loaded is not None
    context = progress_context(studies().runs(study), run_pages(study))
    return context | {"faults": _faults(study), "is_startable": is_startable}


def run_pages(study: LocalStudy) -> RunPages:
    """Return the addresses of the pages about the runs of a study."""
    return RunPages(
        runs=reverse("study", args=[study.key]),
        live=reverse("live", args=[study.key]),
        start=reverse("new_run", args=[study.key]),
        check=reverse("check_endpoints", args=[study.key]),
        stop=reverse("stop", args=[study.key]),
        allow=reverse("allow", args=[study.key]),
        results=lambda number: reverse("results", args=[study.key, number]),
    )


@of_study
def new_run(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Show the estimate of a run, and start it once its cost is confirmed."""
    loaded = studies().valid(study.key)[1]
    form = RunForm(request.POST or None, is_paid=is_paid(studies().estimate(loaded)))
    if request.method == "POST" and form.is_valid():
        try:
            studies().start(study, form.run_request())
        except TheodoliteError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Run started. Closing this page does not stop it.")
            return redirect("study", study=study.key)
    context = _start_context(study, loaded) | {"form": form}
    return render(request, "web/viewer/start.html", context, status=422 if form.errors else 200)


def _start_context(study: LocalStudy, loaded: LoadedStudy, **more: object) -> dict[str, object]:
    estimate = studies().estimate(loaded)
    code, keys = studies().permissions(loaded)
    context = start_context(
        loaded, studies().runs(study), estimate, run_pages(study), code=code, keys=keys, command=study.command, **more
    )
    return page_context(study, "runs", **context)


@of_study
@require_POST
def check_endpoints(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Call each endpoint once, and show the responses next to the form."""
    loaded = studies().valid(study.key)[1]
    try:
        checks, problem = asyncio.run(studies().endpoints(study)), ""
    except TheodoliteError as error:
        checks, problem = (), str(error)
    context = _start_context(study, loaded, form=RunForm(), checks=checks, problem=problem)
    return render(request, "web/viewer/start.html", context, status=422 if problem else 200)


@of_study
@require_POST
def allow(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Store the permission to run code of the study or to send its keys, as the terminal does."""
    loaded = studies().valid(study.key)[1]
    code, keys = studies().permissions(loaded)
    if code is not None and request.POST.get("code") == code.sha256:
        code.remember()
    if keys is not None and request.POST.getlist("key") == [use.shown for use in keys.uses]:
        keys.remember()
    return redirect("new_run", study=study.key)


@of_study
@require_POST
def stop(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Stop the run in progress; calls in flight finish, and all work is saved."""
    try:
        studies().stop(study)
        messages.success(request, "Stopping after the calls in flight. All work is kept.")
    except TheodoliteError as error:
        messages.warning(request, str(error))
    return redirect("study", study=study.key)
