"""Operations of the REST API. Each calls the service of the page with the same content, with the same roles."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from asgiref.sync import async_to_sync
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from ninja import NinjaAPI, Query, Status
from ninja.errors import AuthenticationError, HttpError, ValidationError

from theodolite.bootstrap.events import run_records, study_context_of
from theodolite.bootstrap.exchange import ExportForm, dialogue_table_lines
from theodolite.bootstrap.reports import RESULTS
from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.errors import Conflict, NotFound, TheodoliteError, did_you_mean
from theodolite.domain.event import Role
from theodolite.domain.run import Run
from theodolite.reporting.exporting.record_pages import (
    RecordFilter,
    RecordPage,
    annotation_at,
    annotation_page,
    dialogue_at,
    dialogue_page,
)
from theodolite.web.access import AccessContext, lacks_factor, open_to_all, required_roles
from theodolite.web.api import annotating, records, runs
from theodolite.web.api.document import complete
from theodolite.web.api.requests import (
    PERMISSIONS,
    ApiProblem,
    TokenAuth,
    checked,
    cursor_position,
    cursor_text,
    documented,
    permitted,
    problem,
    refusal,
    token_of,
)
from theodolite.web.events import event_of, last_edition, open_event_of, server_store
from theodolite.web.models import Account, HostedStudy, Measurement, Membership, Submission
from theodolite.web.organiser.results import measure, team_files
from theodolite.web.teams.submissions import own, shared_results

PREFIX = "/api/v1/"
"""Prefix of all addresses of the API."""

_OPENAPI = "openapi.json"

api = NinjaAPI(
    title="Theodolite",
    version="1",
    description="Studies, runs, dialogues, annotations and results of a Theodolite server.",
    urls_namespace="api",
    openapi_url=None,
    docs_url=None,
    auth=TokenAuth(),
)

for _kind in (ApiProblem, AuthenticationError, ValidationError, HttpError, RequestDataTooBig, Http404, TheodoliteError):
    api.add_exception_handler(_kind, refusal)

api.add_router("", runs.router)
api.add_router("", annotating.router)


@api.get("studies", **documented("list_studies", records.StudyList))
def list_studies(request: HttpRequest) -> dict[str, Any]:
    """List the studies of the owner of the token."""
    memberships = Membership.objects.select_related("hosted").filter(account=token_of(request).account, left_at=None)
    by_study: dict[HostedStudy, list[Role]] = defaultdict(list)
    for membership in memberships.order_by("hosted__made_at", "id"):
        by_study[membership.hosted].append(membership.as_role)
    account = token_of(request).account
    return {"items": [_study(account, hosted, roles) for hosted, roles in by_study.items()]}


@api.get("studies/{study}", **documented("read_study", records.StudyRecord))
def read_study(request: HttpRequest, study: str) -> dict[str, Any]:
    """Return a study."""
    access = permitted(request, "read_study", study)
    own_roles = Membership.objects.filter(account=access.account, hosted=access.hosted, left_at=None).order_by("id")
    return _study(access.account, access.hosted, [membership.as_role for membership in own_roles])


def _study(account: Account, hosted: HostedStudy, roles: Sequence[Role]) -> dict[str, Any]:
    required = required_roles(hosted)
    usable = {role for role in roles if not lacks_factor(account, required, role)}
    shown: dict[str, Any] = {"id": hosted.token, "title": str(hosted), "roles": [role.value for role in roles]}
    if {Role.ORGANISER, Role.ANALYST} & usable:
        release = last_edition(hosted)
        shown |= {"name": hosted.name, "state": hosted.state, "version": release.version if release else None}
    return shown


@api.get(
    "studies/{study}/dialogues",
    **documented("list_dialogues", records.DialogueList),
)
def list_dialogues(request: HttpRequest, study: str, query: Query[records.RecordQuery]) -> dict[str, Any]:
    """List the completed dialogues of a run in plan order, without texts."""
    access = permitted(request, "list_dialogues", study)
    context = _context(access, query.run)
    source = run_records(context)
    wanted = _filter(context, query)
    if not query.cursor:
        access.audit("listed dialogues by API", f"study {access.hosted.token}", token=token_of(request).token)
    start = cursor_position(query.cursor, source.run.number)
    return _page(source.run, dialogue_page(source, wanted, start=start, limit=query.limit))


@api.get(
    "studies/{study}/dialogues/{path:dialogue}",
    **documented("read_dialogue", records.DialogueDetails),
)
def read_dialogue(
    request: HttpRequest, study: str, dialogue: str, query: Query[records.DialogueQuery]
) -> dict[str, Any]:
    """Return a completed dialogue with its turns, by its label."""
    access = permitted(request, "read_dialogue", study)
    source = run_records(_context(access, query.run), include_text=query.include_text)
    found = dialogue_at(source, dialogue)
    facts = {"token": token_of(request).token, "include_text": query.include_text}
    access.audit("read dialogue by API", f"dialogue {found['id']}", **facts)
    return found


@api.get(
    "studies/{study}/annotations",
    **documented("list_annotations", records.AnnotationList),
)
def list_annotations(request: HttpRequest, study: str, query: Query[records.AnnotationQuery]) -> dict[str, Any]:
    """List the annotations of the completed dialogues of a run; people have numbers, as in exports."""
    access = permitted(request, "list_annotations", study)
    context = _context(access, query.run)
    source = run_records(context, include_text=query.include_text, with_people=True)
    wanted = _filter(context, query, query.guideline)
    if not query.cursor:
        access.audit("listed annotations by API", f"study {access.hosted.token}", token=token_of(request).token)
    start = cursor_position(query.cursor, source.run.number)
    return _page(source.run, annotation_page(source, wanted, start=start, limit=query.limit))


@api.get(
    "studies/{study}/annotations/{annotation}",
    **documented("read_annotation", records.AnnotationRecord),
)
def read_annotation(
    request: HttpRequest, study: str, annotation: str, query: Query[records.DialogueQuery]
) -> dict[str, Any]:
    """Return an annotation."""
    access = permitted(request, "read_annotation", study)
    source = run_records(_context(access, query.run), include_text=query.include_text, with_people=True)
    return annotation_at(source, annotation)


def _context(access: AccessContext, number: int) -> StudyContext:
    """Return the context of a run.

    Args:
        access: The access to the study.
        number: Number of the run; 0 for the run of the published version.

    Raises:
        NotFound: If there is no such run.
    """
    store, version = server_store(), ""
    stored = {run.number: run for run in store.runs(event_of(access.hosted).study.name)} if number else {}
    if number and number not in stored:
        known = ", ".join(str(run) for run in sorted(stored)) or "none"
        message = f"study `{access.hosted.token}` has no run {number}; it has {known}"
        raise NotFound(message)
    if number:
        version = stored[number].study_version
    context = study_context_of(open_event_of(access.hosted, version), access.hosted.folder, store)
    if number and context.current_run().number != number:
        message = f"the records of run {number} belong to another version of the study files and cannot be listed"
        raise NotFound(message)
    return context


def _filter(context: StudyContext, query: records.RecordQuery, guideline: str = "") -> RecordFilter:
    """Return the filter of a query.

    Raises:
        ApiProblem: If it names something that the study does not have.
    """
    study = context.loaded.study
    names = (
        ("application", query.application, [application.name for application in study.applications]),
        ("scenario", query.scenario, [scenario.name for scenario in study.scenarios]),
        ("guideline", guideline, [one.name for one in study.guidelines]),
    )
    for key, value, known in names:
        if value and value not in known:
            expected = f"one of {', '.join(known)}"
            raise ApiProblem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"`{key}` must be {expected}; got `{value[:80]}`{did_you_mean(value, known)}",
                errors=[{"where": f"query.{key}", "expected": expected, "came": value[:80]}],
            )
    return RecordFilter(application=query.application, scenario=query.scenario, level=query.level, guideline=guideline)


def _page(run: Run, page: RecordPage) -> dict[str, Any]:
    after = None if page.after is None else cursor_text(run.number, page.after)
    return {"items": page.records, "next": after}


@api.get(
    "studies/{study}/table",
    **documented("read_table", str),
)
def read_table(request: HttpRequest, study: str, query: Query[records.TableQuery]) -> HttpResponse:
    """Return the dialogue table of a run, as `theodolite export` writes it: one row per turn and label."""
    access = permitted(request, "read_table", study)
    form = ExportForm(query.form.value)
    lines = dialogue_table_lines(
        _context(access, query.run), form, guideline=query.guideline, include_text=query.include_text
    )
    facts = {"form": form.value, "include_text": query.include_text, "token": token_of(request).token}
    access.audit("exported table by API", f"study {access.hosted.token}", **facts)
    kind = "text/csv; charset=utf-8" if form is ExportForm.CSV else "application/jsonl; charset=utf-8"
    response = HttpResponse("".join(lines), content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{access.hosted.name}.{form.value}"'
    return response


@api.get(
    "studies/{study}/measurements",
    **documented("list_measurements", records.MeasurementList),
)
def list_measurements(request: HttpRequest, study: str) -> dict[str, Any]:
    """List the measurements of a study, the latest first."""
    access = permitted(request, "list_measurements", study)
    return {"items": [_measurement(row) for row in access.hosted.measurements.order_by("-asked_at", "-id")]}


@api.post(
    "studies/{study}/measurements",
    **documented("start_measurement", records.MeasurementRecord, 202),
)
def start_measurement(request: HttpRequest, study: str) -> Status[dict[str, Any]]:
    """Start a measurement of all completed dialogues; it continues in the background."""
    access = permitted(request, "start_measurement", study)
    if not async_to_sync(measure)(access.hosted, access.account):
        message = "a measurement of this study is running. Wait until it has finished"
        raise Conflict(message)
    row = access.hosted.measurements.latest("asked_at", "id")
    access.audit("started measurement by API", f"measurement {row.token}", token=token_of(request).token)
    return Status(HTTPStatus.ACCEPTED, _measurement(row))


@api.get(
    "studies/{study}/measurements/{measurement}",
    **documented("read_measurement", records.MeasurementRecord),
)
def read_measurement(request: HttpRequest, study: str, measurement: str) -> dict[str, Any]:
    """Return a measurement."""
    access = permitted(request, "read_measurement", study)
    return _measurement(_measurement_of(access, measurement))


@api.get(
    "studies/{study}/measurements/{measurement}/results.json",
    **documented("read_results", dict[str, Any]),
)
def read_results(request: HttpRequest, study: str, measurement: str) -> HttpResponse:
    """Return the results of a measurement; the reference of `results.json` describes the format."""
    access = permitted(request, "read_results", study)
    row = _measurement_of(access, measurement)
    file = row.folder / RESULTS
    if not file.is_file():
        state = _measurement(row)["state"]
        message = f"measurement `{measurement}` has no results: it is {state}"
        raise NotFound(message)
    return _results(request, access, row)


def _measurement_of(access: AccessContext, token: str) -> Measurement:
    row = access.hosted.measurements.filter(token=token).first()
    if row is None:
        message = f"this study has no measurement `{token}`"
        raise NotFound(message)
    return row


def _measurement(row: Measurement) -> dict[str, Any]:
    state = "running" if row.done_at is None else "failed" if row.problem else "done"
    return {
        "id": row.token,
        "state": state,
        "version": row.edition,
        "requested": row.asked_at,
        "finished": row.done_at,
        "problem": row.problem or None,
    }


@api.get(
    "studies/{study}/results.json",
    **documented("read_latest_results", dict[str, Any]),
)
def read_latest_results(request: HttpRequest, study: str) -> HttpResponse:
    """Return the results of the latest finished measurement; `Content-Location` names the measurement."""
    access = permitted(request, "read_latest_results", study)
    finished = access.hosted.measurements.filter(problem="").exclude(done_at=None)
    row = next(
        (
            measurement
            for measurement in finished.order_by("-done_at", "-id")
            if (measurement.folder / RESULTS).is_file()
        ),
        None,
    )
    if row is None:
        message = "the study has no finished measurement. Start one with `start_measurement`"
        raise NotFound(message)
    response = _results(request, access, row)
    response.headers["Content-Location"] = f"{PREFIX}studies/{study}/measurements/{row.token}/results.json"
    return response


def _results(request: HttpRequest, access: AccessContext, row: Measurement) -> HttpResponse:
    access.audit("opened results", f"measurement {row.token}", file=RESULTS, token=token_of(request).token)
    return HttpResponse((row.folder / RESULTS).read_bytes(), content_type="application/json")


@api.get(
    "studies/{study}/submissions",
    **documented("list_submissions", records.SubmissionList),
)
def list_submissions(request: HttpRequest, study: str) -> dict[str, Any]:
    """List the applications that the team of the owner submitted."""
    access = permitted(request, "list_submissions", study)
    rows = Submission.objects.select_related("hosted").filter(hosted=access.hosted, team=access.membership)
    return {"items": [_submission(row) for row in rows.order_by("id")]}


@api.get(
    "studies/{study}/submissions/{submission}/results.json",
    **documented("read_own_results", dict[str, Any]),
)
def read_own_results(request: HttpRequest, study: str, submission: str) -> HttpResponse:
    """Return the latest shared results for an application of the team."""
    access = permitted(request, "read_own_results", study)
    row = own(access, submission)
    measurement, (_, file) = shared_results(row), team_files(row.name)
    if measurement is None:
        message = f"the organisers have not shared results on {row.name}"
        raise NotFound(message)
    access.audit("opened own results", f"submission {row.token}", file=RESULTS, token=token_of(request).token)
    return HttpResponse((measurement.folder / file).read_bytes(), content_type="application/json")


def _submission(row: Submission) -> dict[str, Any]:
    return {
        "id": row.token,
        "name": row.name,
        "state": row.state,
        "has_results": shared_results(row) is not None,
    }


@cache
def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of all operations."""
    return complete(json.loads(json.dumps(api.get_openapi_schema(path_prefix=PREFIX))))


