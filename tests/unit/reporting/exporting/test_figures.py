"""Figures of a run: what they show, where it is drawn, and that any name makes a well-formed file."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from scipy import stats

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.figures import Figure, figures_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn() -> dict[str, Figure]:
    evidence = xstest_evidence()
    return {figure.name: figure for figure in figures_of(evidence, measure_study(evidence))}


def root_of(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)  # noqa: S314  # our own text


def texts(figure: Figure) -> list[str]:
    return [text.text or "" for text in root_of(figure).iter(f"{SVG}text")]


def test_each_rule_has_an_interval_plot(drawn):
    assert list(drawn) == ["rate-refusal-withheld", "rate-refusal-released", "rate-refusal-partly-withheld"]
    assert "95 of 250, 38.0% (32.2 to 44.2)" in texts(drawn["rate-refusal-withheld"])
    assert "Method: wilson. Not measured: 0 of 1,250 planned." in texts(drawn["rate-refusal-withheld"])


def test_value_and_interval_have_their_positions_on_the_axis(drawn):
    root = root_of(drawn["rate-refusal-withheld"])
    grid = [float(line.get("x1")) for line in root.iter(f"{SVG}line") if line.get("stroke") == "#cfd6df"]
    ticks = [text for text in texts(drawn["rate-refusal-withheld"]) if text.endswith("%") and "of" not in text]
    start, width = grid[0], grid[-1] - grid[0]
    whiskers = [line for line in root.iter(f"{SVG}line") if line.get("y1") == line.get("y2")]
    points = [float(circle.get("cx")) for circle in root.iter(f"{SVG}circle")]

    assert ticks == ["0%", "10%", "20%", "30%", "40%", "50%"]
    for count, whisker, point in zip((95, 35, 2, 24, 16), whiskers, points, strict=True):
        interval = stats.binomtest(count, 250).proportion_ci(method="wilson")
        at = [start + width * share / 0.5 for share in (interval.low, count / 250, interval.high)]
        shown = [float(whisker.get("x1")), point, float(whisker.get("x2"))]
        assert shown == pytest.approx(at, abs=0.06)


def test_zero_defects_are_a_bound_with_an_open_point(drawn):
    root = root_of(drawn["rate-refusal-released"])
    fills = [circle.get("fill") for circle in root.iter(f"{SVG}circle")]

    assert fills[:2] == ["#fff", "#fff"]
    assert "0 of 200, 0.0% (at most 1.5)" in texts(drawn["rate-refusal-released"])


def test_every_name_gives_a_well_formed_file():
    evidence = live_evidence()
    guideline = evidence.study.guidelines[0]
    rule = replace(guideline.defect_rules[0], title='<script>"&</script>')
    study = replace(evidence.study, guidelines=(replace(guideline, defect_rules=(rule,)),))
    evidence = replace(evidence, study=study)
    (figure,) = figures_of(evidence, measure_study(evidence))

    assert texts(figure)[0] == '<script>"&</script>'
    assert "<script>" not in figure.svg
