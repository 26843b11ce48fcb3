"""Certificates: how far a judge can be trusted, as people have found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from theodolite.domain.estimate import Confusion, Measurement
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.former_subjects import former_subject
from theodolite.domain.identity import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """What is known about one version of a judge, and what is not.

    It belongs to the content hash of the judge: another model, prompt form,
    guideline or rule of voting is another judge and needs its own report.

    Attributes:
        study: Name of the study in which it was issued.
        run: Number of the run whose dialogues were labelled.
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        guideline: Name of the guideline.
        guideline_version: Content hash of the guideline.
        issued: When; UTC.
        judged: Dialogues that the judge was asked about; count.
        labelled: Dialogues that at least one authority has labelled; count.
        authorities: Against whom it was held: `reference`, or names of people.
        measurements: All figures.
        confusions: Who said what where another said what.
        lacking: What could not be measured, and why, in sentences.
    """

    STORED_AS: ClassVar[str] = "Certificate"

    study: str
    run: int
    judge: str
    judge_version: str
    guideline: str
    guideline_version: str
    issued: datetime
    judged: int
    labelled: int
    authorities: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...] = ()
    lacking: tuple[str, ...] = ()

    @staticmethod
    def in_present_shape(text: str) -> str:
        """Return the JSON of a validation report with typed subjects, whichever program wrote it (ADR-0061)."""
        validation_report = json.loads(text)
        if all("subject" in one for one in validation_report["measurements"]):
            return text
        typed = [_with_typed_subject(one) for one in validation_report["measurements"]]
        return canonical_json(validation_report | {"measurements": typed})

    def figure(self, measure: Measure, *, authority: str = "", rule: str = "") -> Measurement | None:
        """Return the first figure of a measure over all dialogues; None without one.

        Args:
            measure: What was measured.
            authority: Against whom the judge was held; empty for any, or for none.
            rule: Name of the defect rule; empty for any, or for none.
        """
        return next(
            (
                one
                for one in self.measurements
                if one.measure is measure
                and one.application == ALL_APPLICATIONS
                and not one.subject.is_part
                and authority in {"", one.subject.authority}
                and rule in {"", one.subject.rule}
            ),
            None,
        )


def _with_typed_subject(members: Mapping[str, Any]) -> dict[str, Any]:
    found = former_subject(Measure(members["measure"]), members["application"], members["about"])
    kept = {name: part for name, part in members.items() if name not in {"application", "about"}}
    return {**kept, "subject": found.subject, "weighting": found.weighting, "statistic": found.statistic}
