"""Foresight: what a call is expected to cost, before anybody is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from theodolite.domain.application import PromptedModel, RecordedFile
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Reply, Request, SayToApplication
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.run import Spending
from theodolite.domain.study import Study

BYTES_A_TOKEN = 3
"""Bytes of text that make a token; English has about four, so that rather too much is expected."""


def _tokens(text: str) -> int:
    return len(text.encode()) // BYTES_A_TOKEN


_NOTHING = Spending()


def _tells_its_cost(reply: Reply) -> bool:
    """Tell whether a reply says what it took, or took nothing."""
    is_told = reply.tokens_in or reply.tokens_out or reply.cost_microusd is not None
    return bool(is_told) or not reply.attempts or reply.finish == CONTENT_FILTER


@dataclass(slots=True)
class _Heard:
    """What replies of one model were like: their number and the tokens of all of them; counts."""

    n: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class Foresight:
    """Expects of a call what its words amount to, and of its reply what earlier replies were like.

    Of a model that has not replied yet the longest reply is expected that its `params`
    allow. Where nobody knows a price, or what stands behind an application, no more than a call is expected.

    Attributes:
        study: Names models and applications.
    """

    study: Study
    _models: dict[str, ModelEndpoint] = field(init=False)
    _behind: dict[str, PromptedModel] = field(init=False)
    _recorded: frozenset[str] = field(init=False)
    _heard: dict[str, _Heard] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look up who stands behind each name."""
        self._models = {model.name: model for model in self.study.models}
        connections = {application.name: application.connection for application in self.study.applications}
        self._behind = {name: one for name, one in connections.items() if isinstance(one, PromptedModel)}
        self._recorded = frozenset(name for name, one in connections.items() if isinstance(one, RecordedFile))

    def expected(self, request: Request) -> Spending:
        """Return what a call is expected to cost, one attempt taken for granted."""
        if isinstance(request, SayToApplication) and request.application in self._recorded:
            return Spending()
        model = self._model(request)
        if model is None or model.is_scripted:
            return Spending(calls=1)
        return self._cost(model, request, tokens_out=self._reply_tokens(model))

    def supposed(self, request: Request, reply: Reply) -> Spending:
        """Return what a call must have cost by the length of its texts; nothing where its reply tells what it took."""
        model = None if _tells_its_cost(reply) else self._model(request)
        if model is None or model.is_scripted:
            return _NOTHING
        cost = self._cost(model, request, tokens_out=_tokens(reply.text))
        return Spending(supposed_tokens=cost.tokens, supposed_microusd=cost.cost_microusd)

    def learn(self, request: Request, reply: Reply) -> None:
        """Take note of how long a reply was; by its text where it tells no tokens."""
        model = self._model(request)
        said = reply.tokens_out or (0 if reply.finish == CONTENT_FILTER else _tokens(reply.text))
        if model is not None and reply.attempts and said:
            heard = self._heard.setdefault(model.name, _Heard())
            heard.n += 1
            heard.tokens_out += said

    def _cost(self, model: ModelEndpoint, request: Request, *, tokens_out: int) -> Spending:
        tokens_in = sum(_tokens(text) for text in self._words(request))
        cost = model.price.cost_microusd(tokens_in, tokens_out) if model.price else 0
        return Spending(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost_microusd=cost)

    def _model(self, request: Request) -> ModelEndpoint | None:
        """Return the model that is to answer; None where none does, or nobody knows which."""
        if isinstance(request, AskModel):
            return self._models.get(request.model)
        behind = self._behind.get(request.application) if isinstance(request, SayToApplication) else None
        return self._models.get(behind.model) if behind else None

    def _words(self, request: Request) -> Iterable[str]:
        if isinstance(request, AskModel):
            return [message.text for message in request.messages]
        if not isinstance(request, SayToApplication):
            return []
        behind = self._behind[request.application]
        said = [text for exchange in request.history for text in (exchange.prompt, exchange.response)]
        return [behind.system, *behind.context.values(), request.context, *said, request.prompt]

    def _reply_tokens(self, model: ModelEndpoint) -> int:
        heard = self._heard.get(model.name)
        return math.ceil(heard.tokens_out / heard.n) if heard else model.longest_reply
