"""Gates: limits that a study sets on its own results, and whether a run meets them.

A gate is met, not met or inconclusive. It is inconclusive if the interval of the rate crosses the limit, or if
dialogues without a label could break it: such a run shows neither that the limit is met nor that it is broken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from theodolite.domain.errors import InputError
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.number import Estimate, Outcomes, Undefined
from theodolite.domain.undefined_reasons import NO_LIMIT, reason_text


class GateForm(StrEnum):
    """The number that a gate limits.

    Attributes:
        UPPER: Upper end of the rate's interval; fraction.
        RATE: The rate itself; fraction.
        COUNT: Number of defects.
        COMPLETENESS: Labelled dialogues as a share of the planned ones; fraction.
        WORSE_BY: Upper end of the interval of the difference from a baseline run; fraction.
        VALIDATED: Age of the judge's validation against people; days.
    """

    UPPER = "upper"
    RATE = "rate"
    COUNT = "count"
    COMPLETENESS = "completeness"
    WORSE_BY = "worse_by"
    VALIDATED = "validated"


class GateState(StrEnum):
    """Whether a result meets a gate."""

    MET = "met"
    NOT_MET = "not met"
    INCONCLUSIVE = "inconclusive"


_FORM: Final = re.compile(
    r"(?P<form>upper|rate|count|completeness|worse_by|validated)\s*(?P<operator><=|>=)\s*"
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>%|points?|days?)?"
)
_ABOVE: Final = frozenset({GateForm.COMPLETENESS})
"""Forms with a lower limit; all others have an upper one."""

_UNITS: Final = {GateForm.COUNT: "", GateForm.WORSE_BY: "points", GateForm.VALIDATED: "days"}
"""Units of the limits that are not percentages."""

EXPECTED: Final = (
    "`upper <= 20%`, `rate <= 20%`, `count <= 0`, `completeness >= 95%`, `worse_by <= 5 points` or"
    " `validated <= 90 days`"
)
"""The forms of a gate, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit on the results of one judge, annotator or guideline.

    Attributes:
        name: Judge, annotator or guideline whose rates it limits.
        form: The number that is limited.
        limit: The limit; a fraction, a count for `count`, days for `validated`.
        text: The gate as written, e.g. `upper <= 20%`.
    """

    name: str
    form: GateForm
    limit: float
    text: str

    @classmethod
    def parse(cls, name: str, text: str) -> Gate:
        """Return the gate that a text states.

        Args:
            name: Name of the judge, annotator or guideline.
            text: The limit, e.g. `upper <= 20%`.

        Raises:
            InputError: If the text has no form of a gate, or a percentage above 100.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            message = f"gate `{name}` is `{text}`; expected {EXPECTED}"
            raise InputError(message)
        form, number = GateForm(match["form"]), float(match["number"])
        if (match["operator"] == ">=") != (form in _ABOVE):
            message = f"gate `{name}`: `{form.value}` takes `{'>=' if form in _ABOVE else '<='}`; got `{text}`"
            raise InputError(message)
        if problem := _unit_problem(form, number, match["unit"] or ""):
            example = f"{form.value} {match['operator']} {_EXAMPLES[form]}"
            message = f"gate `{name}`: {problem}, e.g. `{example}`; got `{text}`"
            raise InputError(message)
        limit = number if form in {GateForm.COUNT, GateForm.VALIDATED} else number / 100
        return cls(name=name, form=form, limit=limit, text=" ".join(text.split()))


_EXAMPLES: Final = {
    GateForm.UPPER: "20%",
    GateForm.RATE: "20%",
    GateForm.COUNT: "0",
    GateForm.COMPLETENESS: "95%",
    GateForm.WORSE_BY: "5 points",
    GateForm.VALIDATED: "90 days",
}


