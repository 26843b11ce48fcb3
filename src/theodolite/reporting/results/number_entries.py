"""Numbers and their accounts as entries of JSON files."""

from __future__ import annotations

from theodolite.domain.estimate import Estimate, Outcomes, Undefined
from theodolite.domain.identity import Json


def number_entry(result: Estimate | Undefined) -> dict[str, Json]:
    """Return the number itself, or nulls and the reason."""
    common: dict[str, Json] = {
        "n": result.n,
        "n_clusters": result.n_clusters,
        "unit": result.unit,
        "method": result.method,
    }
    if isinstance(result, Undefined):
        empty = ("value", "low", "high", "confidence", "count", "chance", "design_effect")
        return {**dict.fromkeys(empty), **common, "undefined_reason": result.reason}
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "confidence": result.confidence,
        "count": result.count,
        "chance": result.chance,
        "design_effect": result.design_effect,
        **common,
        "undefined_reason": None,
    }


def outcomes_entry(outcomes: Outcomes) -> dict[str, Json]:
    """Return the account of the units of a number; counts."""
    return {
        "planned": outcomes.planned,
        "used": outcomes.used,
        "missing": outcomes.missing,
        "failed": outcomes.failed,
        "refused": outcomes.refused,
        "unparseable": outcomes.unparseable,
        "not_applicable": outcomes.not_applicable,
    }
