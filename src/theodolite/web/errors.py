"""What is shown when something goes wrong: in plain words, without a trace of the machinery."""

from __future__ import annotations

import logging
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.web.access import open_to_all

_LOG = logging.getLogger(__name__)

_STALE = lazy(
    "The page was open for long, or you have signed in elsewhere meanwhile. Go back, load it again and try once more; "
    "copy what you wrote first."
)


@open_to_all
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that does not come from a page of ours."""
    _LOG.info("a form was refused: %s", reason)
    return _told(request, _("This page is too old"), str(_STALE), HTTPStatus.FORBIDDEN)


@open_to_all
def not_here(_request: HttpRequest, **_rest: object) -> HttpResponse:
    """Take the place of pages of the sign-in library that nobody is to use: addresses are given by invitations.

    Raises:
        Http404: Always.
    """
    raise Http404


class PlainErrors(MiddlewareMixin):
    """Turns errors of ours into pages: not found, in conflict, or no database."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a page in words; None for errors that are nobody's business but the operator's.

        Raises:
            Http404: If something is not there.
        """
        if isinstance(error, NotFound):
            raise Http404 from error
        if isinstance(error, Conflict):
            return _told(request, _("Somebody was faster"), f"{str(error).rstrip('.')}.", HTTPStatus.CONFLICT)
        if isinstance(error, StoreError):
            _LOG.error("the database cannot be used", exc_info=error)
            why = _("The database does not answer just now. What was saved is saved; try again in a minute.")
            return _told(request, _("Not now"), why, HTTPStatus.SERVICE_UNAVAILABLE)
        return None


def _told(request: HttpRequest, heading: str, why: str, status: HTTPStatus) -> HttpResponse:
    return render(request, "web/told.html", {"heading": heading, "why": why}, status=status)
