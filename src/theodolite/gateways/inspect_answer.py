"""What Inspect's model API takes and gives: fields of its configuration, and its outputs as replies."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.flow import Reply
from theodolite.domain.model import ModelEndpoint, Price
from theodolite.gateways.model_answer import Said, reply_of
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.trouble import Trouble, empty, withheld
from theodolite.gateways.wire import Answer

OURS = frozenset(
    {"max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "cache", "batch"}
)
"""Fields that other keys of a model stand for: `attempts`, `timeout`, `parallel`, `cache`."""

_MILLION = 1_000_000


def config_fields(endpoint: ModelEndpoint) -> dict[str, Any]:
    """Return a study's `params` as fields of Inspect's `GenerateConfig`.

    Raises:
        InputError: If one is no such field, belongs to another key, or has a value that does not fit.
    """
    from inspect_ai.model import GenerateConfig

    known = sorted(set(GenerateConfig.model_fields) - OURS)
    wrong = [name for name in endpoint.params if name not in known]
    if wrong:
        meant = did_you_mean(wrong[0], known)
        message = f"`params` of model `{endpoint.name}`: `{wrong[0]}` is none that Inspect takes here{meant}"
        raise InputError(message)
    fields = {name: value for name, value in endpoint.params.items() if value is not None}
    try:
        GenerateConfig(**fields)
    except ValueError as error:
        message = f"`params` of model `{endpoint.name}` do not fit Inspect's `GenerateConfig`: {error}"
        raise InputError(message) from error
    return fields


def read_output(output: Any, *, latency_s: float, price: Price | None, secret: Secret) -> Reply | Trouble:
    """Return the reply that one of Inspect's outputs holds, or what is wrong with it."""
    finish = output.stop_reason if output.choices else "unknown"
    if finish == "content_filter":
        return withheld(secret.scrub(output.error or "") or "the endpoint's content filter withheld the reply")
    text = output.completion
    if not text.strip():
        return _nothing(finish)
    usage = output.usage
    read = (usage.input_tokens, usage.input_tokens_cache_read, usage.input_tokens_cache_write) if usage else ()
    said = Said(
        text=text,
        model=output.model,
        finish=finish,
        tokens_in=sum(n or 0 for n in read),
        tokens_out=usage.output_tokens if usage else 0,
    )
    reply = reply_of(said, Answer(body=b"", latency_s=latency_s), price)
    return reply if price is not None else _priced(reply, getattr(usage, "total_cost", None))


def _nothing(finish: str) -> Trouble:
    if finish in {"max_tokens", "model_length"}:
        return empty("the reply holds no text: the token limit was reached first")
    return empty("it asked for a tool instead of answering") if finish == "tool_calls" else empty()


def _priced(reply: Reply, cost_usd: float | None) -> Reply:
    """Return a reply at the price that Inspect knows for it."""
    return reply if cost_usd is None else replace(reply, cost_microusd=math.ceil(round(cost_usd * _MILLION, 6)))
