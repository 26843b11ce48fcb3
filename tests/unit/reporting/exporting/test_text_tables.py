"""Tables of a run as Markdown and LaTeX: all numbers, with what they rest on."""

from __future__ import annotations

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.text_tables import latex_lines, markdown_lines, paper_tables
from theodolite.reporting.tables import Column, ColumnKind, Table

HOSTILE = Table(
    title="50% of a_b",
    columns=(Column("Name"), Column("n", ColumnKind.COUNT)),
    rows=(("a|b & <i>", 1_200),),
    notes=("n < 5",),
)


def test_every_estimate_has_a_row():
    evidence = xstest_evidence()
    findings = measure_study(evidence)
    tables = paper_tables(evidence, findings)

    assert sum(len(table.rows) for table in tables[1:]) == len(findings.measurements)
    assert [table.title for table in tables][:2] == ["Completeness", "Defect rates"]


def test_rows_state_value_interval_n_excluded_and_method():
    evidence = live_evidence()
    text = "".join(markdown_lines(paper_tables(evidence, measure_study(evidence)), title="Support"))

    row = next(line for line in text.splitlines() if line.startswith("| bot") and "beta-binomial" in line)
    value, n, excluded, method = [cell.strip() for cell in row.strip("|").split("|")][-4:]
    assert (n, method) == ("57", "beta-binomial")
    assert value.startswith("9 of 57 (15.8%, ")
    assert excluded == "2 failed, 1 unparseable"
    assert "Confidence of the intervals: 95%." in text


def test_markdown_separates_cells():
    lines = "".join(markdown_lines([HOSTILE], title="T")).splitlines()

    assert lines[4:7] == ["| Name | n |", "| --- | ---: |", r"| a\|b & &lt;i> | 1,200 |"]


def test_latex_escapes_special_characters():
    text = "".join(latex_lines([HOSTILE], title="T"))

    assert r"\caption{50\% of a\_b}" in text
    assert r"a|b \& \textless{}i\textgreater{} & 1,200 \\" in text
    assert "\\begin{longtable}{lr}" in text
