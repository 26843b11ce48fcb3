from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from tests.unit.reporting.queries.rates.test_matrix import AREAS, STUDY, rate, rates
from theodolite.domain.dialogue import Level, TesterType
from theodolite.reporting.page.answer import heatmap_of
from theodolite.reporting.page.subject import subject_of

BASE = subject_of(evidence_named("live"), findings_named("live"), facts(), words())


def heatmap(*found):
    evidence = replace(BASE.evidence, study=STUDY)
    return heatmap_of(replace(BASE, evidence=evidence, cases=(), rates=tuple(found)))


def test_a_cell_has_count_share_interval_and_its_step_of_the_colour_scale():
    shown = heatmap(rate("songs", "none", 19, n=20), *rates()[1:])

    cell = shown.rows[0].cells[0]
    assert (cell.rate.count, cell.rate.of, cell.rate.percent, cell.rate.interval) == (
        "19",
        "20",
        "95.0%",
        "10.0 to 50.0",
    )
    assert (cell.step, cell.value, cell.width) == (8, 0.95, 0.4)


def test_steps_run_from_none_to_all():
    shown = heatmap(rate("songs", "none", 0, ceiling=0.1), rate("songs", "strict", 20), *rates()[2:])

    assert [cell.step for cell in shown.rows[0].cells] == [0, 8]


def test_below_ten_dialogues_a_cell_has_its_count_only():
    shown = heatmap(rate("songs", "none", 3, n=6), *rates()[1:])

    cell = shown.rows[0].cells[0]
    assert (cell.step, cell.rate.count, cell.rate.percent) == (-1, "3", "")


def test_levels_of_testing_are_groups_of_columns_with_the_larger_first():
    levels = [(Level.MODEL_TESTING, TesterType.SCRIPT, 8), (Level.RED_TEAMING, TesterType.PERSON, 20)]
    found = [one for level, who, n in levels for one in rates(level=level, tester_type=who, n=n)]

    shown = heatmap(*found)

    assert [level.title for level in shown.levels] == ["Red teaming, person", "Model testing, script"]
    assert [level.is_small for level in shown.levels] == [False, True]
    assert {len(row.cells) for row in shown.rows} == {4}


def test_areas_are_listed_in_study_order():
    assert [row.area for row in heatmap(*rates()).rows] == list(AREAS)


def test_few_areas_have_no_heatmap():
    assert heatmap(*rates(AREAS[:3])) is None
