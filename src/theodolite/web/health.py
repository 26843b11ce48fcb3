"""Addresses for probes of service managers and proxies: whether the process answers, and whether it can serve pages.

They need no account and no cookie, and show only status and version.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib.metadata import version

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from theodolite.bootstrap.migration import why_not_ready
from theodolite.web.access import open_to_all


@open_to_all
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 without a query: the process runs."""
    return JsonResponse({"status": "ok", "version": _version()})


@open_to_all
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 if the database is reachable and has the tables of this version; else 503 with the reason."""
    if reason := why_not_ready():
        content = {"status": "not ready", "reason": reason, "version": _version()}
        return JsonResponse(content, status=HTTPStatus.SERVICE_UNAVAILABLE)
    return JsonResponse({"status": "ready", "version": _version()})


@cache
def _version() -> str:
    return version("theodolite")
