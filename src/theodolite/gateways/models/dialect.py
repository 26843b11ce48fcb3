"""Dialects: what differs between the makers' forms of one chat call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.model import ModelEndpoint, Param, Price
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.http.client import HttpRequest, HttpResponse
from theodolite.gateways.models.stream_form import StreamForm
from theodolite.gateways.secret_redaction import BEARER_HEADER, Secret
from theodolite.gateways.web_address import below

_LISTING = "/models"


class WriteBody(Protocol):
    """Writes the JSON body of a request."""

    def __call__(self, endpoint: ModelEndpoint, request: AskModel, *, more: Mapping[str, object] = ...) -> bytes:
        """Return the body, with further fields in it."""
        ...


class ReadReply(Protocol):
    """Reads the reply that an answer holds, or what is wrong with it."""

    def __call__(self, answer: HttpResponse, *, price: Price | None, secret: Secret) -> Reply | AttemptError:
        """Return the reply or the failed attempt."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One maker's form of a chat call; connections, retries and keys are the same for all.

    Attributes:
        path: What follows the base address.
        write: From endpoint, request and further fields to the body; the same request has the same bytes.
        read: From the answer to the reply.
        key_header: Header that carries the key, where the study names no other.
        headers: Further headers of every call.
        streaming: How it sends answers piece by piece.
        form_field: Field of a request that says which form the answer has.
        sets_form: Tells whether a study's own `params` already say which form an answer has.
    """

    path: str
    write: WriteBody
    read: ReadReply
    streaming: StreamForm
    form_field: str
    key_header: str = BEARER_HEADER
    headers: Mapping[str, str] = field(default_factory=dict)
    sets_form: Callable[[Mapping[str, Param]], bool] = bool

    def call(
        self, endpoint: ModelEndpoint, request: AskModel, *, url: str, stream: Mapping[str, object] | None = None
    ) -> HttpRequest:
        """Return the call that asks a model.

        Args:
            endpoint: What the study says about the model.
            request: What it is asked.
            url: Base address.
            stream: What is wished for beside an answer in pieces; None for an answer in one piece.
        """
        return HttpRequest(
            url=below(url, self.path),
            body=self.write(endpoint, request, more={} if stream is None else {**self.streaming.fields, **stream}),
            headers={"Content-Type": "application/json", **self.headers},
            doubtful=(*(() if request.answer_schema is None else (self.form_field,)), *(stream or ())),
        )

    def listing(self, url: str) -> HttpRequest:
        """Return the call that asks which models an address offers."""
        return HttpRequest(url=below(url, _LISTING), method="GET", headers=self.headers)

    def curl(self, url: str, secret: Secret) -> str:
        """Return the command with which a person asks the same; the key stands there by its variable's name."""
        shown = [secret.in_words] if secret.variable else []
        shown += [f"{name}: {text}" for name, text in self.headers.items()]
        listing = below(url, _LISTING)
        return " ".join(
            ["curl", *(f'-H "{header}"' for header in shown), f'"{listing}"' if "?" in listing else listing]
        )
