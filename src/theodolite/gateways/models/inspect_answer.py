"""What Inspect's model API takes and gives: fields of its configuration, and its outputs as replies."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.flow import Reply
from theodolite.domain.model import ModelEndpoint, Price
from theodolite.gateways.attempt_error import AttemptError, withheld
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.models.model_answer import SaidByModel, reply_of, words_in
from theodolite.gateways.secret_redaction import Secret

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


def read_output(output: Any, *, latency_s: float, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply that one of Inspect's outputs holds, or what is wrong with it."""
    finish = output.stop_reason if output.choices else "unknown"
    usage = output.usage
    read = (usage.input_tokens, usage.input_tokens_cache_read, usage.input_tokens_cache_write) if usage else ()
    said = SaidByModel(
        text=_text(output, finish, secret),
        model=output.model,
        finish=finish,
        tokens_in=sum(n or 0 for n in read),
        tokens_out=usage.output_tokens if usage else 0,
    )
    outcome = reply_of(said, HttpResponse(body=b"", latency_s=latency_s), price)
    return outcome if price is not None else _priced(outcome, getattr(usage, "total_cost", None))


def _text(output: Any, finish: str, secret: Secret) -> str | AttemptError:
    if finish == "content_filter":
        return withheld(secret.scrub(output.error or "") or "the endpoint's content filter withheld the reply")
    is_cut = finish in {"max_tokens", "model_length"}
    return words_in(output.completion, is_cut=is_cut, asks_for_tool=finish == "tool_calls")


def _priced(outcome: Reply | AttemptError, cost_usd: float | None) -> Reply | AttemptError:
    """Return an outcome at the price that Inspect knows for it."""
    if cost_usd is None:
        return outcome
    cost = math.ceil(round(cost_usd * _MILLION, 6))
    if isinstance(outcome, AttemptError):
        return replace(outcome, spent=replace(outcome.spent, cost_microusd=cost, unpriced_calls=0))
    return replace(outcome, cost_microusd=cost)
