"""Security headers, error pages, static files, languages, and the context of every template.

A person's own language has priority, then the invitation's, then the browser's. On pages of a study the
browser counts only for languages of that study, so pages and study have the same language.
"""

from __future__ import annotations

import logging
import mimetypes
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.forms import BaseForm, ChoiceField
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation.trans_real import parse_accept_lang_header

from theodolite.bootstrap.observers import record_request
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.text import best_language
from theodolite.web.access import open_to_all
from theodolite.web.models import Account, DisplaySettings

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action {targets}; frame-ancestors 'none'; object-src 'none'; "
    "img-src 'self' data:"
)
"""Nothing from other hosts, nothing inline; `data:` only for QR codes.

A form may redirect to an identity provider that the operator has named, since browsers apply the rule to redirects.
"""


_HEADERS = {
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}


_Answering = Callable[[HttpRequest], HttpResponse]


def measured(get_response: _Answering) -> _Answering:
    """Measure each request, and log it if the log is JSON; the address pattern identifies no person."""

    def answer(request: HttpRequest) -> HttpResponse:
        started_s = time.perf_counter()
        response = get_response(request)
        record_request(
            str(request.method),
            request.resolver_match.route if request.resolver_match else "unknown",
            response.status_code,
            time.perf_counter() - started_s,
        )
        return response

    return answer


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
    """Answer a form that another site submitted."""
    _LOG.info("a form was refused: %s", reason)
    return _message_page(request, _("This page has expired"), str(_STALE), HTTPStatus.FORBIDDEN)


@open_to_all
def not_here(_request: HttpRequest, **_rest: object) -> HttpResponse:
    """Replace unused pages of the sign-in library; invitations set the e-mail address.

    Raises:
        Http404: Always.
    """
    raise Http404


class PlainErrors(MiddlewareMixin):
    """Turns our exceptions into error pages: not found, conflict, or no database."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return an error page; None for internal errors.

        Raises:
            Http404: If there is no such file.
        """
        if isinstance(error, NotFound):
            raise Http404 from error
        if isinstance(error, Conflict):
            return _message_page(
                request, _("Changed by somebody else"), f"{str(error).rstrip('.')}.", HTTPStatus.CONFLICT
            )
        if isinstance(error, InvalidStudyError):
            why = _("The files of the study contain errors. An organiser corrects them under “Edit study”.")
            return _message_page(request, _("Not available"), why, HTTPStatus.CONFLICT)
        if isinstance(error, StoreError):
            _LOG.error("the database cannot be used", exc_info=error)
            why = _("The database is not available at the moment. Saved data is not affected; try again in a minute.")
            return _message_page(request, _("Not available"), why, HTTPStatus.SERVICE_UNAVAILABLE)
        return None


def _message_page(request: HttpRequest, heading: str, why: str, status: HTTPStatus) -> HttpResponse:
    return render(request, "web/message.html", {"heading": heading, "why": why}, status=status)


_FOR_EVER = "public, max-age=31536000, immutable"


