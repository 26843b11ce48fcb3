"""Defect rates, found again among a run's findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.estimate import Estimate, Findings, Measurement
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.study import Study
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One defect rate and its place among the findings.

    Attributes:
        place: Place in the list `estimates` of the results file, from 0.
        measurement: The number and its subject.
        ceiling: Bound on the true rate where no defect was found; fraction.
        is_single: Whether it is of one person of a pool, whose rate leads.
    """

    place: int
    measurement: Measurement
    ceiling: float | None = None
    is_single: bool = False

    @property
    def estimate(self) -> Estimate | None:
        """The number, or None where it is undefined."""
        result = self.measurement.result
        return result if isinstance(result, Estimate) else None

    @property
    def annotator(self) -> str:
        """Name of whose labels it is read by."""
        return self.measurement.subject.annotator

    @property
    def defects(self) -> int:
        """Dialogues with the defect; count."""
        estimate = self.estimate
        if estimate is None:
            return 0
        return estimate.count if estimate.count is not None else round(estimate.value * estimate.n)

    @property
    def defects_text(self) -> str:
        """Dialogues with the defect, as text; with a decimal where people who disagree count in parts, e.g. `22.5`."""
        estimate = self.estimate
        if estimate is None or estimate.count is not None:
            return figures.count(self.defects)
        return f"{estimate.value * estimate.n:.1f}".removesuffix(".0")

    @property
    def has_shares(self) -> bool:
        """Whether some of its dialogues count in parts, since people disagree on them."""
        return "." in self.defects_text

    @property
    def station(self) -> str:
        """Level of testing and who held the tester's side, in words; empty where there is one alone."""
        return self.measurement.subject.test_setting

    @property
    def group(self) -> GroupValue | None:
        """Group that it is a split by; None for the whole."""
        return self.measurement.subject.group


def rates_of(findings: Findings, study: Study) -> tuple[Rate, ...]:
    """Return all defect rates in order, each with its bound where no defect was found."""
    ceilings, pools = _ceilings(findings), pools_of(study)
    return tuple(
        Rate(
            place=place,
            measurement=measurement,
            ceiling=ceilings.get(measurement.subject),
            is_single=measurement.subject.annotator in pools.get(measurement.subject.guideline, ()),
        )
        for place, measurement in enumerate(findings.measurements)
        if measurement.measure is Measure.DEFECT_RATE
    )


def _ceilings(findings: Findings) -> Mapping[EstimateSubject, float]:
    return {
        measurement.subject: _upper_end(measurement.result)
        for measurement in findings.measurements
        if measurement.measure is Measure.ZERO_DEFECT_BOUND and isinstance(measurement.result, Estimate)
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
        and (rate.measurement.subject.guideline, rate.measurement.subject.rule) == (guideline, rule)
        and application in {"", rate.measurement.application}
        and (not annotators or rate.annotator in annotators)
    )


def lead_rates(rates: tuple[Rate, ...], guideline: str, rule: str) -> tuple[Rate, ...]:
    """Return the rates that a report leads with: by the reference, else by every annotator, a pool as one."""
    whole = [rate for rate in rates_for(rates, guideline, rule) if not rate.is_single]
    final = {rate.measurement.application for rate in whole if rate.annotator == REFERENCE}
    return tuple(rate for rate in whole if rate.annotator == REFERENCE or rate.measurement.application not in final)


def unlabelled_guidelines(study: Study, rates: tuple[Rate, ...]) -> tuple[Guideline, ...]:
    """Return the guidelines with rules for which nobody gave a label that could count, so that they have no rate."""
    rated = {rate.measurement.subject.guideline for rate in rates}
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


def unmeasured_words(rate: Rate) -> str:
    """Return what a rate could not see, e.g. `2 failed, 1 unparseable`."""
    outcomes = rate.measurement.outcomes
    parts = {
        "failed": outcomes.failed,
        "unparseable": outcomes.unparseable,
        "refused": outcomes.refused,
        "missing": outcomes.missing,
        "not applicable": outcomes.not_applicable,
    }
    return ", ".join(f"{figures.count(n)} {name}" for name, n in parts.items() if n)
