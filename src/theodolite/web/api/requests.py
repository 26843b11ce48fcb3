"""Requests to the API: authentication by token, permissions, cursors, and problems as RFC 9457 describes them."""

from __future__ import annotations

import base64
import binascii
import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, cast

from allauth.core import ratelimit
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import Conflict, NotFound, StoreError, TheodoliteError, did_you_mean
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, access_of
from theodolite.web.api.records import ProblemDetails
from theodolite.web.models import ApiToken, Scope
from theodolite.web.models.api import token_with

TOKEN = "token"  # noqa: S105 - the access of an address
"""Access of the operations: the owner of a token, within its scopes and the owner's roles."""

PROBLEM_TYPE = "application/problem+json"
"""Media type of every error."""

MOST_FAULTS = 200
"""Faults that one problem names at most; count."""

LONGEST_POSITION = 18
"""Longest number of a position in a cursor, which databases can compare; digits."""

_FAILED, _USED = "token_failed", "token_used"
"""Rate limits: of requests without a valid token, and of requests with one token."""

_USE_RECORDED_AFTER = timedelta(minutes=1)


class ApiProblem(TheodoliteError):
    """A request that the API refuses.

    Attributes:
        status: HTTP status.
        errors: The errors as JSON values.
    """

    def __init__(self, status: HTTPStatus, message: str, *, errors: Iterable[dict[str, Any]] = ()) -> None:
        """Store the response."""
        super().__init__(message)
        self.status = status
        self.errors = tuple(errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Requirements of an operation.

    Attributes:
        scope: Scope of the token; None for any token.
        roles: Roles in the study, of which the first that the owner has applies; empty for operations without a study.
        has_body: Whether the request has a body.
        conflict: Reason for which the state of the study refuses the request; empty if it never does.
    """

    scope: Scope | None = None
    roles: tuple[Role, ...] = ()
    has_body: bool = False
    conflict: str = ""

    @property
    def text(self) -> str:
        """The permission as a sentence of the reference."""
        scope = f"Scope: `{self.scope.value}`." if self.scope else "Scope: any token."
        roles = ", ".join(role.value for role in self.roles) if self.roles else "any"
        return f"{scope} Roles: {roles}."

    @property
    def refusals(self) -> tuple[int, ...]:
        """Statuses with which the operation refuses requests, in ascending order."""
        is_about_study = bool(self.roles)
        refusals = {401: True, 422: True, 429: True, 409: bool(self.conflict)}
        refusals |= dict.fromkeys((400, 413), self.has_body) | dict.fromkeys((403, 404), is_about_study)
        return tuple(sorted(status for status, applies in refusals.items() if applies))


_MEASURERS = (Role.ORGANISER, Role.ANALYST)
_SENIORS = (Role.SENIOR, Role.ORGANISER)
_ANNOTATORS = (Role.ANNOTATOR,)

PERMISSIONS = {
    "list_studies": Permission(),
    "read_study": Permission(roles=tuple(Role)),
    "list_runs": Permission(roles=_MEASURERS),
    "estimate_run": Permission(roles=_MEASURERS),
    "read_run": Permission(roles=_MEASURERS),
    "start_run": Permission(
        scope=Scope.CONTROL_RUNS,
        roles=_MEASURERS,
        has_body=True,
        conflict="another run or scope is in progress, or the present files of the study cannot continue this run",
    ),
    "stop_run": Permission(
        scope=Scope.CONTROL_RUNS,
        roles=_MEASURERS,
        conflict="another run is in progress, or the run was started in a terminal",
    ),
    "list_dialogues": Permission(scope=Scope.READ_DIALOGUES, roles=_MEASURERS),
    "read_dialogue": Permission(scope=Scope.READ_DIALOGUES, roles=_MEASURERS),
    "list_queue": Permission(scope=Scope.READ_DIALOGUES, roles=_SENIORS),
    "read_queue_item": Permission(scope=Scope.READ_DIALOGUES, roles=(Role.SENIOR,)),
    "list_annotations": Permission(scope=Scope.READ_ANNOTATIONS, roles=_MEASURERS),
    "read_annotation": Permission(scope=Scope.READ_ANNOTATIONS, roles=_MEASURERS),
    "import_labels": Permission(scope=Scope.WRITE_ANNOTATIONS, roles=_MEASURERS, has_body=True),
    "next_task": Permission(
        scope=Scope.WRITE_ANNOTATIONS,
        roles=_ANNOTATORS,
        conflict="the annotator has not chosen which topics to avoid",
    ),
    "read_task": Permission(scope=Scope.WRITE_ANNOTATIONS, roles=_ANNOTATORS),
    "write_answers": Permission(
        scope=Scope.WRITE_ANNOTATIONS,
        roles=_ANNOTATORS,
        has_body=True,
        conflict="the guideline has another version, or the answers of the dialogue are frozen",
    ),
    "release_task": Permission(scope=Scope.WRITE_ANNOTATIONS, roles=_ANNOTATORS, conflict="the task was submitted"),
    "list_measurements": Permission(scope=Scope.READ_RESULTS, roles=_MEASURERS),
    "start_measurement": Permission(
        scope=Scope.RUN_MEASUREMENTS, roles=_MEASURERS, conflict="a measurement of the study is running"
    ),
    "read_measurement": Permission(scope=Scope.READ_RESULTS, roles=_MEASURERS),
    "read_results": Permission(scope=Scope.READ_RESULTS, roles=_MEASURERS),
    "read_latest_results": Permission(scope=Scope.READ_RESULTS, roles=_MEASURERS),
    "read_table": Permission(scope=Scope.READ_RESULTS, roles=_MEASURERS),
    "list_submissions": Permission(roles=(Role.TEAM,)),
    "read_own_results": Permission(scope=Scope.READ_RESULTS, roles=(Role.TEAM,)),
}
"""The permission of each operation; the roles are those of the page with the same content."""


def documented(name: str, success: Any, *statuses: int) -> dict[str, Any]:
    """Return the options of an operation: name, responses, and its permission for the reference.

    Args:
        name: Name of the operation, one of `PERMISSIONS`.
        success: Record of a successful response.
        statuses: Statuses of a successful response; 200 if none is named.
    """
    permission = PERMISSIONS[name]
    responses = dict.fromkeys(statuses or (200,), success)
    return {
        "url_name": name,
        "operation_id": name,
        "response": responses | dict.fromkeys(permission.refusals, ProblemDetails),
        "openapi_extra": {"x-permission": permission.text},
    }


class TokenAuth(HttpBearer):
    """Authentication by `Authorization: Bearer TOKEN`."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Return the valid token of a request; None for an unknown, expired or revoked one.

        Raises:
            ApiProblem: If there were too many requests.
        """
        counted = copy.copy(request)
        counted.method = "POST"  # the library counts no GET
        if not ratelimit.consume(counted, action=_FAILED, dry_run=True):
            raise _too_many(of="requests with a wrong token", span="5 minutes")
        row = token_with(token)
        now = timezone.now()
        if row is None or not row.is_valid(now) or not row.account.is_active:
            ratelimit.consume(counted, action=_FAILED)
            return None
        if not ratelimit.consume(counted, action=_USED, key=row.token):
            raise _too_many(of="requests of one token", span="1 minute")
        if row.used_at is None or row.used_at < now - _USE_RECORDED_AFTER:
            ApiToken.objects.filter(pk=row.pk).update(used_at=now)
        return row


def _too_many(*, of: str, span: str) -> ApiProblem:
    return ApiProblem(HTTPStatus.TOO_MANY_REQUESTS, f"too many {of}. Wait {span}, then try again")


def token_of(request: HttpRequest) -> ApiToken:
    """Return the token of an authenticated request."""
    return cast("ApiToken", request.auth)  # type: ignore[attr-defined] # set by the library


def permitted(request: HttpRequest, operation: str, study: str) -> AccessContext:
    """Return the access of a request to a study.

    Raises:
        ApiProblem: If the token lacks the scope, or the account a second factor.
        NotFound: If the owner has none of the roles: the study does not exist for others.
    """
    permission, token = PERMISSIONS[operation], token_of(request)
    require_scope(token, permission)
    access = access_of(token.account, study, permission.roles)
    if access is None:
        message = f"you have no study `{study}` as {' or '.join(role.value for role in permission.roles)}"
        raise NotFound(message)
    if access.lacks_factor:
        message = f"the role {access.role.value} needs a second factor in this study. Set one up on the web pages"
        raise ApiProblem(HTTPStatus.FORBIDDEN, message)
    return access


def require_scope(token: ApiToken, permission: Permission) -> None:
    """Refuse a token without the scope of an operation.

    Raises:
        ApiProblem: If the token lacks it.
    """
    if permission.scope is not None and permission.scope.value not in token.scopes:
        has = token.scope_texts or "none"
        message = (
            f"this operation needs the scope `{permission.scope.value}`; the token has {has}. Create a token with it"
        )
        raise ApiProblem(HTTPStatus.FORBIDDEN, message)


def cursor_text(series: int | str, position: int) -> str:
    """Return the cursor of a position in a series of records: a run, by its number, or a queue, by its study."""
    return base64.urlsafe_b64encode(f"{series}.{position}".encode()).decode().rstrip("=")


def cursor_position(cursor: str, series: int | str) -> int:
    """Return the position of a cursor; 0 for an empty one.

    Raises:
        ApiProblem: If the cursor does not belong to this series of records.
    """
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        text = ""
    name, _, position = text.rpartition(".")
    is_number = position.isdecimal() and len(position) <= LONGEST_POSITION
    if name != str(series) or not is_number or cursor_text(series, int(position)) != cursor:
        expected = f"a `next` of a page of {f'run {series}' if isinstance(series, int) else 'this queue'}"
        expected += ", with the same filters"
        raise ApiProblem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"`cursor` must be {expected}; got `{cursor[:80]}`. Start without `cursor`",
            errors=[{"where": "query.cursor", "expected": expected, "came": cursor[:80]}],
        )
    return int(position)


def problem(
    request: HttpRequest, status: HTTPStatus, detail: str, errors: Sequence[dict[str, Any]] = ()
) -> HttpResponse:
    """Return an error as problem details (RFC 9457)."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": _sentence(detail),
        "instance": request.path,
    }
    response = JsonResponse(body | ({"errors": list(errors)} if errors else {}), status=status)
    response.headers["Content-Type"] = PROBLEM_TYPE
    if status is HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Bearer realm="theodolite"'
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        response.headers["Retry-After"] = "60"
    return response


