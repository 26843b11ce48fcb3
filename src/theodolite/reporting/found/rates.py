"""Defect rates, found again among a run's findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.domain.answers import REFERENCE
from theodolite.domain.estimate import Estimate, Findings, Measurement
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.study import Study
from theodolite.reporting.words import figures

GROUP = "group."
"""Beginning of the entries of `about` that name a split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One defect rate and its place among the findings.

    Attributes:
        place: Place in the list `estimates` of the results file, from 0.
        measurement: The number and what it is about.
        ceiling: Bound on the true rate where no defect was found; fraction.
    """

    place: int
    measurement: Measurement
    ceiling: float | None = None

    @property
    def estimate(self) -> Estimate | None:
        """The number, or None where it is undefined."""
        result = self.measurement.result
        return result if isinstance(result, Estimate) else None

    @property
    def annotator(self) -> str:
        """Name of whose labels it is read by."""
        return self.measurement.about.get("annotator", "")

    @property
    def defects(self) -> int:
        """Dialogues with the defect; count."""
        estimate = self.estimate
        if estimate is None:
            return 0
        return estimate.count if estimate.count is not None else round(estimate.value * estimate.n)

    @property
    def station(self) -> str:
        """Level of testing and who held the tester's side, in words; empty where there is one alone."""
        about = self.measurement.about
        return f"{about['level']}, {about.get('held_by', '')}" if "level" in about else ""

    @property
    def group(self) -> tuple[str, str] | None:
        """Name and value of the group that it is a split by; None for the whole."""
        return next(
            ((k.removeprefix(GROUP), v) for k, v in self.measurement.about.items() if k.startswith(GROUP)), None
        )


Subject = tuple[str, tuple[tuple[str, str], ...]]


def _subject(measurement: Measurement) -> Subject:
    kept = {name: value for name, value in measurement.about.items() if name != "condition"}
    return measurement.application, tuple(sorted(kept.items()))


def rates_of(findings: Findings) -> tuple[Rate, ...]:
    """Return all defect rates in order, each with its bound where no defect was found."""
    ceilings = _ceilings(findings)
    return tuple(
        Rate(place=place, measurement=measurement, ceiling=ceilings.get(_subject(measurement)))
        for place, measurement in enumerate(findings.measurements)
        if measurement.measure == "defect_rate"
    )


def _ceilings(findings: Findings) -> Mapping[Subject, float]:
    return {
        _subject(measurement): _upper_end(measurement.result)
        for measurement in findings.measurements
        if measurement.measure == "zero_defect_bound" and isinstance(measurement.result, Estimate)
    }


def _upper_end(bound: Estimate) -> float:
    return bound.high if bound.high is not None else bound.value


def rates_for(
    rates: tuple[Rate, ...], guideline: str, rule: str, *, application: str = "", annotators: tuple[str, ...] = ()
) -> tuple[Rate, ...]:
    """Return the rates of one rule over whole applications, splits left out."""
    return tuple(
        rate
        for rate in rates
        if rate.group is None
        and (rate.measurement.about.get("guideline"), rate.measurement.about.get("rule")) == (guideline, rule)
        and application in {"", rate.measurement.application}
        and (not annotators or rate.annotator in annotators)
    )


def lead_rates(rates: tuple[Rate, ...], guideline: str, rule: str) -> tuple[Rate, ...]:
    """Return the rates that a report leads with: by the reference, else by every annotator."""
    whole = rates_for(rates, guideline, rule)
    refereed = {rate.measurement.application for rate in whole if rate.annotator == REFERENCE}
    return tuple(rate for rate in whole if rate.annotator == REFERENCE or rate.measurement.application not in refereed)


def unlabelled_guidelines(study: Study, rates: tuple[Rate, ...]) -> tuple[Guideline, ...]:
    """Return the guidelines with rules for which nobody gave a label that could count, so that they have no rate."""
    rated = {rate.measurement.about.get("guideline") for rate in rates}
    return tuple(one for one in study.guidelines if one.defect_rules and one.name not in rated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """The two sides of a guardrail under one guideline."""

    guideline: Guideline
    withheld: DefectRule
    released: DefectRule


def guardrail_of(study: Study) -> Guardrail | None:
    """Return the first guideline that looks at both sides of a guardrail, or None; one that somebody labels by."""
    used = {annotator.guideline for annotator in study.annotators}
    for guideline in sorted(study.guidelines, key=lambda guideline: guideline.name not in used):
        withheld = _first(guideline, Violation.PERMITTED_WITHHELD)
        released = _first(guideline, Violation.PROHIBITED_RELEASED)
        if withheld is not None and released is not None:
            return Guardrail(guideline=guideline, withheld=withheld, released=released)
    return None


def _first(guideline: Guideline, violation: Violation) -> DefectRule | None:
    return next((rule for rule in guideline.defect_rules if rule.violation is violation), None)


def interval_words(rate: Rate) -> str:
    """Return the interval, or the bound where no defect was found."""
    estimate = rate.estimate
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    if rate.defects == 0:
        return f"at most {figures.points(rate.ceiling if rate.ceiling is not None else estimate.high)}"
    return figures.span(estimate.low, estimate.high)
