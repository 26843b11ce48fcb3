"""Findings: everything of a study, in its order."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.measurement.study.small_study import SmallStudy
from theodolite.domain.application import Application
from theodolite.measurement import measure_study


def two_applications():
    study = SmallStudy()
    study.annotator("ann")
    study.annotator("ben")
    study.session("d1")
    study.column("ann", d1="yes")
    study.column("ben", d1="no")
    evidence = study.evidence()
    (bot,) = evidence.study.applications
    other = Application(name="other", connection=bot.connection)
    return replace(evidence, study=replace(evidence.study, applications=(other, bot)))


def test_findings_follow_the_order_of_the_study():
    findings = measure_study(two_applications())

    assert list(dict.fromkeys(m.application for m in findings.measurements)) == ["other", "bot"]
    assert [c.application for c in findings.confusions] == ["other", "bot"]


def test_dialogues_of_another_application_are_not_in_the_denominator():
    planned = {(m.application, m.outcomes.planned) for m in measure_study(two_applications()).measurements}

    assert planned == {("other", 0), ("bot", 1)}


def test_rates_come_before_agreement():
    measures = [m.measure for m in measure_study(two_applications()).measurements if m.application == "bot"]

    assert measures == [
        "defect_rate",
        "zero_defect_bound",
        "defect_rate",
        "exact_agreement",
        "cohen_kappa",
        "fleiss_kappa",
        "krippendorff_alpha",
    ]
