"""The form of requests to an HTTP application: address, headers and body with their gaps filled."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from theodolite.domain.application import BodyFormat, HttpEndpoint
from theodolite.domain.errors import InputError
from theodolite.gateways.http.client import HttpRequest, checked_address, host_of
from theodolite.gateways.templates import address_template, body_template, form_template, text_template

_BODILESS = frozenset({"GET", "HEAD", "DELETE"})


class RequestForm:
    """Fills what the study writes about a request with what one turn brings."""

    def __init__(self, name: str, connection: HttpEndpoint) -> None:
        """Parse all templates.

        Args:
            name: Name of the application in the study.
            connection: How the study says it is reached.

        Raises:
            InputError: If address, header or body cannot be used.
        """
        what = f"application `{name}`"
        self._method = connection.method.upper()
        self._template = checked_template(connection.url, what=what)
        self._address = address_template(self._template, what=f"`url` of {what}")
        self._write, kind = _writing(connection, what=f"`body` of {what}")
        self._kind = {"Content-Type": kind}
        self._headers = {
            header: text_template(value, what=f"header `{header}` of {what}")
            for header, value in connection.headers.items()
        }
        if connection.stream:
            self._headers = {"Accept": lambda _: "text/event-stream"} | self._headers

    @property
    def host(self) -> str:
        """Host and port."""
        return host_of(self._template)

    @property
    def site(self) -> str:
        """Scheme, host and port, for a command line."""
        return f"{self._template.partition('//')[0]}//{self.host}"

    def knock(self) -> HttpRequest:
        """Return a request that costs nothing."""
        slots: dict[str, Any] = {"prompt": "hello", "session": "knock", "turn": 1, "context": "", "history": []}
        return HttpRequest(url=self._address(slots), method="OPTIONS", headers=self._filled_headers(slots))

    def fill(self, variables: Mapping[str, Any], *, hear: Callable[[bytes], None] | None = None) -> HttpRequest:
        """Return the request of one turn.

        Args:
            variables: What the templates may name.
            hear: Receives the answer's bytes as they arrive.

        Raises:
            TemplateError: If a template cannot be filled.
        """
        headers = self._filled_headers(variables)
        if self._method in _BODILESS:
            return HttpRequest(url=self._address(variables), method=self._method, headers=headers, hear=hear)
        body, headers = self._write(variables).encode(), self._kind | headers
        return HttpRequest(url=self._address(variables), method=self._method, body=body, headers=headers, hear=hear)

    def _filled_headers(self, variables: Mapping[str, Any]) -> dict[str, str]:
        return {header: _one_line(fill(variables)) for header, fill in self._headers.items()}


def _writing(connection: HttpEndpoint, *, what: str) -> tuple[Callable[[Mapping[str, Any]], str], str]:
    """Return what writes the body of one turn, and the kind of text that it is."""
    if connection.body_as is BodyFormat.FORM:
        return form_template(connection.body, what=what), "application/x-www-form-urlencoded"
    fill = body_template(connection.body, what=what)
    return lambda variables: json.dumps(fill(variables), separators=(",", ":")), "application/json"


def checked_template(url: str, *, what: str) -> str:
    """Return a template of an address whose scheme and host are fixed.

    Raises:
        InputError: If they are not: a prompt must not choose the host.
    """
    fixed = url.partition("{")[0]
    checked_address(fixed, what=what)
    if "{" in url and "/" not in fixed.partition("//")[2]:
        message = f"`url` of {what} has a template before its path; host and port must be fixed"
        raise InputError(message)
    return url


def _one_line(value: str) -> str:
    """Return a header's value without line breaks, which would end the header."""
    return " ".join(value.split())
