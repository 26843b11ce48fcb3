"""Order effects as text, the same in the report and on the web pages."""

from __future__ import annotations

from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.findings.order import OrderEffect, OrderSide
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.words import figures

RANKED = "ordinal shift"
"""What the name of a shift of numbers and ordered answers begins with; all others are shifts of shares."""


def side_text(side: OrderSide) -> str:
    """Return the answers given one way, e.g. `asked earlier: 12 yes, 48 no (60), 2 without a value`."""
    counts = ", ".join(f"{figures.count(n)} {label}" for label, n in side.given if n) or "no answer"
    lacking = f", {figures.count(side.n_without_value)} without a value" if side.n_without_value else ""
    return f"{side.shown}: {counts} ({figures.count(side.n)}{lacking})"


def shift_text(effect: OrderEffect) -> str:
    """Return how far answers moved, with interval and what it rests on; or why that is undefined.

    Example: `share of "yes": +8.3 points (-2.1 to +18.8), 120 answers, 6 annotators, 60 dialogues`.
    """
    shift = effect.shift
    if isinstance(shift, Undefined):
        return undefined_text(shift)
    rests = (
        f"{figures.number_of(shift.n, 'answer')}, {figures.number_of(effect.n_annotators, 'annotator')}, "
        f"{figures.number_of(effect.n_dialogues, 'dialogue')}"
    )
    return f"{effect.measured}: {_number(shift, ranked=effect.measured.startswith(RANKED))}, {rests}"


def moved_text(effect: OrderEffect) -> str:
    """Return in one line what an order did, e.g. `asked later, beside asked earlier: share of "yes": +8.3 points`."""
    return f"{effect.second.shown}, beside {effect.first.shown}: {shift_text(effect)}"


def _number(shift: Estimate, *, ranked: bool) -> str:
    def told(value: float) -> str:
        sign = "-" if value < 0 else "+"
        return sign + (figures.coefficient(abs(value)) if ranked else figures.points(abs(value)))

    unit = "" if ranked else " points"
    if shift.low is None or shift.high is None:
        return f"{told(shift.value)}{unit}"
    return f"{told(shift.value)}{unit} ({told(shift.low)} to {told(shift.high)})"
