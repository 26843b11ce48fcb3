import functools
import re
from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.study_parts import Typology
from theodolite.measurement.study.differences import typology_rates
from theodolite.reporting.page.differences import clear_gaps, gap_chart, typology_chart, versions_view
from theodolite.reporting.page.subject import subject_of


@functools.cache
def subject(name):
    return subject_of(evidence_named(name), findings_named(name), facts(), words())


def test_each_pair_of_applications_has_a_sentence_and_each_rate_a_row():
    view = versions_view(subject("xstest"))

    assert len(view.verdicts) == 4
    assert len(view.chart.table.rows) == view.chart.drawing.count('class="whisker"') == 12


def test_changed_pairs_open_both_dialogues_of_each():
    made = subject("xstest")
    row = versions_view(made).chart.table.cells[0]
    fixed = row[4].links[0]

    n = int(fixed.text.partition(" ")[0])
    assert len(made.sets.sets[fixed.opens].cases) == 2 * n


def test_the_drawing_has_the_numbers_of_the_table():
    view = versions_view(subject("xstest"))

    assert "-24.0 points (-29.7 to -18.3), n 250" in view.chart.drawing
    assert "difference -24.0 points, -29.7 to -18.3" in view.chart.table.texts[0][5]


def test_without_a_second_application_or_groups_there_is_no_chart():
    assert versions_view(subject("live")) is None
    assert gap_chart(subject("live")) is None


def test_each_gap_has_a_row_whose_groups_open_their_rates():
    made = subject("xstest")
    chart = gap_chart(made)

    assert len(chart.table.rows) == len(made.findings.gaps) == 15
    highest = chart.table.cells[0][3]
    count = int(re.search(r"(\d+) of", highest.text)[1])
    assert made.findings.measurements[highest.estimate].result.count == count


def test_gaps_that_exclude_zero_are_listed_first():
    ends = [gap.gap.low for gap in clear_gaps(subject("xstest"))]

    assert ends == sorted(ends, reverse=True)
    assert min(ends) > 0


def test_types_of_users_and_applications_have_one_row_per_rule_and_type():
    known = evidence_named("xstest")
    typology = Typology(by="type", applications={"open": ("llama2orig", "llama2new"), "guarded": ("mistralguard",)})
    typed = replace(known, study=replace(known.study, typology=typology))
    findings = replace(findings_named("xstest"), typology=tuple(typology_rates(typed)))
    chart = typology_chart(subject_of(typed, findings, facts(), words()))

    assert [column.title for column in chart.table.columns][2:5] == ["Users", "open", "guarded"]
    assert 2 * len(chart.table.rows) == len(findings.typology)
    assert chart.drawing.count('class="whisker"') == sum(one.rate.n >= 10 for one in findings.typology)


def test_a_study_without_a_typology_has_no_such_chart():
    assert typology_chart(subject("xstest")) is None
