"""Security headers, error pages, static files and the context of every template."""

from __future__ import annotations

import logging
import mimetypes
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.web.access import open_to_all
from theodolite.web.accounts.sign_in import INVITED

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action {targets}; frame-ancestors 'none'; object-src 'none'; "
    "img-src 'self' data:"
)
"""Nothing from other hosts, nothing inline; `data:` for the codes that phones read off a screen.

A form may lead to an identity provider that the operator has named, since browsers follow the rule through redirects.
"""


_HEADERS = {
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}


_Answering = Callable[[HttpRequest], HttpResponse]


def closed_headers(get_response: _Answering) -> _Answering:
    """Add the content policy to every response; no page of a signed-in account is cached."""

    def answer(request: HttpRequest) -> HttpResponse:
        return _closed(get_response(request))

    return answer


def _closed(response: HttpResponse) -> HttpResponse:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    targets = " ".join(["'self'", *settings.FORM_TARGETS])
    response.headers.setdefault("Content-Security-Policy", POLICY.format(targets=targets))
    response.headers.setdefault("Cache-Control", "no-store")
    return response


_LOG = logging.getLogger(__name__)


_STALE = lazy(
    "The page was open for too long, or you have signed in elsewhere. "
    "Copy your text, go back, reload the page and try again."
)


@open_to_all
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that does not come from a page of ours."""
    _LOG.info("a form was refused: %s", reason)
    return _told(request, _("This page has expired"), str(_STALE), HTTPStatus.FORBIDDEN)


@open_to_all
def not_here(_request: HttpRequest, **_rest: object) -> HttpResponse:
    """Replace unused pages of the sign-in library: invitations set the e-mail address.

    Raises:
        Http404: Always.
    """
    raise Http404


class PlainErrors(MiddlewareMixin):
    """Turns errors of ours into pages: not found, in conflict, or no database."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return an error page; None for internal errors.

        Raises:
            Http404: If something is not there.
        """
        if isinstance(error, NotFound):
            raise Http404 from error
        if isinstance(error, Conflict):
            return _told(request, _("Changed by somebody else"), f"{str(error).rstrip('.')}.", HTTPStatus.CONFLICT)
        if isinstance(error, StoreError):
            _LOG.error("the database cannot be used", exc_info=error)
            why = _("The database is not available at the moment. Saved data is not affected; try again in a minute.")
            return _told(request, _("Not available"), why, HTTPStatus.SERVICE_UNAVAILABLE)
        return None


def _told(request: HttpRequest, heading: str, why: str, status: HTTPStatus) -> HttpResponse:
    return render(request, "web/told.html", {"heading": heading, "why": why}, status=status)


_FOR_EVER = "public, max-age=31536000, immutable"


@open_to_all
def static_file(_request: HttpRequest, version: str, path: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Answer with a file; its address changes with its content, so browsers may keep it."""
    entry = _files().get(path)
    if entry is None:
        raise Http404
    kind, body = entry
    return HttpResponse(body, content_type=kind, headers={"Cache-Control": _FOR_EVER})


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """Return kind and bytes of every file by its path; ours before those of others."""
    folders: tuple[Path, ...] = settings.STATIC_FOLDERS
    return {
        file.relative_to(folder).as_posix(): (_kind(file), file.read_bytes())
        for folder in reversed(folders)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _kind(file: Path) -> str:
    if file.suffix in {".js", ".mjs"}:
        return "text/javascript; charset=utf-8"
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def on_every_page(request: HttpRequest) -> dict[str, Any]:
    """Return what every template may use; no query is made."""
    return {
        "sends_mail": settings.SENDS_MAIL,
        "next_path": _onward(request),
        "language": get_language() or "en",
        "direction": "rtl" if get_language_bidi() else "ltr",
        "study_title": getattr(request, "study_title", None),
    }


def absolute(request: HttpRequest, path: str) -> str:
    """Return the whole address of a path, to be copied or mailed: below the server's own address if it has one."""
    return f"{settings.ADDRESS}{path}" if settings.ADDRESS else request.build_absolute_uri(path)


def _onward(request: HttpRequest) -> str:
    """Return where to go on after signing in elsewhere; a path of ours."""
    session = getattr(request, "session", None)
    signed = session.get(INVITED, "") if session is not None and session.session_key else ""
    return f"/join/{signed}/" if signed else "/"
