from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import by_hand, judge, word_rule
from tests.fakes.evidence import live_evidence, xstest_evidence
from tests.fakes.evidence_variants import labelled_evidence
from tests.fakes.store import FakeStore
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import ValidationReport
from theodolite.usecases.judge_validation import judges_named, validation_report_of
from theodolite.usecases.measuring import validation_reports_of

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def issued(evidence=None, **more):
    evidence = evidence or labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    return validation_report_of(evidence, evidence.study.annotator("grounded"), NOW, **more)


def test_a_validation_report_names_the_judge_and_its_reference():
    validation_report = issued()

    assert (validation_report.judge, validation_report.guideline, validation_report.authorities) == (
        "grounded",
        "groundedness",
        ("anna", "ben"),
    )
    assert (validation_report.judged, validation_report.labelled, validation_report.issued) == (58, 30, NOW)


def test_missing_probes_are_reported():
    (unknown,) = issued().lacking

    assert unknown.startswith("Attacks and repeated readings were left out")
    assert issued(probed=True).lacking == ()
    assert "no two people" in issued(labelled_evidence(lambda said: said or "1")).lacking[0]


def test_without_a_human_label_there_is_no_validation_report():
    with pytest.raises(InputError, match="labels cannot be compared with theirs"):
        issued(live_evidence())


def test_a_validation_report_is_restored_for_its_version_only():
    store, validation_report = FakeStore(), issued()
    study = live_evidence().study
    store.file(validation_report.judge_version, replace(validation_report, lacking=("earlier",)))
    store.file(validation_report.judge_version, validation_report)

    assert validation_reports_of(store, study) == (validation_report,)
    assert store.filed(ValidationReport, validation_report.judge_version)[0].lacking == ("earlier",)
    changed = replace(study, guidelines=tuple(replace(one, definition="Otherwise.") for one in study.guidelines))
    assert validation_reports_of(store, changed) == ()


def test_models_are_validated_unless_a_judge_is_named():
    study = replace(live_evidence().study, annotators=(by_hand(), word_rule(), judge()))

    assert [one.name for one in judges_named(study, "")] == ["grounded"]
    assert [one.name for one in judges_named(study, "words")] == ["words"]
    assert [one.name for one in judges_named(replace(study, annotators=(word_rule(),)), "")] == ["words"]
    with pytest.raises(InputError, match=r"no judge `word`. Did you mean `words`\?"):
        judges_named(study, "word")
    with pytest.raises(InputError, match="nobody but people labels"):
        judges_named(replace(study, annotators=(by_hand(),)), "")


def test_a_recorded_judge_is_compared_with_the_final_labels():
    evidence = xstest_evidence()

    validation_report = validation_report_of(evidence, evidence.study.annotator("gpt-4"), NOW)

    assert validation_report.authorities == ("reference",)
    assert validation_report.lacking[0].startswith("Attacks and repeated readings were not tried: no model")
