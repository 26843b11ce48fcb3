"""Addresses for service managers and monitoring systems: probes of the process and its database, and metrics.

They need no account or cookie. Probes show only status and version; metrics require this machine or a token.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from importlib.metadata import version

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from theodolite.bootstrap.migration import why_not_ready
from theodolite.bootstrap.observers import METRICS_REFUSAL, may_read_metrics, process_metrics
from theodolite.web.access import open_to_all
from theodolite.web.events import server_store
from theodolite.web.session_end import reply_manager


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


@open_to_all
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics of this process and its database in the format of Prometheus."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if not may_read_metrics(str(request.META.get("REMOTE_ADDR", "")), headers, settings.METRICS_TOKEN):
        return HttpResponse(METRICS_REFUSAL, status=HTTPStatus.FORBIDDEN, content_type="text/plain; charset=utf-8")
    text, kind = _server_metrics()()
    return HttpResponse(text, content_type=kind)


@cache
def _server_metrics() -> Callable[[], tuple[bytes, str]]:
    result = process_metrics()
    result.read_databases([lambda: server_store().statistics()])
    result.gauge("replies_in_progress", "Replies to participants in progress.", lambda: reply_manager().in_flight())
    return result.text


@cache
def _version() -> str:
    return version("theodolite")
