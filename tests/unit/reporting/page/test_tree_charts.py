"""Charts of trees: the icicle keeps shares and order, the dot plot one scale, the data no markup."""

from __future__ import annotations

import hashlib
import itertools
import json
import re

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import assets, evidence_named, findings_named, report_named, words
from theodolite.reporting.page.report import LIBRARY
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.tree_charts import dot_plot, radar
from theodolite.reporting.page.trees import tree_views


@pytest.fixture(scope="module")
def subject():
    return subject_of(evidence_named("trees"), findings_named("trees"), facts(), words())


@pytest.fixture(scope="module")
def tree(subject):
    return tree_views(subject)[0]


def test_every_application_has_an_icicle_with_all_its_summaries(tree, subject):
    assert [chart.application for chart in tree.icicles] == [app.name for app in subject.study.applications]


def test_children_fill_the_width_of_their_parent_below_it(tree):
    cells = tree.icicles[0].cells
    for cell in cells:
        children = [other for other in cells if other.parent == cell.key]
        if children:
            assert children[0].left == pytest.approx(cell.left)
            assert children[-1].right == pytest.approx(cell.right)
            assert {child.depth for child in children} == {cell.depth + 1}
            assert all(a.right == pytest.approx(b.left) for a, b in itertools.pairwise(children))


def test_a_darker_cell_has_a_higher_value(tree):
    filled = [cell for chart in tree.icicles for cell in chart.cells if cell.step >= 0]

    assert {cell.step for cell in filled} > {0}
    assert all(cell.step == min(int(float(cell.value) * 9), 8) for cell in filled if float(cell.value) % (1 / 9) > 0.01)


def test_nodes_without_data_share_one_cell_without_a_value(tree):
    empty = [cell for cell in tree.icicles[0].cells if not cell.node]

    assert empty
    assert all((cell.step, cell.value) == (-1, "") for cell in empty)
    assert all(cell.label.startswith("no data: ") for cell in empty)


def test_values_of_the_chart_equal_those_of_the_finding(tree, subject):
    finding = subject.findings.trees[0]
    for entry in json.loads(tree.icicles[0].data):
        if "at" in entry:
            cell = tree.icicles[0].cells[entry["key"]]
            result = finding.node(cell.node).result
            assert (entry["at"], entry["low"], entry["high"]) == (result.value, result.low, result.high)
            assert cell.value == f"{result.value:.2f}"


def test_each_application_has_a_dot_on_the_scale(subject):
    findings = subject.findings.trees
    plot = dot_plot(subject, findings)
    values = [f.node(d.node).value for d in findings[0].design.dimensions for f in findings]

    assert [dot.value for dot in plot.dots] == [f"{value:.2f}" for value in values]
    assert [dot.x for dot in plot.dots] == [pytest.approx(190 + 250 * value, abs=0.06) for value in values]
    assert [label for _, label in plot.ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_a_radar_states_its_direction_and_has_a_spoke_for_each_dimension_with_data(subject):
    drawn = radar(subject, subject.findings.trees)

    assert drawn.direction == "outer = higher risk"
    assert [spoke.title for spoke in drawn.spokes] == ["over-refusing", "unsafe", "half-hearted"]
    assert [label for _, label in drawn.rings] == ["0.2", "0.4", "0.6", "0.8", "1"]


def test_only_a_report_with_a_zoomable_chart_contains_the_library():
    library = assets()[LIBRARY]

    assert library in report_named("trees")
    assert library not in report_named("xstest")


def test_the_library_evaluates_no_text_and_matches_its_licence_record():
    library = assets()[LIBRARY]
    digest = hashlib.sha256(library.encode()).hexdigest()

    assert not re.search(r"\beval\(|new Function|XMLHttpRequest|fetch\(|WebSocket|</script", library)
    assert digest in assets()["vendor/echarts.LICENSE.txt"]
