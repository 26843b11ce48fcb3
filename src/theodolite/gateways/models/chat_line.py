"""Chat lines: one endpoint with the dialect that it speaks, and the wire to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.http.wire import GoodAnswer, Outgoing, Wire, checked_address
from theodolite.gateways.limits.account import Account
from theodolite.gateways.limits.insisting import GivenUp
from theodolite.gateways.limits.pace import Pace
from theodolite.gateways.limits.patience import Patience, patience_with
from theodolite.gateways.models.chat_form import read_model_names
from theodolite.gateways.models.dialect import Dialect
from theodolite.gateways.models.late_complaint import passing_trouble
from theodolite.gateways.models.stream_form import Ear, in_one_piece
from theodolite.gateways.models.tokens import expected_tokens, tokens_taken
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.trouble import Trouble
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """What asking and knocking have in common.

    Attributes:
        endpoint: What the study says about the model.
        dialect: How it wants to be asked.
        url: Base address, checked.
        wire: Sends and retries.
    """

    endpoint: ModelEndpoint
    dialect: Dialect
    url: str
    wire: Wire

    def outgoing(self, request: AskModel, *, in_pieces: bool = False) -> Outgoing:
        """Return the call that a request becomes; without the key."""
        outgoing = self.dialect.call(self.endpoint, request, url=self.url, in_pieces=in_pieces)
        if self.endpoint.tpm is None or outgoing.body is None:
            return outgoing
        return replace(outgoing, tokens=expected_tokens(self.endpoint, outgoing.body))

    async def ask(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers; it is streamed where somebody listens or the study says so.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        in_pieces = self.endpoint.stream or on_chunk is not None
        outgoing = self.outgoing(request, in_pieces=in_pieces)
        ear = Ear(self.dialect.streaming, on_chunk) if on_chunk is not None else None
        answer = await self.wire.call(replace(outgoing, hear=ear.feed) if ear is not None else outgoing)
        outcome = self.read(answer, in_pieces=in_pieces)
        if isinstance(outcome, Trouble):
            raise outcome.error(endpoint=self.endpoint.name, tries=answer.attempts)
        if ear is not None:
            ear.end(outcome.text)
        return outcome

    def read(self, answer: GoodAnswer, *, in_pieces: bool) -> Reply | Trouble:
        """Return the reply that an answer holds, or what is wrong with it."""
        whole = in_one_piece(answer, self.dialect.streaming) if in_pieces else answer
        if isinstance(whole, Trouble):
            return whole
        return self.dialect.read(whole, price=self.endpoint.price, secret=self.wire.secret)

    async def models(self, patience: Patience) -> GoodAnswer | GivenUp:
        """Ask which models the address offers."""
        return await self.wire.insist(self.dialect.listing(self.url), patience)

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
        answer = await self.models(Patience(timeout_s=1.0, attempts=1))
        return read_model_names(answer) if isinstance(answer, GoodAnswer) else ()


def open_line(endpoint: ModelEndpoint, dialect: Dialect, *, key: str, clock: Clock, pace: Pace | None) -> ChatLine:
    """Return the line to an endpoint; nothing is opened before the first call.

    Raises:
        InputError: If the address or the key cannot be used.
    """
    url = checked_address(endpoint.url, what=f"model `{endpoint.name}`")
    secret = Secret(key, variable=endpoint.key, header=endpoint.key_header or dialect.key_header)
    return ChatLine(endpoint=endpoint, dialect=dialect, url=url, wire=_wire(endpoint, secret, clock, pace))


def _wire(endpoint: ModelEndpoint, secret: Secret, clock: Clock, pace: Pace | None) -> Wire:
    return Wire(
        endpoint=endpoint.name,
        secret=secret,
        clock=clock,
        patience=patience_with(endpoint),
        parallel=endpoint.parallel,
        pace=pace or Pace(Account(clock, parallel=endpoint.parallel), clock),
        weigh=tokens_taken if endpoint.tpm is not None else None,
        heed=lambda body: passing_trouble(body, secret),
    )