def _unit_problem(form: GateForm, number: float, unit: str) -> str:
    """Return the error in the number or the unit of a limit; empty if there is none."""
    match form:
        case GateForm.COUNT:
            return "`count` takes a whole number" if unit or not number.is_integer() else ""
        case GateForm.WORSE_BY | GateForm.VALIDATED:
            plural = _UNITS[form]
            return "" if unit in {plural, plural[:-1]} else f"`{form.value}` takes {plural}"
    if unit != "%":
        return f"`{form.value}` takes a percentage"
    return "a percentage is at most 100" if number > 100 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts:
    """Reference values of gates besides the rates of a run.

    Attributes:
        validation_days: Age of the latest validation of each judge's current version; days, absent if none.
        differences: Application, guideline, rule and annotator to the rate less that of the baseline run, or why
            there is none; None if no baseline was read.
    """

    validation_days: Mapping[str, float] = field(default_factory=dict)
    differences: Mapping[tuple[str, str, str, str], Estimate | Undefined] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate applied to one rate.

    Attributes:
        gate: The gate.
        subject: The rate that it limits.
        state: Whether the rate meets it.
        result: The rate, or its difference from the baseline.
        outcomes: Outcomes of the planned dialogues.
        reason: Reason why it is not met or inconclusive; empty if it is met.
        days: Age of the judge's validation; days, None if it has none, or for other forms of gate.
        n_needed: Independent dialogues at which an interval around the same rate no longer crosses the limit;
            count, None if more dialogues decide nothing.
    """

    gate: Gate
    subject: EstimateSubject
    state: GateState
    result: Estimate | Undefined
    outcomes: Outcomes
    reason: str = ""
    n_needed: int | None = None
    days: float | None = None


def validation_result(gate: Gate, subject: EstimateSubject, days: float | None) -> GateResult:
    """Return whether the validation of a judge is recent enough.

    Args:
        gate: The gate.
        subject: The judge.
        days: Age of its latest validation; days, None if it has none.
    """
    is_met = days is not None and days <= gate.limit
    reason = "the judge has not been validated against people" if days is None else "the validation is older"
    return GateResult(
        gate=gate,
        subject=subject,
        state=GateState.MET if is_met else GateState.NOT_MET,
        result=Undefined(reason=NO_LIMIT, n=0),
        outcomes=Outcomes(planned=0, used=0),
        reason="" if is_met else reason,
        days=days,
    )


def gate_result(gate: Gate, subject: EstimateSubject, result: Estimate | Undefined, outcomes: Outcomes) -> GateResult:
    """Return whether a rate meets a gate.

    Args:
        gate: The gate.
        subject: Subject of the rate.
        result: The rate; a fraction of dialogues.
        outcomes: Outcomes of the planned dialogues.
    """
    state, reason, n_needed = _judged(gate, result, outcomes)
    return GateResult(
        gate=gate,
        subject=subject,
        state=state,
        result=result,
        outcomes=outcomes,
        reason=reason,
        n_needed=n_needed,
    )


def _judged(gate: Gate, result: Estimate | Undefined, outcomes: Outcomes) -> tuple[GateState, str, int | None]:
    if gate.form is GateForm.COMPLETENESS:
        n_applicable = outcomes.planned - outcomes.not_applicable
        share = outcomes.used / n_applicable if n_applicable else 0.0
        is_met = bool(n_applicable) and share >= gate.limit
        reason = "" if is_met else f"{outcomes.unmeasured:,} of {n_applicable:,} planned have no label"
        return (GateState.MET if is_met else GateState.NOT_MET), reason, None
    if isinstance(result, Undefined):
        what = "difference" if gate.form is GateForm.WORSE_BY else "rate"
        return GateState.INCONCLUSIVE, f"no {what} can be computed: {reason_text(result.reason)}", None
    if gate.form is GateForm.COUNT:
        return (*_counted(gate, result, outcomes), None)
    if gate.form is GateForm.RATE:
        is_met = result.value <= gate.limit
        return (GateState.MET, "", None) if is_met else (GateState.NOT_MET, "the rate is above the limit", None)
    return _bounded(gate, result)


def _counted(gate: Gate, result: Estimate, outcomes: Outcomes) -> tuple[GateState, str]:
    count = round(result.value * result.n) if result.count is None else result.count
    if count > gate.limit:
        return GateState.NOT_MET, f"{count:,} defects"
    if count + outcomes.unmeasured > gate.limit:
        return GateState.INCONCLUSIVE, f"{outcomes.unmeasured:,} dialogues without a label could be defects"
    return GateState.MET, ""


def _bounded(gate: Gate, result: Estimate) -> tuple[GateState, str, int | None]:
    if result.high is None or result.low is None:
        return GateState.INCONCLUSIVE, "there is no interval", None
    if result.high <= gate.limit:
        return GateState.MET, "", None
    if result.low > gate.limit:
        return GateState.NOT_MET, "the whole interval is above the limit", None
    return GateState.INCONCLUSIVE, "the interval crosses the limit", _needed(gate, result)


def _needed(gate: Gate, result: Estimate) -> int | None:
    return None if gate.form is GateForm.WORSE_BY else needed(result.value, gate.limit, result.confidence)


def needed(value: float, limit: float, confidence: float) -> int | None:
    """Return the independent dialogues at which a Wilson interval around a rate no longer crosses a limit; count.

    Args:
        value: The rate; fraction.
        limit: The limit; fraction.
        confidence: Confidence of the interval; fraction in (0, 1).

    Returns:
        The minimum n; None if the rate equals the limit, or if it needs more than ten million.

    Source:
        The score test behind Wilson's interval (https://doi.org/10.1080/01621459.1927.10502953): the limit
        leaves the interval as soon as n (value - limit)^2 > z^2 limit (1 - limit).
    """
    from statistics import NormalDist

    if value == limit:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    n = math.ceil(z * z * limit * (1 - limit) / (value - limit) ** 2)
    return max(1, n) if n <= 10_000_000 else None


def worst_of(results: Sequence[GateResult]) -> GateState:
    """Return the overall state of gates: not met if any is not met, else inconclusive if any is, else met."""
    states = {result.state for result in results}
    return next((state for state in (GateState.NOT_MET, GateState.INCONCLUSIVE) if state in states), GateState.MET)