@open_to_all
def static_file(_request: HttpRequest, version: str, path: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Serve a file; its address changes with its content, so browsers may cache it."""
    entry = _files().get(path)
    if entry is None:
        raise Http404
    kind, body = entry
    return HttpResponse(body, content_type=kind, headers={"Cache-Control": _FOR_EVER})


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """Return type and bytes of every file by path; our files override those of libraries."""
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
    """Return the variables of every template without queries."""
    return {
        "sends_mail": settings.SENDS_MAIL,
        "next_path": _onward(request),
        "language": get_language() or "en",
        "direction": "rtl" if get_language_bidi() else "ltr",
        "study_title": getattr(request, "study_title", None),
        "next_step_of_tester": getattr(request, "next_step_of_tester", None),
    }


def absolute(request: HttpRequest, path: str) -> str:
    """Return the full address of a path for copying or mail: based on the server's configured address, if any."""
    return f"{settings.ADDRESS}{path}" if settings.ADDRESS else request.build_absolute_uri(path)


def _onward(request: HttpRequest) -> str:
    """Return the local path to open after an external sign-in."""
    session = getattr(request, "session", None)
    signed = session.get(INVITED, "") if session is not None and session.session_key else ""
    return f"/join/{signed}/" if signed else "/"


INVITED = "invitation"
"""Key of the invitation in the browser session during sign-in by an identity provider."""


CHOSEN = "language"
"""Key of the person's settings in the browser session."""


PLAIN = "en"
"""Language of untranslated pages."""


_TRANSLATED = ("theodolite.web.accounts.", "theodolite.web.tester.", "theodolite.web.middleware", "allauth.", "django.")
"""Modules with views that show translated pages."""


def page_languages() -> tuple[str, ...]:
    """Return the language tags of all translated pages."""
    return tuple(code for code, _ in settings.LANGUAGES)


def language_name(code: str) -> str:
    """Return a language's own name, e.g. `Deutsch`; the tag if unknown."""
    with suppress(KeyError):
        return str(translation.get_language_info(code)["name_local"])
    return code


def offer_languages(form: BaseForm, languages: Sequence[str]) -> None:
    """Set the languages of a form field `language`; with a single language the field is removed."""
    if len(languages) < 2:
        del form.fields["language"]
        return
    named = [(code, language_name(code)) for code in languages]
    cast("ChoiceField", form.fields["language"]).choices = [("", "as set in the browser"), *named]


def chosen(request: HttpRequest) -> str:
    """Return the language of a person's choice or invitation; empty for none."""
    session = getattr(request, "session", None)
    return str(session.get(CHOSEN, "")) if session is not None else ""


def asked_for(request: HttpRequest) -> tuple[str, ...]:
    """Return the languages that a browser requests, the preferred first."""
    header = request.headers.get("Accept-Language", "")
    return tuple(tag for tag, _ in parse_accept_lang_header(header.lower()[:500]) if tag != "*")


def read_language(request: HttpRequest, offered: tuple[str, ...]) -> str:
    """Return a person's language for a study; the study's main language if no other matches.

    Args:
        request: The request.
        offered: Languages of the study, main language first.
    """
    return best_language((chosen(request), *asked_for(request)), offered) or offered[0]


def speak(request: HttpRequest, offered: tuple[str, ...]) -> str:
    """Activate the person's language for a page, and return the language for the study's texts."""
    reading = read_language(request, offered)
    translation.activate(best_language(filter(None, (chosen(request), reading)), page_languages()) or PLAIN)
    return reading


def choose(request: HttpRequest, language: str) -> None:
    """Store the chosen language in the browser session; an empty choice changes nothing."""
    if language:
        request.session[CHOSEN] = language
    else:
        request.session.pop(CHOSEN, None)


class SpokenPages:
    """Middleware that shows pages in the user's language where translations exist."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Store the next handler."""
        self._answer = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request, and reset the language for the next request on the thread."""
        with translation.override(PLAIN):
            return self._answer(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> None:
        """Use the reader's language if the page is translated; pages of a study choose their language themselves."""
        if "study" in (request.resolver_match.kwargs if request.resolver_match else {}):
            return
        if getattr(view, "__module__", "").startswith(_TRANSLATED):
            preferred = (chosen(request), *asked_for(request))
            translation.activate(best_language(filter(None, preferred), page_languages()) or PLAIN)


def _on_sign_in(request: HttpRequest, user: object, **_: object) -> None:
    """Use the language of the display settings; else the language of the invitation."""
    if not isinstance(user, Account):
        return
    language = (
        DisplaySettings.objects.filter(account=user).exclude(language="").values_list("language", flat=True).first()
    )
    if language:
        choose(request, language)
    elif chosen(request):
        DisplaySettings.objects.update_or_create(account=user, defaults={"language": chosen(request)})


def listen() -> None:
    """Connect to the sign-in signal."""
    user_logged_in.connect(_on_sign_in, dispatch_uid="theodolite.web.middleware")
