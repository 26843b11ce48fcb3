"""Tokens of a call: what limits per minute foresee, and what answers say."""

from __future__ import annotations

import json
from collections.abc import Mapping

from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.chat_form import token_count

_LONGEST = ("max_completion_tokens", "max_tokens")
_USUAL_REPLY = 500
_TAKEN = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "cache_creation_input_tokens", "output_tokens"),
)


def expected_tokens(endpoint: ModelEndpoint, body: bytes) -> int:
    """Return how many tokens a request is expected to take, rather too many than too few.

    Three bytes a token is less than English has; of the reply only `params` may say
    how long it can become.
    """
    limits = [endpoint.params.get(name) for name in _LONGEST]
    longest = next((limit for limit in limits if isinstance(limit, int)), _USUAL_REPLY)
    return len(body) // 3 + longest


def tokens_taken(body: bytes) -> int | None:
    """Return how many tokens an answer says that its call took, or None where it does not say.

    Whichever dialect the answer is in: the names differ, and an answer uses one set of them.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, Mapping):
        return None
    return max(sum(token_count(found, name) for name in names) for names in _TAKEN) or None