@open_to_all
@require_safe
def openapi(_request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document."""
    return JsonResponse(openapi_document())


@csrf_exempt  # it changes nothing, and a page about cookies would help no program
@open_to_all
def unknown(request: HttpRequest, rest: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Answer an address without an operation with a problem."""
    message = f"there is no operation at this address. All operations are in {PREFIX}{_OPENAPI}"
    return problem(request, HTTPStatus.NOT_FOUND, message)


_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


def _known_parameters(route: str) -> Callable[[str], Sequence[str]]:
    """Return a function that maps an HTTP method to the query parameters of the operation at a route."""
    address = PREFIX + _ARGUMENT.sub(r"{\1}", route)

    def known(method: str) -> Sequence[str]:
        operation = openapi_document()["paths"].get(address, {}).get(method, {})
        return [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]

    return known


def _patterns() -> Iterator[URLPattern]:
    """Yield the addresses of the operations."""
    for pattern in api.urls[0]:
        if isinstance(pattern, URLPattern) and pattern.name in PERMISSIONS:
            route = str(pattern.pattern)
            yield path(route, checked(pattern.callback, _known_parameters(route)), name=pattern.name)


urlpatterns = [
    path(_OPENAPI, openapi, name="openapi"),
    *_patterns(),
    path("<path:rest>", unknown, name="unknown"),
]
