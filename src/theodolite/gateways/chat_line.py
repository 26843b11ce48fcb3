"""Chat lines: one endpoint with the dialect that it speaks, and the wire to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.account import Account
from theodolite.gateways.chat_form import read_model_names
from theodolite.gateways.dialect import Dialect
from theodolite.gateways.pace import Pace
from theodolite.gateways.patience import Patience
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.tokens import expected_tokens, tokens_taken
from theodolite.gateways.trouble import Trouble
from theodolite.gateways.wire import Answer, GivenUp, Outgoing, Wire, checked_address
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

    def outgoing(self, request: AskModel) -> Outgoing:
        """Return the call that a request becomes; without the key."""
        outgoing = self.dialect.call(self.endpoint, request, url=self.url)
        if self.endpoint.tpm is None or outgoing.body is None:
            return outgoing
        return replace(outgoing, tokens=expected_tokens(self.endpoint, outgoing.body))

    async def ask(self, request: AskModel) -> Reply:
        """Return what the model answers.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        answer = await self.wire.call(self.outgoing(request))
        outcome = self.read(answer)
        if isinstance(outcome, Reply):
            return outcome
        raise outcome.error(endpoint=self.endpoint.name, tries=answer.attempts)

    def read(self, answer: Answer) -> Reply | Trouble:
        """Return the reply that an answer holds, or what is wrong with it."""
        return self.dialect.read(answer, price=self.endpoint.price, secret=self.wire.secret)

    async def models(self, patience: Patience) -> Answer | GivenUp:
        """Ask which models the address offers."""
        return await self.wire.insist(self.dialect.listing(self.url), patience)

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
        answer = await self.models(Patience(timeout_s=1.0, attempts=1))
        return read_model_names(answer) if isinstance(answer, Answer) else ()


def open_line(endpoint: ModelEndpoint, dialect: Dialect, *, key: str, clock: Clock, pace: Pace | None) -> ChatLine:
    """Return the line to an endpoint; nothing is opened before the first call.

    Raises:
        InputError: If the address or the key cannot be used.
    """
    url = checked_address(endpoint.url, what=f"model `{endpoint.name}`")
    secret = Secret(key, variable=endpoint.key, header=dialect.key_header)
    return ChatLine(endpoint=endpoint, dialect=dialect, url=url, wire=_wire(endpoint, secret, clock, pace))


def _wire(endpoint: ModelEndpoint, secret: Secret, clock: Clock, pace: Pace | None) -> Wire:
    return Wire(
        endpoint=endpoint.name,
        secret=secret,
        clock=clock,
        patience=Patience(timeout_s=endpoint.timeout_s, deadline_s=endpoint.deadline_s, attempts=endpoint.attempts),
        parallel=endpoint.parallel,
        pace=pace or Pace(Account(clock, parallel=endpoint.parallel), clock),
        weigh=tokens_taken if endpoint.tpm is not None else None,
    )
