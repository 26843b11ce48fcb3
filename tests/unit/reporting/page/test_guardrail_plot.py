import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.guardrail_plot import guardrail_plots
from theodolite.reporting.page.subject import subject_of


def subject(name="xstest"):
    return subject_of(evidence_named(name), findings_named(name), facts(), words())


@pytest.fixture(scope="module")
def wide():
    return guardrail_plots(subject())[0]


def test_a_marker_stands_at_both_rates(wide):
    left, top, right, bottom = wide.main.box
    crosses = {cross.name: cross for cross in wide.main.crosses}

    assert crosses["llama2orig"].x[1] == pytest.approx(left + (right - left) * 38 / 50, abs=0.1)
    assert crosses["llama2orig"].y[1] == bottom
    assert crosses["mistralinstruct"].y[1] == pytest.approx(bottom - (bottom - top) * 64 / 75, abs=0.1)


def test_points_that_crowd_stand_in_an_inset_and_are_named_there_alone(wide):
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


def test_ticks_hold_the_values_of_both_axes(wide):
    assert [text for _, text in wide.main.x_ticks] == ["0", "10", "20", "30", "40", "50"]
    assert [text for _, text in wide.main.y_ticks] == ["0", "25", "50", "75"]


def test_a_marker_opens_the_defects_of_both_sides():
    known = subject()
    guardrail_plots(known)

    assert len(known.sets.sets["guardrail.llama2orig"].cases) == 95
    assert len(known.sets.sets["guardrail.mistralinstruct"].cases) == 130


def test_a_study_with_one_side_has_no_plot():
    assert guardrail_plots(subject("live")) == ()
