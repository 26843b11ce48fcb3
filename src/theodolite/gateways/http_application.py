"""Applications behind any HTTP endpoint that takes a prompt and returns a reply."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from theodolite.domain.application import HttpEndpoint
from theodolite.domain.errors import InputError, MalformedReply, TimedOut, Unreachable
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.run import Spending
from theodolite.gateways.patience import Patience
from theodolite.gateways.repair import repaired
from theodolite.gateways.reply_path import parse_path, read_text
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.templates import address_template, body_template, text_template, variables_of
from theodolite.gateways.trouble import Trouble
from theodolite.gateways.wire import Answer, GivenUp, Outgoing, Wire, checked_address, host_of
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

PARALLEL = 16
"""Calls in flight at most to one application; count."""

KNOCK_S = 4.0
"""Deadline of a knock; seconds."""

_KNOCK_PATIENCE = Patience(connect_s=2.5, attempts=3, attempts_once=1, first_wait_s=0.4, longest_asked_s=0.0)

_BODILESS = frozenset({"GET", "HEAD", "DELETE"})


class HttpApplication:
    """An application by URL, body template and reply path.

    After a timeout there is no second try: the prompt has probably arrived, and
    an application that remembers its sessions would count the turn double.
    """

    def __init__(
        self,
        name: str,
        connection: HttpEndpoint,
        *,
        key: str | None = None,
        clock: Clock,
        patience: Patience | None = None,
        knock_s: float = KNOCK_S,
    ) -> None:
        """Parse all templates; nothing is sent.

        Args:
            name: Name of the application in the study.
            connection: How the study says it is reached.
            key: The bearer token itself, from the environment.
            clock: Tells the time and waits between tries.
            patience: Bounds of a call; the connection's timeout and one try
                where the request may have been worked on, unless given.
            knock_s: Deadline of a knock; seconds.

        Raises:
            InputError: If address, key, body or reply path cannot be used.
        """
        what = f"application `{name}`"
        self._name = name
        self._method = connection.method.upper()
        self._template = checked_template(connection.url, what=what)
        self._address = address_template(self._template, what=f"`url` of {what}")
        self._body = body_template(connection.body, what=f"`body` of {what}")
        self._headers = {
            header: text_template(value, what=f"header `{header}` of {what}")
            for header, value in connection.headers.items()
        }
        self._reply = parse_path(connection.reply)
        self._knock_s = knock_s
        self._wire = Wire(
            endpoint=name,
            secret=Secret(key or "", variable=connection.key),
            clock=clock,
            patience=patience or Patience(timeout_s=connection.timeout_s, attempts_once=1),
            parallel=PARALLEL,
        )

    def __repr__(self) -> str:
        return f"HttpApplication({self._name!r}, host={host_of(self._template)!r})"

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the application answers.

        Raises:
            GatewayError: If no reply came; the subclass says why.
            TemplateError: If the request cannot be filled.
        """
        del on_chunk  # the answer comes in one piece
        answer = await self._wire.call(self._outgoing(variables_of(request, session=session)))
        text = read_text(answer, self._reply)
        if isinstance(text, Trouble):
            raise text.error(endpoint=self._name, tries=answer.attempts)
        kept, n_repaired = repaired(text)
        return Reply(text=kept, latency_s=answer.latency_s, attempts=answer.attempts, repaired=n_repaired)

    async def close(self) -> None:
        """Let go of connections."""
        await self._wire.close()

    async def knock(self) -> Knock:
        """Ask for the options of the address, which costs nothing; never raises a `GatewayError`."""
        try:
            async with asyncio.timeout(self._knock_s):
                return await self._knock()
        except TimeoutError:
            return self._knocked(f"connected, no answer within {self._knock_s:g} s yet")

    async def _knock(self) -> Knock:
        url = self._address({"prompt": "hello", "session": "knock", "turn": 1, "context": "", "history": []})
        outcome = await self._wire.insist(Outgoing(url=url, method="OPTIONS"), _KNOCK_PATIENCE)
        if isinstance(outcome, Answer):
            return self._knocked(f"ok, {outcome.latency_s:.1f} s", attempts=outcome.attempts)
        return self._knocked_in_vain(outcome)

    def _knocked_in_vain(self, outcome: GivenUp) -> Knock:
        trouble = outcome.trouble
        words = str(trouble.error(endpoint=self._name, tries=outcome.tries, elapsed_s=outcome.elapsed_s))
        if trouble.status in {401, 403} or not outcome.tries:
            variable = self._wire.secret.variable
            hint = (
                f"put the right token into the environment variable {variable}"
                if variable
                else "write `key: NAME` at the application, NAME being the environment variable that holds the token"
            )
            return self._knocked(words, alive=False, hint=hint, attempts=outcome.tries)
        if trouble.kind in {Unreachable, MalformedReply} or not trouble.status:
            hint, reached = f"curl -X OPTIONS {self._shown()}", trouble.kind not in {Unreachable, TimedOut}
            return self._knocked(words, alive=False, reached=reached, hint=hint, attempts=outcome.tries)
        return self._knocked(f"there, answers {trouble.status} to OPTIONS", attempts=outcome.tries)

    def _knocked(
        self, answer: str, *, alive: bool = True, reached: bool = True, hint: str = "", attempts: int = 1
    ) -> Knock:
        return Knock(
            name=self._name,
            host=host_of(self._template),
            alive=alive,
            answer=answer,
            hint=hint,
            spent=Spending(calls=min(1, attempts), attempts=attempts),
            reached=reached,
        )

    def _shown(self) -> str:
        return f"{self._template.partition('//')[0]}//{host_of(self._template)}"

    def _outgoing(self, variables: dict[str, Any]) -> Outgoing:
        headers = {header: _one_line(fill(variables)) for header, fill in self._headers.items()}
        if self._method in _BODILESS:
            return Outgoing(url=self._address(variables), method=self._method, headers=headers)
        body = json.dumps(self._body(variables), separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json"} | headers
        return Outgoing(url=self._address(variables), method=self._method, body=body, headers=headers)


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
