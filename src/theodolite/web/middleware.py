"""What every answer carries."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

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
    """Give every answer the content policy; pages of signed-in people are kept by no cache."""

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
