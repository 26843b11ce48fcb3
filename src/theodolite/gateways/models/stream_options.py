"""Stream wishes: what an endpoint is asked to tell beside the pieces of a reply, and whether it takes that."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.domain.errors import Rejected
from theodolite.domain.model import Param
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.limits.retry import RetriesExhausted
from theodolite.gateways.models.in_band_error import late_words

_UNSUPPORTED = frozenset({400, 422})
"""Statuses with which servers refuse a field that they do not know, whatever their words."""


class StreamOptions:
    """Remembers whether an endpoint takes the wishes of its dialect's streams.

    Servers do not say beforehand which fields they take. So a refused request is made once
    more without them: if that brings an answer, they were the cause, and are not sent again.
    An endpoint that took them once is asked again only where its words name one of them.
    """

    def __init__(self, wishes: Mapping[str, object], params: Mapping[str, Param]) -> None:
        """Begin with nothing refused.

        Args:
            wishes: Field to value, as the dialect has them.
            params: The study's own fields; what it says itself, it means.
        """
        self._wishes = {name: value for name, value in wishes.items() if name not in params}
        self._taken = False
        self._refused = False

    @property
    def fields(self) -> Mapping[str, object]:
        """What a request for pieces says beside that it wants them."""
        return {} if self._refused else self._wishes

    @property
    def are_refused(self) -> bool:
        """Whether the endpoint has turned them down, so that its streams tell nothing of the kind."""
        return self._refused

    def may_be_refused(self, sent: Mapping[str, object], outcome: HttpResponse | RetriesExhausted) -> bool:
        """Tell whether a call may have failed for the wishes that it was sent with; what succeeds is remembered."""
        if not sent:
            return False
        if isinstance(outcome, HttpResponse):
            words = late_words(outcome.body)
            self._taken = self._taken or not words
            return any(name in words for name in sent)
        attempt_error = outcome.attempt_error
        if attempt_error.kind is not Rejected:
            return False
        is_named = any(name in attempt_error.words for name in sent)
        return is_named or (attempt_error.status in _UNSUPPORTED and not self._taken)

    def give_up(self, answer: HttpResponse) -> None:
        """Keep in mind that the endpoint answers without them and not with them, unless the answer complains, too."""
        self._refused = self._refused or not late_words(answer.body)
