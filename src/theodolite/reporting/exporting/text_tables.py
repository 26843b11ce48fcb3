"""Tables of a run for papers: completeness, every estimate and tree as Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from theodolite.domain.estimate import Estimate, Findings, Measurement
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import Outcomes
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import cases_of, title_of
from theodolite.reporting.queries.dispositions import accounts_of
from theodolite.reporting.tables import Column, ColumnKind, Table, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import weighting_text

_KINDS: Mapping[Measure, ColumnKind] = {
    **dict.fromkeys(
        (
            Measure.COHEN_KAPPA,
            Measure.FLEISS_KAPPA,
            Measure.KRIPPENDORFF_ALPHA,
            Measure.GWET_AC,
            Measure.RETEST_ALPHA,
            Measure.SCORE_AGREEMENT,
            Measure.MACRO_F1,
            Measure.CLASS_F1,
            Measure.JUDGE_MEAN,
            Measure.CORRECTED_MEAN,
            Measure.LENGTH_BIAS,
        ),
        ColumnKind.COEFFICIENT,
    ),
    **dict.fromkeys(
        (Measure.CORRECTED_RATE, Measure.ROGAN_GLADEN_RATE, Measure.JUDGE_RATE, Measure.PREFERS_FIRST),
        ColumnKind.SHARE,
    ),
    Measure.JUDGE_BIAS: ColumnKind.DIFFERENCE,
}
"""How the numbers of a measure are written; a measure that is not here is a share of counted units."""

_TITLES: Mapping[Measure, str] = {
    Measure.DEFECT_RATE: "Defect rates",
    Measure.ZERO_DEFECT_BOUND: "Upper bounds where no defect was found",
    Measure.COHEN_KAPPA: "Cohen's kappa",
    Measure.FLEISS_KAPPA: "Fleiss' kappa",
    Measure.KRIPPENDORFF_ALPHA: "Krippendorff's alpha",
    Measure.GWET_AC: "Gwet's AC",
    Measure.MACRO_F1: "Macro F1",
    Measure.CLASS_F1: "F1 of each label",
    Measure.CLASS_PRECISION: "Precision of each label",
    Measure.CLASS_RECALL: "Recall of each label",
}

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)

_MARKDOWN = str.maketrans({"|": r"\|", "\n": " ", "<": "&lt;", "*": r"\*", "`": r"\`"})


def paper_tables(evidence: Evidence, findings: Findings) -> tuple[Table, ...]:
    """Return the tables of a run: completeness first, then one for each measure, then the trees.

    Every number has its interval, its n, the missing data and its method.

    Args:
        evidence: All records of one run.
        findings: All numbers of the run.
    """
    by_measure: dict[Measure, list[Measurement]] = {}
    for measurement in findings.measurements:
        by_measure.setdefault(measurement.measure, []).append(measurement)
    measures = (_measure_table(evidence.study, measure, listed) for measure, listed in by_measure.items())
    return (_completeness(evidence), *measures, *_trees(findings))


def _completeness(evidence: Evidence) -> Table:
    accounts = accounts_of(evidence.study, cases_of(evidence.answers))
    rows = tuple(
        (
            account.guideline,
            ", ".join(title_of(evidence.study, name) for name in account.annotators) or "nobody",
            account.planned,
            account.labelled.n,
            ", ".join(f"{figures.count(part.n)} {part.words}" for part in account.unmeasured) or "0",
        )
        for account in accounts
    )
    count = ColumnKind.COUNT
    return Table(
        title="Completeness",
        columns=(
            Column("Guideline"),
            Column("Labelled by"),
            Column("Planned", count),
            Column("Labelled", count),
            Column("Excluded"),
        ),
        rows=rows,
    )


def _measure_table(study: Study, measure: Measure, listed: Sequence[Measurement]) -> Table:
    """Return the estimates of one measure; unused parts of the subject are omitted."""
    subjects = [_subject_cells(study, measurement) for measurement in listed]
    used = [name for name in subjects[0] if any(subject[name] for subject in subjects)]
    kind = _KINDS.get(measure, ColumnKind.RATE)
    rows = tuple(
        (
            *(subject[name] for name in used),
            measurement.result,
            measurement.result.n,
            _unmeasured(measurement.outcomes),
            measurement.result.method or "none",
        )
        for subject, measurement in zip(subjects, listed, strict=True)
    )
    title = _TITLES.get(measure, measure.value.replace("_", " ").capitalize())
    return Table(
        title=title,
        columns=(
            *columns(*used),
            Column("Value (interval)", kind),
            Column("n", ColumnKind.COUNT),
            *columns("Excluded", "Method"),
        ),
        rows=rows,
        notes=_confidence_note(listed),
    )


def _subject_cells(study: Study, measurement: Measurement) -> dict[str, str]:
    subject = measurement.subject
    groups = (*subject.among, *((subject.group,) if subject.group else ()))
    statistic = measurement.statistic.value if measurement.statistic else ""
    return {
        "Application": "" if subject.application == ALL_APPLICATIONS else subject.application,
        "Guideline": subject.guideline,
        "Rule": subject.rule,
        "Question": subject.question,
        "Label": subject.label,
        "Annotators": ", ".join(title_of(study, name) for name in subject.annotators),
        "Among": ", ".join(f"{group.name} = {group.value}" for group in groups),
        "Scenario": subject.scenario,
        "Level": subject.test_setting,
        "Form": " ".join(filter(None, (weighting_text(measurement), statistic, subject.attempt, subject.repetition))),
    }


def _unmeasured(outcomes: Outcomes) -> str:
    parts = {
        "missing": outcomes.missing,
        "failed": outcomes.failed,
        "refused": outcomes.refused,
        "unparseable": outcomes.unparseable,
        "not applicable": outcomes.not_applicable,
    }
    return ", ".join(f"{figures.count(n)} {name}" for name, n in parts.items() if n) or "0"


def _confidence_note(listed: Sequence[Measurement]) -> tuple[str, ...]:
    levels = sorted(
        {
            measurement.result.confidence
            for measurement in listed
            if isinstance(measurement.result, Estimate) and measurement.result.method
        }
    )
    return (f"Confidence of the intervals: {', '.join(f'{100 * level:g}%' for level in levels)}.",) if levels else ()


def _trees(findings: Findings) -> Iterator[Table]:
    for name in dict.fromkeys(finding.design.name for finding in findings.trees):
        rows = tuple(
            (finding.application, node.node, node.result, node.result.n, _unmeasured(node.outcomes))
            for finding in findings.trees
            if finding.design.name == name
            for node in finding.nodes
        )
        yield Table(
            title=f"Measurement tree {name}",
            columns=(
                *columns("Application", "Node"),
                Column("Value (interval)", ColumnKind.COEFFICIENT),
                Column("n", ColumnKind.COUNT),
                *columns("Excluded"),
            ),
            rows=rows,
        )


def markdown_lines(tables: Sequence[Table], *, title: str) -> Iterator[str]:
    """Yield tables as GitHub-flavoured Markdown, line by line."""
    yield f"# {_markdown(title)}\n"
    for table in tables:
        yield f"\n## {_markdown(table.title)}\n\n"
        yield _row(column.title for column in table.columns)
        yield _row("---:" if column.kind is ColumnKind.COUNT else "---" for column in table.columns)
        for row in table.texts:
            yield _row(_markdown(text) for text in row)
        for note in table.notes:
            yield f"\n{_markdown(note)}\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


def latex_lines(tables: Sequence[Table], *, title: str) -> Iterator[str]:
    """Yield tables as LaTeX for the packages `booktabs` and `longtable`, line by line."""
    yield f"% {title.splitlines()[0] if title else ''}\n% \\usepackage{{booktabs,longtable}}\n"
    for table in tables:
        yield from _latex_table(table)


def _latex_table(table: Table) -> Iterator[str]:
    heads = " & ".join(_latex(column.title) for column in table.columns)
    kinds = "".join("r" if column.kind is ColumnKind.COUNT else "l" for column in table.columns)
    yield f"\n\\begin{{longtable}}{{{kinds}}}\n\\caption{{{_latex(table.title)}}}\\\\\n"
    yield f"\\toprule\n{heads} \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n"
    for row in table.texts:
        yield f"{' & '.join(_latex(text) for text in row)} \\\\\n"
    yield "\\end{longtable}\n"
    for note in table.notes:
        yield f"{_latex(note)}\n"


def _latex(text: str) -> str:
    return text.translate(_LATEX)