def _sentence(text: str) -> str:
    """Return a message with a capital first letter and a full stop.

    Example:
        >>> _sentence("no such run"), _sentence("Did you mean `run`?")
        ('No such run.', 'Did you mean `run`?')
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")


_STATUS_OF: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
)


def refusal(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Return the problem for an exception."""
    match error:
        case ApiProblem():
            return problem(request, error.status, str(error), error.errors)
        case AuthenticationError() | HttpError() | RequestDataTooBig():
            return problem(request, *_refused_request(error))
        case ValidationError():
            faults = [_fault(request, entry) for entry in error.errors[:MOST_FAULTS]]
            detail = "; ".join(f"`{fault['where']}`: {fault['expected']}" for fault in faults[:5])
            detail += f"; and {len(error.errors) - 5} more" if len(error.errors) > 5 else ""
            return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, faults)
        case InvalidStudyError():
            faults = [{"where": fault.place, "expected": fault.words} for fault in error.placed[:MOST_FAULTS]]
            return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, "the files of the study have errors", faults)
        case Http404():
            detail = str(error) or "there is nothing at this address"
            return problem(request, HTTPStatus.NOT_FOUND, detail)
    status = next((status for kind, status in _STATUS_OF if isinstance(error, kind)), HTTPStatus.UNPROCESSABLE_ENTITY)
    return problem(request, status, str(error))


