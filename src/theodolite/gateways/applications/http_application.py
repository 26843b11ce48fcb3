"""Applications behind any HTTP endpoint that takes a prompt and returns a reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from theodolite.domain.application import BodyFormat, HttpEndpoint
from theodolite.domain.errors import ContentRefused, InputError, MalformedReply, TimedOut, Unreachable
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.run import Spending
from theodolite.gateways.errors import REFUSALS, AttemptError, RetriesExhausted, RetryPolicy, malformed
from theodolite.gateways.http_client import HttpClient, HttpRequest, HttpResponse, checked_address, host_of
from theodolite.gateways.proxies import CallRoute, require_public_host
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool
from theodolite.gateways.reply_reading import EventStream, ReplyPlace, find_in, parse_path
from theodolite.gateways.secret_redaction import BEARER_HEADER, Secret, repaired
from theodolite.gateways.templates import (
    address_template,
    body_template,
    form_template,
    request_variables,
    text_template,
)
from theodolite.ports.application import EndpointCheck, OnChunk
from theodolite.ports.progress import Clock

ENDPOINT_CHECK_S = 4.0
"""Deadline of an endpoint check; seconds."""

_ENDPOINT_CHECK_POLICY = RetryPolicy(connect_s=2.5, attempts=3, attempts_once=1, first_wait_s=0.4, longest_asked_s=0.0)


class _SiteSessions:
    """Our sessions as a site knows them.

    Attributes:
        ids: Session to the id that the site gave to it.
        n_answered: Session to the number of turns that the site has answered.
    """

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.n_answered: dict[str, int] = {}

    def stands_at(self, session: str, n_turns: int) -> bool:
        """Return whether the site can continue a session after so many turns."""
        return session in self.ids and self.n_answered.get(session, 0) == n_turns

    @contextmanager
    def hearing(self, session: str, turn: int) -> Iterator[None]:
        """Record a turn that the site answers within the block; a text of its filter is an answer, too."""
        try:
            yield
        except ContentRefused:
            self.n_answered[session] = turn
            raise
        self.n_answered[session] = turn

    def forget(self, session: str) -> None:
        """Make the next turn of a session start a new one there."""
        self.ids.pop(session, None)
        self.n_answered.pop(session, None)


class HttpApplication:
    """An application by URL, body template and reply path, in one piece or as a stream of events.

    If the site assigns session ids, a session that continues after an
    interruption, or goes back, starts a new one there: its earlier prompts are sent
    again first (ADR-0011, 0046); they count as attempts, not as calls.

    After a timeout there is no second try: the prompt has probably arrived, and
    an application that remembers its sessions would count the turn twice.
    """

    def __init__(
        self,
        name: str,
        connection: HttpEndpoint,
        *,
        key: str | None = None,
        clock: Clock,
        retry_policy: RetryPolicy | None = None,
        endpoint_check_s: float = ENDPOINT_CHECK_S,
        rate_limiter: RateLimiter | None = None,
        route: CallRoute | None = None,
    ) -> None:
        """Parse all templates; nothing is sent.

        Args:
            name: Name of the application in the study.
            connection: Its connection in the study.
            key: The token itself, from the environment.
            clock: Returns the current time and waits between tries.
            retry_policy: Bounds of a call; the connection's timeout and one try
                if the request may have been processed, unless given.
            endpoint_check_s: Deadline of an endpoint check; seconds.
            rate_limiter: Decides when an attempt may start; default: a separate account.
            route: Network route of calls; default: direct.

        Raises:
            InputError: If address, key, body or reply path cannot be used, or the address must be public and is not.
        """
        self._name = name
        self._form = RequestForm(name, connection)
        self._place = ReplyPlace(connection.reply, connection.reply_pattern)
        self._is_stream = connection.stream
        self._id_at = parse_path(connection.session) if connection.session else None
        self._sites = _SiteSessions()
        self._endpoint_check_s = endpoint_check_s
        if connection.public_only:
            require_public_host(connection.url, what=f"application `{name}`")
        self._client = HttpClient(
            endpoint=name,
            secret=Secret(key or "", variable=connection.key, header=connection.key_header or BEARER_HEADER),
            clock=clock,
            retry_policy=retry_policy
            or RetryPolicy(timeout_s=connection.timeout_s, attempts_once=1, refusals=5 * REFUSALS),
            parallel=connection.parallel,
            rate_limiter=rate_limiter or RateLimiter(SlotPool(clock, parallel=connection.parallel), clock),
            route=route or CallRoute(public_only=connection.public_only),
        )

    def __repr__(self) -> str:
        return f"HttpApplication({self._name!r}, host={self._form.host!r})"

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the application's answer.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
            TemplateError: If the request cannot be filled.
        """
        if self._id_at is None:
            return await self._ask(request, session, on_chunk)
        n_again = 0
        if not self._sites.stands_at(session, len(request.history)):
            self._sites.forget(session)
            for earlier in request.before():
                with suppress(ContentRefused):  # withheld again, although the site has received it
                    n_again += (await self._ask(earlier, session, None)).attempts
        with self._sites.hearing(session, request.known_turn):
            reply = await self._ask(request, session, on_chunk)
        return replace(reply, attempts=reply.attempts + n_again) if n_again else reply

    async def end(self, session: str) -> None:
        """Forget the id that the site gave to a session."""
        self._sites.forget(session)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def check_endpoint(self) -> EndpointCheck:
        """Request the options of the address, which costs nothing; never raises a `GatewayError`."""
        try:
            async with asyncio.timeout(self._endpoint_check_s):
                return await self._check_endpoint()
        except TimeoutError:
            return self._endpoint_check(f"connected, no answer within {self._endpoint_check_s:g} s yet")

    async def _check_endpoint(self) -> EndpointCheck:
        outcome = await self._client.retry(self._form.check_endpoint(), _ENDPOINT_CHECK_POLICY)
        if isinstance(outcome, HttpResponse):
            return self._endpoint_check(f"ok, {outcome.latency_s:.1f} s", attempts=outcome.attempts)
        return self._failed_check(outcome)

    def _failed_check(self, outcome: RetriesExhausted) -> EndpointCheck:
        attempt_error = outcome.attempt_error
        words = str(outcome.error(endpoint=self._name))
        # Some gateways answer OPTIONS with 403 for any token.
        if attempt_error.status == 401 or not outcome.tries:
            hint = _token_hint(self._client.secret.variable)
            return self._endpoint_check(words, alive=False, hint=hint, attempts=outcome.tries)
        if attempt_error.kind in {Unreachable, MalformedReply} or not attempt_error.status:
            hint, reached = f"curl -X OPTIONS {self._form.site}", attempt_error.kind not in {Unreachable, TimedOut}
            return self._endpoint_check(words, alive=False, reached=reached, hint=hint, attempts=outcome.tries)
        return self._endpoint_check(f"there, answers {attempt_error.status} to OPTIONS", attempts=outcome.tries)

    def _endpoint_check(
        self, answer: str, *, alive: bool = True, reached: bool = True, hint: str = "", attempts: int = 1
    ) -> EndpointCheck:
        return EndpointCheck(
            name=self._name,
            host=self._form.host,
            alive=alive,
            answer=answer,
            hint=hint,
            spent=Spending(calls=min(1, attempts), attempts=attempts),
            reached=reached,
        )

    async def _ask(self, request: SayToApplication, session: str, on_chunk: OnChunk | None) -> Reply:
        look = self._looking_for_id(session)
        secret = self._client.secret
        stream = EventStream(self._place, secret=secret, on_chunk=on_chunk, look=look) if self._is_stream else None
        slots = request_variables(request, session=session if self._id_at is None else self._sites.ids.get(session, ""))
        answer = await self._client.call(self._form.fill(slots, hear=stream.feed if stream else None))
        text = stream.text() if stream else self._place.read(answer)
        if stream is None:
            look(answer.body.decode("utf-8", "replace"))
        if not isinstance(text, AttemptError) and self._id_at is not None and session not in self._sites.ids:
            text = malformed("the answer holds no session id where `session` says; later turns could not be told apart")
        if isinstance(text, AttemptError):
            clean = replace(text, words=secret.scrub(text.words))
            raise clean.error(endpoint=self._name, tries=answer.attempts)
        stored, n_repaired = repaired(secret.strike(text))
        return Reply(text=stored, latency_s=answer.latency_s, attempts=answer.attempts, repaired=n_repaired)

    def _looking_for_id(self, session: str) -> Callable[[str], None]:
        """Return the function that searches answers for the session's id."""

        def look(text: str) -> None:
            if self._id_at is not None and session not in self._sites.ids and (result := find_in(text, self._id_at)):
                self._sites.ids[session] = result

        return look


