"""Tokens of a call: what limits per minute foresee, and what answers say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.models.model_answer import token_count
from theodolite.gateways.models.stream_form import latest_usage

_TAKEN = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "cache_creation_input_tokens", "output_tokens"),
)


def expected_tokens(endpoint: ModelEndpoint, body: bytes) -> int:
    """Return how many tokens a request is expected to take, rather too many than too few.

    Three bytes a token is less than English has; of the reply only `params` may say
    how long it can become.
    """
    return len(body) // 3 + endpoint.longest_reply


def tokens_taken(body: bytes) -> int | None:
    """Return how many tokens an answer says that its call took, or None where it does not say.

    Whichever dialect the answer is in: the names differ, and an answer uses one set of them.
    """
    found = _parsed(body)
    if not isinstance(found, Mapping):
        found = {"usage": _streamed_usage(body)}
    return max(sum(token_count(found, name) for name in names) for names in _TAKEN) or None


def _streamed_usage(body: bytes) -> dict[str, Any]:
    """Return what an answer that was sent piece by piece says."""
    lines = (line for line in body.splitlines() if line.startswith(b"data:") and b'"usage"' in line)
    events = (_parsed(line.removeprefix(b"data:")) for line in lines)
    return latest_usage(event for event in events if isinstance(event, Mapping))


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
