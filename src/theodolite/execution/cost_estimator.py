"""Cost estimates: the expected cost of a call before it is made."""

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
"""Bytes of text per token; English has about four, so estimates err on the high side."""


def _tokens(text: str) -> int:
    return len(text.encode()) // BYTES_A_TOKEN


_NOTHING = Spending()


def _reports_cost(reply: Reply) -> bool:
    """Return whether a reply reports its cost, or cost nothing."""
    is_reported = reply.tokens_in or reply.tokens_out or reply.cost_microusd is not None
    return bool(is_reported) or not reply.attempts or reply.finish == CONTENT_FILTER


@dataclass(slots=True)
class _ReplyLengths:
    """Number of replies of one model and their tokens; counts."""

    n: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class CostEstimator:
    """Estimates the cost of a call from the length of its texts and the mean length of earlier replies.

    Before the first reply of a model the estimate uses the longest reply that its `params`
    allow. Without a price, or without knowledge of the model of an application, only the call counts.

    Attributes:
        study: Defines the models and applications.
    """

    study: Study
    _models: dict[str, ModelEndpoint] = field(init=False)
    _prompted_models: dict[str, PromptedModel] = field(init=False)
    _recorded: frozenset[str] = field(init=False)
    _reply_lengths: dict[str, _ReplyLengths] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index models and applications by name."""
        self._models = {model.name: model for model in self.study.models}
        connections = {application.name: application.connection for application in self.study.applications}
        self._prompted_models = {name: one for name, one in connections.items() if isinstance(one, PromptedModel)}
        self._recorded = frozenset(name for name, one in connections.items() if isinstance(one, RecordedFile))

    def expected(self, request: Request) -> Spending:
        """Return the expected cost of a call; one attempt is assumed."""
        if isinstance(request, SayToApplication) and request.application in self._recorded:
            return Spending()
        model = self._model(request)
        if model is None or model.is_scripted:
            return Spending(calls=1)
        return self._cost(model, request, tokens_out=self._reply_tokens(model))

    def unreported_cost(self, request: Request, reply: Reply) -> Spending:
        """Return the cost of a call estimated from its texts; zero if the reply reports its tokens."""
        model = None if _reports_cost(reply) else self._model(request)
        if model is None or model.is_scripted:
            return _NOTHING
        cost = self._cost(model, request, tokens_out=_tokens(reply.text))
        return Spending(estimated_tokens=cost.tokens, estimated_microusd=cost.cost_microusd)

    def learn(self, request: Request, reply: Reply) -> None:
        """Record the length of a reply; estimated from its text if it reports no tokens."""
        model = self._model(request)
        n_tokens = reply.tokens_out or (0 if reply.finish == CONTENT_FILTER else _tokens(reply.text))
        if model is not None and reply.attempts and n_tokens:
            lengths = self._reply_lengths.setdefault(model.name, _ReplyLengths())
            lengths.n += 1
            lengths.tokens_out += n_tokens

    def _cost(self, model: ModelEndpoint, request: Request, *, tokens_out: int) -> Spending:
        tokens_in = sum(_tokens(text) for text in self._texts(request))
        cost = model.price.cost_microusd(tokens_in, tokens_out) if model.price else 0
        return Spending(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost_microusd=cost)

    def _model(self, request: Request) -> ModelEndpoint | None:
        """Return the model that answers a request; None if no model does or it is unknown."""
        if isinstance(request, AskModel):
            return self._models.get(request.model)
        application = self._prompted_models.get(request.application) if isinstance(request, SayToApplication) else None
        return self._models.get(application.model) if application else None

    def _texts(self, request: Request) -> Iterable[str]:
        if isinstance(request, AskModel):
            return [message.text for message in request.messages]
        if not isinstance(request, SayToApplication):
            return []
        application = self._prompted_models[request.application]
        said = [text for exchange in request.history for text in (exchange.prompt, exchange.response)]
        return [application.system, *application.context.values(), request.context, *said, request.prompt]

    def _reply_tokens(self, model: ModelEndpoint) -> int:
        lengths = self._reply_lengths.get(model.name)
        return math.ceil(lengths.tokens_out / lengths.n) if lengths else model.longest_reply
