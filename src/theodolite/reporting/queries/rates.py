"""Defect rates among the findings of a run, and the matrix of areas and applications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.estimate import Estimate, Findings, Measurement
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A defect rate with its index among the findings.

    Attributes:
        place: Index in the list `estimates` of the results file, from 0.
        measurement: The number and its subject.
        ceiling: Upper bound of the true rate if no defect was found; fraction.
        is_single: Whether it belongs to one person of a pool, whose pooled rate leads.
    """

    place: int
    measurement: Measurement
    ceiling: float | None = None
    is_single: bool = False

    @property
    def estimate(self) -> Estimate | None:
        """The number, or None if it is undefined."""
        result = self.measurement.result
        return result if isinstance(result, Estimate) else None

    @property
    def annotator(self) -> str:
        """Name of the annotators of its labels."""
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
        """Whether some of its dialogues count in part because people disagree on them."""
        return "." in self.defects_text

    @property
    def station(self) -> str:
        """Level of testing and tester type, as text; empty if there is only one."""
        return self.measurement.subject.test_setting

    @property
    def group(self) -> GroupValue | None:
        """Group of a split; None for the whole."""
        return self.measurement.subject.group


def rates_of(findings: Findings, study: Study) -> tuple[Rate, ...]:
    """Return all defect rates in order, each with its bound if no defect was found."""
    ceilings, pools = _ceilings(findings), pools_of(study)
    return tuple(
        Rate(
            place=position,
            measurement=measurement,
            ceiling=ceilings.get(measurement.subject),
            is_single=measurement.subject.annotator in pools.get(measurement.subject.guideline, ()),
        )
        for position, measurement in enumerate(findings.measurements)
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
    """Return the rates of one rule over whole applications, without splits."""
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


def rate_by_application(rates: tuple[Rate, ...], guideline: str, rule: str) -> dict[str, Rate]:
    """Return the leading rate of each application with only one, if it has enough units for a share."""
    by_application: dict[str, list[Rate]] = {}
    for rate in lead_rates(rates, guideline, rule):
        by_application.setdefault(rate.measurement.application, []).append(rate)
    return {
        name: leading[0]
        for name, leading in by_application.items()
        if len(leading) == 1 and leading[0].estimate and leading[0].estimate.n >= figures.FEW
    }


def unlabelled_guidelines(study: Study, rates: tuple[Rate, ...]) -> tuple[Guideline, ...]:
    """Return the guidelines with rules but without any label that could count, so that they have no rate."""
    rated = {rate.measurement.subject.guideline for rate in rates}
    return tuple(guideline for guideline in study.guidelines if guideline.defect_rules and guideline.name not in rated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """The two sides of a guardrail under one guideline."""

    guideline: Guideline
    withheld: DefectRule
    released: DefectRule


def guardrail_of(study: Study) -> Guardrail | None:
    """Return the first guideline with annotators and with both sides of a guardrail, or None."""
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
    """Return the interval, or the bound if no defect was found."""
    estimate = rate.estimate
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    if rate.defects == 0:
        return f"at most {figures.points(rate.ceiling if rate.ceiling is not None else estimate.high)}"
    return figures.span(estimate.low, estimate.high)


def unmeasured_words(rate: Rate) -> str:
    """Return the missing data of a rate, e.g. `2 failed, 1 unparseable`."""
    outcomes = rate.measurement.outcomes
    parts = {
        "failed": outcomes.failed,
        "unparseable": outcomes.unparseable,
        "refused": outcomes.refused,
        "missing": outcomes.missing,
        "not applicable": outcomes.not_applicable,
    }
    return ", ".join(f"{figures.count(n)} {name}" for name, n in parts.items() if n)


AREAS = 4

"""Smallest number of areas for a matrix instead of a block for each."""


SPLIT = "scenario"

"""Group that splits one guideline's rate into several areas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One area at one station.

    Attributes:
        area: Name of the area.
        station: Level of testing and tester type; empty if there is only one.
        cells: The rate of each application, in order of the study; None if there is none.
    """

    area: str
    station: str
    cells: tuple[Rate | None, ...]


def matrix_of(study: Study, rates: tuple[Rate, ...]) -> tuple[MatrixRow, ...]:
    """Return areas by applications, level by level; empty if there are few areas or one application.

    An area is a defect rule or, where the study splits by scenario, a rule in one
    scenario. Each annotator whose labels lead has rows of its own. Areas of one name
    are followed by the rule, so that names are unique.
    """
    applications = [application.name for application in study.applications]
    by_rule = [
        (guideline, rule, _rows(study, guideline, rule, rates, applications)) for guideline, rule in rules_of(study)
    ]
    rows = list(_named_apart(by_rule))
    stations = dict.fromkeys(row.station for row in rows)
    if len(applications) < 2 or len({row.area for row in rows}) < AREAS:
        return ()
    return tuple(row for condition in sorted(stations, key=bool) for row in rows if row.station == condition)


def _named_apart(by_rule: Sequence[tuple[Guideline, DefectRule, Sequence[MatrixRow]]]) -> Iterator[MatrixRow]:
    """Yield the rows of all rules; if two rules have areas of one name, guideline and rule follow it."""
    called = Counter(area for _, _, rows in by_rule for area in {row.area for row in rows})
    for guideline, rule, rows in by_rule:
        for row in rows:
            alike = [one for one, _, others in by_rule if row.area in {other.area for other in others}]
            which = rule.name if len({one.name for one in alike}) == 1 else f"{guideline.name}, {rule.name}"
            yield replace(row, area=f"{row.area}: {which}") if called[row.area] > 1 else row


def _rows(
    study: Study, guideline: Guideline, rule: DefectRule, rates: tuple[Rate, ...], applications: Sequence[str]
) -> list[MatrixRow]:
    lead = lead_rates(rates, guideline.name, rule.name)
    annotators = {rate.annotator for rate in lead}
    split = [rate for rate in rates if _is_part(rate, guideline, rule, annotators)]
    result: dict[tuple[str, str], dict[str, Rate]] = {}
    for rate in split or lead:
        area = rate.group.value if rate.group else heading_of(guideline, rule)
        is_named = len(annotators) > 1 or rate.annotator == PEOPLE
        name = f"{area}, by {title_of(study, rate.annotator)}" if is_named else area
        if rate.measurement.result.n:
            result.setdefault((name, rate.station), {})[rate.measurement.application] = rate
    return [
        MatrixRow(area=area, station=condition, cells=tuple(by_application.get(name) for name in applications))
        for (area, condition), by_application in result.items()
    ]


def _is_part(rate: Rate, guideline: Guideline, rule: DefectRule, annotators: set[str]) -> bool:
    subject = rate.measurement.subject
    of_rule = (subject.guideline, subject.rule) == (guideline.name, rule.name)
    return of_rule and rate.annotator in annotators and rate.group is not None and rate.group.name == SPLIT
