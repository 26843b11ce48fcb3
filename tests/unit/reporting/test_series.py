"""What a series published stands beside what was tested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, facts
from tests.fakes.report import assets, evidence_named, findings_named
from theodolite.domain.event import EvaluationPlan, Series, Team
from theodolite.reporting.page.report import report_html
from theodolite.reporting.results.document import results_document, series_entry
from theodolite.reporting.words.descriptions import series_facts

PUBLISHED = Series(
    name="aria-0.1",
    teams=(Team(name="first", applications=("another",)),),
    plan=EvaluationPlan(criteria="Nothing <secret> is told."),
)


@pytest.fixture
def evidence():
    live = evidence_named("live")
    return changed(live, study=replace(live.study, series="aria-0.1", preregistered=PUBLISHED))


def test_results_contain_the_plan_and_deviations_of_the_study(evidence):
    entry = results_document(evidence, findings_named("live"), facts())["series"]

    assert entry["name"] == "aria-0.1"
    assert entry["published"]["criteria"] == "Nothing <secret> is told."
    assert entry["deviations"] == ["application `bot-1.4` belongs to none of its teams"]


def test_the_report_shows_the_plan_as_text(evidence):
    page = report_html(evidence, findings_named("live"), facts(), assets())

    assert "The series and its plan" in page
    assert "Nothing &lt;secret&gt; is told." in page
    assert "application `bot-1.4` belongs to none of its teams" in page


def test_a_name_without_a_plan_is_reported_and_no_series_is_not():
    study = evidence_named("live").study

    assert series_entry(replace(study, series="x")) == {"name": "x", "published": None, "deviations": []}
    assert series_facts(replace(study, series="x")) == (("Series", "x; its plan is not written down here"),)
    assert (series_entry(study), series_facts(study)) == (None, ())
