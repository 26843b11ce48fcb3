"""Schema offers: whether one endpoint is sent the schema that an answer is to keep."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from theodolite.domain.errors import Rejected
from theodolite.domain.flow import AskModel, Reply, SchemaUse
from theodolite.domain.identity import canonical_json
from theodolite.domain.model import ModelEndpoint

_UNSUPPORTED = frozenset({400, 422, 500, 501})
"""Statuses with which servers refuse a field that they do not know or cannot follow.

A 500 comes here only where its words name the field, as those of llama-cpp-python's server do:
https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/server/errors.py
"""


class StructuredOutput:
    """Offers answer schemas to an endpoint, and remembers which it has refused.

    Servers do not say beforehand what they take, and their words about it are all
    different. So the same request is made once without the schema: if that brings
    an answer, the schema was the cause, and it is not offered again.
    """

    def __init__(self, endpoint: ModelEndpoint, *, is_set: bool) -> None:
        """Begin with nothing refused.

        Args:
            endpoint: What the study says about the model.
            is_set: Whether the study's own `params` already say which form an answer has.
        """
        self._structured = endpoint.structured
        self._is_off = endpoint.structured is False or is_set
        self._refused: set[str] = set()

    def intended(self, request: AskModel) -> AskModel:
        """Return a request as the study means it, whatever the endpoint takes."""
        return words_alone(request) if self._is_off else request

    async def reply(self, request: AskModel, ask: Callable[[AskModel], Awaitable[Reply]]) -> Reply:
        """Return what an endpoint answers, asked with the schema where it takes it.

        Args:
            request: What it is asked.
            ask: Asks the endpoint.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        use = self._use_of(request)
        try:
            reply = await ask(request if use is SchemaUse.SENT else words_alone(request))
        except Rejected as error:
            if not self._may_be_the_cause(use, error):
                raise
            reply = await ask(words_alone(request))
            self._refused.add(canonical_json(request.answer_schema))
            return replace(reply, schema_use=SchemaUse.REFUSED, attempts=error.tries + reply.attempts)
        return reply if use is SchemaUse.NONE else replace(reply, schema_use=use)

    def _use_of(self, request: AskModel) -> SchemaUse:
        if request.answer_schema is None:
            return SchemaUse.NONE
        if self._is_off:
            return SchemaUse.OFF
        return SchemaUse.REFUSED if canonical_json(request.answer_schema) in self._refused else SchemaUse.SENT

    def _may_be_the_cause(self, use: SchemaUse, error: Rejected) -> bool:
        """Tell whether an endpoint may have rejected a request for its schema, and may do without."""
        return use is SchemaUse.SENT and self._structured is None and error.status in _UNSUPPORTED


def words_alone(request: AskModel) -> AskModel:
    """Return a request without its schema."""
    return request if request.answer_schema is None else replace(request, answer_schema=None)
