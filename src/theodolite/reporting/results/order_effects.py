"""Order effects as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.order_effect import OrderEffect, OrderSide
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry


def order_effect_entry(effect: OrderEffect) -> dict[str, Json]:
    """Return one entry of the list `order_effects`."""
    return {
        "guideline": effect.guideline,
        "question": effect.question,
        "annotator": effect.annotator or None,
        "factor": effect.factor.value,
        "measured": effect.measured,
        "first": _side_entry(effect.first),
        "second": _side_entry(effect.second),
        "shift": number_entry(effect.shift),
        "annotators": effect.n_annotators,
        "dialogues": effect.n_dialogues,
        "between": effect.n_between,
    }


def _side_entry(side: OrderSide) -> dict[str, Json]:
    return {"shown": side.shown, "n": side.n, "without_value": side.n_without_value, "answers": dict(side.given)}
