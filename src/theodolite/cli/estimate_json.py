"""The estimate of a study's calls, as scripts read it."""

from __future__ import annotations

from typing import Any

from theodolite.config.calls import CallEstimate, EndpointCalls, Range


def estimate_entry(estimate: CallEstimate) -> dict[str, Any]:
    """Return what a run will take; tokens are counts, costs US dollars, null where no price is known."""
    return {
        "dialogues": estimate.dialogues,
        "recorded": estimate.recorded,
        "calls": estimate.calls,
        "tokens_in": _tokens(estimate.tokens_in),
        "tokens_out": _tokens(estimate.tokens_out),
        "cost_usd": _cost(estimate.cost_usd),
        "unpriced": list(estimate.unpriced),
        "endpoints": [_endpoint(endpoint) for endpoint in estimate.endpoints],
        "assumption": estimate.assumption,
    }


def _endpoint(endpoint: EndpointCalls) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "kind": "model" if endpoint.is_model else "application",
        "calls": endpoint.calls,
        "tokens_in": _tokens(endpoint.tokens_in),
        "tokens_out": _tokens(endpoint.tokens_out),
        "cost_usd": _cost(endpoint.cost_usd) if endpoint.cost_usd is not None else None,
    }


def _tokens(guess: Range) -> dict[str, int]:
    return {"low": round(guess.low), "high": round(guess.high)}


def _cost(guess: Range) -> dict[str, float]:
    return {"low": round(guess.low, 6), "high": round(guess.high, 6)}
