"""Corrected rates and certificates, found again beside the numbers of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.certificate import Certificate
from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting import figures
from theodolite.reporting.rates import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A judge's rate as one person corrects it, and its place among the findings.

    Attributes:
        place: Place in the list `estimates` of the results file, from 0.
        measurement: The corrected rate.
    """

    place: int
    measurement: Measurement

    @property
    def judge(self) -> str:
        """Name of the judge."""
        return self.measurement.about["annotator"]

    @property
    def by(self) -> str:
        """Name of the person."""
        return self.measurement.about["by"]

    @property
    def result(self) -> Estimate | Undefined:
        """The corrected rate, or why there is none."""
        return self.measurement.result

    @property
    def text(self) -> str:
        """The corrected rate in words, e.g. `12.1 %, 5.2 to 21.0, from 40 labels`."""
        result = self.result
        if isinstance(result, Undefined):
            return f"unknown: {result.reason}"
        ends = figures.span(result.low or 0.0, 1.0 if result.high is None else result.high)
        return f"{figures.percent(result.value)}, {ends}, from {figures.number_of(result.n, 'label')}"


def corrections_of(findings: Findings, guideline: Guideline, rule: DefectRule | None = None) -> tuple[Correction, ...]:
    """Return the corrected rates of a guideline, or of one of its rules, in order."""
    return tuple(
        Correction(place=place, measurement=one)
        for place, one in enumerate(findings.measurements)
        if one.measure == "corrected_rate"
        and one.about.get("guideline") == guideline.name
        and (rule is None or one.about.get("rule") == rule.name)
    )


def own_rate(correction: Correction, rates: Sequence[Rate]) -> Rate | None:
    """Return the rate by the judge alone that a corrected rate stands beside."""
    about = correction.measurement.about
    wanted = {name: value for name, value in about.items() if name != "by"}
    for rate in rates:
        same = rate.measurement.application == correction.measurement.application and rate.group is None
        if same and wanted.items() <= dict(rate.measurement.about).items():
            return rate
    return None


def own_text(rate: Rate) -> str:
    """Return the judge's own rate in words, e.g. `9 of 57 (15.8 %)`."""
    return figures.share(rate.defects, rate.measurement.result.n)


def certificate_of_judge(evidence: Evidence, annotator: str) -> Certificate | None:
    """Return the certificate of an annotator as it is now; None where it has none."""
    return next((one for one in evidence.certificates if one.judge == annotator), None)


def certificate_note(evidence: Evidence, annotator: str) -> str:
    """Return that a judge has a certificate, or none; empty for people and final labels."""
    known = next((one for one in evidence.study.annotators if one.name == annotator), None)
    if known is None or known.kind is AnnotatorKind.PERSON:
        return ""
    found = certificate_of_judge(evidence, annotator)
    return f"certificate of {found.issued:%Y-%m-%d}" if found else "no certificate"
