"""What every page is given beside its own."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_bidi

from theodolite.web.accounts.adapter import INVITED


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
