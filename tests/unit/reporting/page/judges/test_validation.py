from __future__ import annotations

from dataclasses import replace
from functools import cache

from tests.fakes.evidence_variants import validated_evidence
from tests.fakes.report import evidence_named, facts, findings_named, report_named, words
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue, Measure
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.judges import validation_views
from theodolite.reporting.page.rates import rule_blocks
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.agreements import validation_note
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text


@cache
def evidence():
    return validated_evidence()


@cache
def findings():
    return measure_study(evidence())


@cache
def subject():
    return subject_of(evidence(), findings(), facts(), words())


def test_a_validation_report_shows_agreement_accuracy_and_the_ceiling():
    (view,) = validation_views(subject())

    assert [table.title for table in view.tables] == [
        "Agreement with anna",
        "Defects (defect) against anna",
        "Agreement with ben",
        "Defects (defect) against ben",
        "The ceiling: agreement of anna and ben",
        "How it reads and replies",
    ]
    assert view.about == "30 of 58 judged dialogues, compared with anna, ben."
    assert view.limitations[0].startswith("Attacks and repeated readings were left out")


def test_figures_have_counts_and_intervals():
    (view,) = validation_views(subject())

    name, *cells = view.tables[1].texts[0]
    assert name == "all applications"
    assert all("of" in cell or "from" in cell or "points" in cell for cell in cells)


def test_groups_of_people_have_a_separate_table():
    (report,) = evidence().validation_reports
    (one, *_) = report.measurements
    old = GroupValue(name="age", value="old")
    subject = EstimateSubject(application=ALL_APPLICATIONS, annotator_group=old, n_people=3)
    group = replace(one, measure=Measure.CROSS_AGREEMENT, subject=subject)
    grouped = replace(report, measurements=(*report.measurements, group))
    (view,) = validation_views(
        subject_of(replace(evidence(), validation_reports=(grouped,)), findings(), facts(), words())
    )

    assert view.tables[-2].title == "Agreement with the groups that people describe themselves by"
    assert [name for name, _ in view.tables[-2].texts] == ["age: old (3 people)"]


def test_conditions_independent_of_the_verdict_are_reported_too():
    (view,) = validation_views(subject())

    assert ("Unparseable replies", "1 of 58 (1.7%, 0.3 to 9.1)") in view.tables[-1].texts


def test_the_corrected_rate_accompanies_the_rate_of_the_judge():
    (block,) = rule_blocks(subject())

    rates = [(row[0].details, row[1]) for row in block.corrected.rows if "%" in row[1]]
    assert rates == [((f"grounded, by {name}",), "9 of 57 (15.8%)") for name in ("anna", "ben")]
    assert block.tables[0][0] == "grounded (validated 2026-03-02)"


def test_the_corrected_mean_is_shown_too():
    (block,) = rule_blocks(subject())

    means = [row for row in block.corrected.rows if row[1].startswith("mean ")]
    assert [row[0].details for row in means] == [("grounded, by anna",), ("grounded, by ben",)]
    assert all(row[1].endswith("of 57") for row in means)


def test_a_judge_without_validation_is_marked():
    live = subject_of(evidence_named("live"), findings_named("live"), facts(), words())

    assert rule_blocks(live)[0].tables[0][0] == "grounded (not validated)"
    assert validation_views(live) == ()
    assert validation_note(evidence(), "anna") == ""


def test_summary_and_results_state_when_the_judge_was_validated():
    text = " ".join(summary_text(evidence(), findings(), facts(), words()).split())
    results = results_document(evidence(), findings(), facts())

    assert "grounded (validated 2026-03-02) agrees with people on" in text
    assert "Corrected bot-1.4 " in text
    assert "; grounded alone 9 of 57 (15.8%)." in text
    stated = {one["name"]: one["validated"] for one in results["instruments"]["annotators"]}
    assert stated == {"grounded": "2026-03-02T09:30:00+00:00", "anna": None, "ben": None}


def test_the_page_contains_the_validation_report_and_the_reading_aid():
    page = report_named("certified")

    assert "<h3>Validation reports</h3>" in page
    assert "grounded, defect: Against 29 labels by anna this judge misses 23.1% (3.8 to 79.1)" in page
    assert "<h3>Validation reports</h3>" not in report_named("live")


def test_many_people_share_a_table_with_one_row_each():
    (report,) = evidence().validation_reports
    whole = [one for one in report.measurements if not (one.subject.is_part or one.subject.is_human_ceiling)]
    of_anna = [one for one in whole if one.subject.authority == "anna"]
    people = tuple(f"person {n}" for n in range(6))
    each = tuple(
        replace(one, subject=replace(one.subject, annotators=(name, one.subject.annotators[1])))
        for name in people
        for one in of_anna
    )
    crowded = replace(evidence(), validation_reports=(replace(report, authorities=people, measurements=each),))

    (view,) = validation_views(subject_of(crowded, findings(), facts(), words()))

    assert [table.title for table in view.tables] == [
        "Agreement with each person",
        "Defects (defect) against each person",
        "How it reads and replies",
    ]
    assert [row[0] for row in view.tables[0].rows] == list(people)
    assert view.about.endswith("compared with 6 people one by one.")
