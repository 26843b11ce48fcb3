"""Schema offers: whether one endpoint is sent the schema that an answer is to keep."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.errors import GatewayError, Rejected
from theodolite.domain.flow import AskModel, SchemaUse
from theodolite.domain.identity import canonical_json
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.dialect import Dialect

_UNSUPPORTED = frozenset({400, 422})
"""Statuses with which servers refuse a field that they do not know or cannot follow."""


class SchemaOffer:
    """Offers answer schemas to an endpoint, and remembers which it has refused.

    Servers do not say beforehand what they take, and their words about it are all
    different. So the same request is made once without the schema: if that brings
    an answer, the schema was the cause, and it is not offered again.
    """

    def __init__(self, endpoint: ModelEndpoint, dialect: Dialect) -> None:
        """Begin with nothing refused."""
        self._structured = endpoint.structured
        self._is_off = endpoint.structured is False or dialect.sets_form(endpoint.params)
        self._refused: set[str] = set()

    def intended(self, request: AskModel) -> AskModel:
        """Return a request as the study means it, whatever the endpoint takes."""
        return words_alone(request) if self._is_off else request

    def use_of(self, request: AskModel) -> SchemaUse:
        """Return what is to become of a request's schema."""
        if request.answer_schema is None:
            return SchemaUse.NONE
        if self._is_off:
            return SchemaUse.OFF
        return SchemaUse.REFUSED if canonical_json(request.answer_schema) in self._refused else SchemaUse.SENT

    def may_be_the_cause(self, request: AskModel, error: GatewayError) -> bool:
        """Tell whether an endpoint may have rejected a request for its schema, and may do without."""
        sent = self.use_of(request) is SchemaUse.SENT and self._structured is None
        return sent and isinstance(error, Rejected) and error.status in _UNSUPPORTED

    def refuse(self, request: AskModel) -> None:
        """Remember that the endpoint takes a request without its schema only."""
        self._refused.add(canonical_json(request.answer_schema))


def words_alone(request: AskModel) -> AskModel:
    """Return a request without its schema."""
    return request if request.answer_schema is None else replace(request, answer_schema=None)
