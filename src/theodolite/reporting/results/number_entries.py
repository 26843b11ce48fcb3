"""Numbers and their accounts as entries of JSON files."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.estimate import Estimate, Outcomes, Undefined
from theodolite.domain.identity import Json

_SHORT = ("value", "low", "high", "confidence")
_WHOLE = (*_SHORT, "count", "chance", "design_effect")


def number_entry(result: Estimate | Undefined) -> dict[str, Json]:
    """Return the number itself, or nulls and the reason."""
    return _entry(result, _WHOLE, ("n", "n_clusters", "unit", "method"))


def short_number_entry(result: Estimate | Undefined, *more: str) -> dict[str, Json]:
    """Return a number that stands outside the list `estimates`, or nulls and the reason.

    Args:
        result: The number.
        more: What is told of it beside value, interval and what it rests on, e.g. `count`.
    """
    return _entry(result, (*_SHORT, *more), ("n", "unit", "method"))


def _entry(result: Estimate | Undefined, own: Sequence[str], common: Sequence[str]) -> dict[str, Json]:
    is_undefined = isinstance(result, Undefined)
    return {
        **{name: None if is_undefined else getattr(result, name) for name in own},
        **{name: getattr(result, name) for name in common},
        "undefined_reason": result.reason if isinstance(result, Undefined) else None,
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