def _refused_request(error: Exception) -> tuple[HTTPStatus, str]:
    """Return status and message for a request without a valid token or a readable body."""
    if isinstance(error, AuthenticationError):
        message = "expected `Authorization: Bearer TOKEN` with a valid token. Create one on the page API tokens"
        return HTTPStatus.UNAUTHORIZED, message
    if isinstance(error, RequestDataTooBig):
        most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected a body of at most {most} bytes. Send it in parts"
    return HTTPStatus.BAD_REQUEST, "expected a JSON document in UTF-8 as the body; the body cannot be read as one"


def _fault(request: HttpRequest, entry: dict[str, Any]) -> dict[str, Any]:
    """Return one validation error: position, expected value, and submitted value."""
    location = [str(part) for part in entry["loc"]]
    if location[0] == "body":
        del location[1:2]  # the name of the argument in the code
    fault = {"where": ".".join(location), "expected": str(entry["msg"])}
    came = request.GET.get(location[-1]) if location[0] == "query" else None
    return fault | ({"came": came[:200]} if came is not None else {})


def checked(view: Callable[..., HttpResponseBase], known: Callable[[str], Sequence[str]]) -> Callable[..., Any]:
    """Return a view of the library that rejects unknown parameters and methods with a problem.

    Args:
        view: The view at one address.
        known: Returns the query parameters of an HTTP method at this address.
    """

    @csrf_exempt  # a token is sent on purpose, and cookies of browsers do not count
    def answer(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        names = known(str(request.method).lower())
        unknown = [name for name in request.GET if name not in names]
        if unknown:
            return _unknown_parameters(request, unknown, names)
        response = view(request, **parts)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            permits = response.headers.get("Allow", "")
            message = f"{request.method} is not possible here; expected {permits}"
            response = problem(request, HTTPStatus.METHOD_NOT_ALLOWED, message)
            response.headers["Allow"] = permits
        return response

    answer.access = TOKEN  # type: ignore[attr-defined] # read by the test that asks every address who may see it
    return answer


def _unknown_parameters(request: HttpRequest, unknown: Sequence[str], names: Sequence[str]) -> HttpResponse:
    expected = ", ".join(names) or "no parameters"
    near = did_you_mean(unknown[0], names)
    errors = [{"where": f"query.{name}", "expected": f"one of: {expected}", "came": name[:80]} for name in unknown[:20]]
    detail = f"unknown parameter `{unknown[0][:80]}`; expected {expected}{near}"
    return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors)
