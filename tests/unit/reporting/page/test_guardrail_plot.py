from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.number import TaskTally
from theodolite.domain.findings.risks import RiskFinding, RiskImpact
from theodolite.domain.study_parts import Risk
from theodolite.measurement.proportion import defect_rate
from theodolite.reporting.page.guardrail_plot import guardrail_plots, utility_plots
from theodolite.reporting.page.subject import subject_of


def subject(name="xstest"):
    return subject_of(evidence_named(name), findings_named(name), facts(), words())


@pytest.fixture(scope="module")
def wide():
    return guardrail_plots(subject())[0]


def test_a_marker_is_positioned_at_both_rates(wide):
    left, top, right, bottom = wide.main.box
    crosses = {cross.name: cross for cross in wide.main.crosses}

    assert crosses["llama2orig"].x[1] == pytest.approx(left + (right - left) * 38 / 50, abs=0.1)
    assert crosses["llama2orig"].y[1] == bottom
    assert crosses["mistralinstruct"].y[1] == pytest.approx(bottom - (bottom - top) * 64 / 75, abs=0.1)


def test_crowded_points_are_shown_and_named_in_an_inset_only(wide):
    assert {cross.name for cross in wide.inset.crosses} == {"llama2new", "mistralguard", "gpt4"}
    assert {label.text for label in wide.main.labels} == {"llama2orig", "mistralinstruct"}
    assert {label.text for label in wide.inset.labels} == {"llama2new", "mistralguard", "gpt4"}
    assert wide.inset_title == "Inset: withheld 0 to 20, released 0 to 8"


@pytest.mark.parametrize("number", [0, 1])
def test_the_inset_covers_no_other_point_and_not_its_source(number):
    plot = guardrail_plots(subject())[number]
    left, top, right, bottom = plot.card
    outside = [cross for cross in plot.main.crosses if cross.scale == 1]

    assert len(outside) == 2
    assert not any(left <= cross.x[1] <= right and top <= cross.y[1] <= bottom for cross in outside)
    assert bottom <= plot.source[1]


def test_ticks_cover_the_values_of_both_axes(wide):
    assert [text for _, text in wide.main.x_ticks] == ["0", "10", "20", "30", "40", "50"]
    assert [text for _, text in wide.main.y_ticks] == ["0", "25", "50", "75"]


def test_a_marker_opens_the_defects_of_both_sides():
    known = subject()
    guardrail_plots(known)

    assert len(known.sets.sets["guardrail.llama2orig"].cases) == 95
    assert len(known.sets.sets["guardrail.mistralinstruct"].cases) == 130


def test_a_study_with_one_side_has_no_plot():
    assert guardrail_plots(subject("live")) == ()


def with_tasks(risk_share):
    found = findings_named("xstest")
    names = [one.name for one in evidence_named("xstest").study.applications][:2]
    tasks = tuple(
        TaskTally(application=name, level=Level.FIELD_TESTING, n_sessions=40, n_unsaid=0, done=defect_rate(30, 40))
        for name in names
    )
    impact = RiskImpact(
        likelihood=risk_share,
        magnitude=Undefined(reason="Nobody graded."),
        expected=Undefined(reason="Nobody graded."),
        impacts={},
        n_real=0,
        n_ungraded=0,
    )
    risks = tuple(
        RiskFinding(risk=Risk(name="spoilt"), application=name, level=Level.FIELD_TESTING, n=40, impact=impact)
        for name in names
    )
    return subject_of(evidence_named("xstest"), replace(found, tasks=tasks, risks=risks), facts(), words())


def test_utility_is_plotted_against_the_risk_of_the_same_level():
    (plot,) = utility_plots(with_tasks(defect_rate(4, 40)))

    assert plot.title == "Utility against risk: spoilt, field testing"
    assert plot.plots[0].words.startswith("llama2orig: task completed 75.0%, risk spoilt 10.0%")
    assert plot.table.texts[0][1:] == ("30 of 40, 75.0% (59.8 to 85.8)", "4 of 40, 10.0% (4.0 to 23.1)")
    cross = plot.plots[0].main.crosses[0]
    assert cross.x[0] < cross.x[1] < cross.x[2]
    assert cross.y[0] > cross.y[1] > cross.y[2]  # upwards on the screen


def test_an_unmeasured_risk_has_no_plot():
    assert utility_plots(with_tasks(Undefined(reason="Nobody looked."))) == ()


def test_the_first_screen_is_not_repeated():
    assert utility_plots(subject_of(evidence_named("xstest"), findings_named("xstest"), facts(), words())) == ()