def _token_hint(variable: str | None) -> str:
    if variable:
        return f"put the right token into the environment variable {variable}"
    return "write `key: NAME` at the application, NAME being the environment variable that holds the token"


_BODILESS = frozenset({"GET", "HEAD", "DELETE"})


class RequestForm:
    """Fills the study's templates of a request with the values of one turn."""

    def __init__(self, name: str, connection: HttpEndpoint) -> None:
        """Parse all templates.

        Args:
            name: Name of the application in the study.
            connection: Its connection in the study.

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

    def check_endpoint(self) -> HttpRequest:
        """Return a request that costs nothing."""
        slots: dict[str, Any] = {"prompt": "hello", "session": "knock", "turn": 1, "context": "", "history": []}
        return HttpRequest(url=self._address(slots), method="OPTIONS", headers=self._filled_headers(slots))

    def fill(self, variables: Mapping[str, Any], *, hear: Callable[[bytes], None] | None = None) -> HttpRequest:
        """Return the request of one turn.

        Args:
            variables: Variables that the templates may name.
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
    """Return the writer for the body of one turn, and its content type."""
    if connection.body_as is BodyFormat.FORM:
        return form_template(connection.body, what=what), "application/x-www-form-urlencoded"
    fill = body_template(connection.body, what=what)
    return lambda variables: json.dumps(fill(variables), separators=(",", ":")), "application/json"


def checked_template(url: str, *, what: str) -> str:
    """Return a template of an address with a fixed scheme and host.

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
