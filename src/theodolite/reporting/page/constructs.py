"""Users and the content in the report: answers of testers and labels of annotators by construct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.findings.responses import ConstructAnswers
from theodolite.domain.instrument import Construct
from theodolite.reporting.page.charts import Chart
from theodolite.reporting.page.distributions import spread_chart
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.page.testers import quartiles_text, theme_table
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import rate_text

_CONSTRUCTS = {
    Construct.PERCEIVE: ("Perceive", "How users see the content."),
    Construct.MAKE_SENSE: ("Make sense", "How users understand the content, and relate it to their task."),
    Construct.ADAPT: ("Adapt", "How users change what they write because of the content."),
    Construct.ACT: ("Act", "What users do, or intend to do, because of the content."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructBlock:
    """The answers that show one construct.

    Attributes:
        title: Name of the construct.
        about: Its meaning in one sentence.
        charts: Answers to each question with ordered labels, over all scenarios.
        table: Every question, application and scenario.
        themes: Codes of free-text answers to its questions; None without any.
    """

    title: str
    about: str
    charts: tuple[Chart, ...]
    table: Table
    themes: Table | None


def construct_blocks(subject: Subject) -> tuple[ConstructBlock, ...]:
    """Return one block for each construct with answers of testers or annotators."""
    by_construct = {
        construct: [answers for answers in subject.findings.constructs if answers.construct is construct]
        for construct in Construct
    }
    return tuple(_construct_block(subject, construct, result) for construct, result in by_construct.items() if result)


def _construct_block(subject: Subject, construct: Construct, found: Sequence[ConstructAnswers]) -> ConstructBlock:
    title, about = _CONSTRUCTS[construct]
    has_scenarios = any(answers.scenario for answers in found)
    questions = {(answers.instrument, answers.question.name) for answers in found if not answers.annotator}
    shares = [
        share
        for finding in subject.findings.codings
        if (finding.questionnaire, finding.question) in questions and finding.n_coders > 1
        for share in finding.themes
        if not share.group
    ]
    return ConstructBlock(
        title=title,
        about=about,
        charts=_construct_charts(subject, found),
        table=Table(
            title=f"{title}: answers",
            columns=columns(
                "Question",
                "Application",
                *(["Scenario"] if has_scenarios else []),
                "Answers",
                "Highest answers",
                "Median (quartiles)",
                "n",
                "Missing",
            ),
            rows=tuple(_construct_rows(subject, found, has_scenarios=has_scenarios)),
        ),
        themes=theme_table(f"{title}: themes of free-text answers", shares),
    )


def _construct_charts(subject: Subject, found: Sequence[ConstructAnswers]) -> tuple[Chart, ...]:
    whole = [answers for answers in found if not answers.scenario]
    keys = dict.fromkeys(
        (
            construct_answers.instrument,
            construct_answers.annotator,
            construct_answers.level,
            construct_answers.question.name,
        )
        for construct_answers in whole
    )
    charts = []
    for key in keys:
        own = [
            construct_answers
            for construct_answers in whole
            if (
                construct_answers.instrument,
                construct_answers.annotator,
                construct_answers.level,
                construct_answers.question.name,
            )
            == key
        ]
        about = f"{own[0].level.value}, {_answered_by(subject, own[0])}"
        chart = spread_chart(own[0].question, [construct_answers.spread for construct_answers in own], about)
        if chart is not None:  # the chart of the same question among all answers has the question alone as its title
            charts.append(replace(chart, title=f"{chart.title} ({about})"))
    return tuple(charts)


def _answered_by(subject: Subject, answers: ConstructAnswers) -> str:
    return title_of(subject.study, answers.annotator) if answers.annotator else "testers"


def _construct_rows(
    subject: Subject, found: Sequence[ConstructAnswers], *, has_scenarios: bool
) -> Iterator[Sequence[Value | TableCell]]:
    """Yield a row for each question, application and scenario; a question has one cell for its rows."""
    keys = [(answers.instrument, answers.annotator, answers.level, answers.question.name) for answers in found]
    for index, one in enumerate(found):
        is_first = index == 0 or keys[index] != keys[index - 1]
        span = next((n for n, key in enumerate(keys[index:]) if key != keys[index]), len(keys) - index)
        question_text = one.question.text or one.question.name
        by = f"{_answered_by(subject, one)}, {one.level.value}"
        yield (
            TableCell(value=question_text, details=(by,), span=span if is_first else 0),
            one.application,
            *([one.scenario or "all"] if has_scenarios else []),
            *_answer_cells(one),
        )


def _answer_cells(answers: ConstructAnswers) -> tuple[str, ...]:
    """Return the distribution, the share of the highest answers, the median, n and missing answers."""
    spread, unit = answers.spread, "dialogue" if answers.annotator else "tester"
    counts = ", ".join(f"{label}: {figures.count(n)}" for label, n in spread.counts.items() if n)
    written = f"{figures.count(len(spread.texts))} in own words" if spread.texts else ""
    return (
        written or counts or "none",
        f"{' or '.join(spread.top_labels)}: {rate_text(spread.top)}" if spread.top is not None and spread.n else "",
        quartiles_text(spread.quartiles).removeprefix("median ") if len(spread.counts) > 2 else "",
        f"{figures.count(spread.n)} from {figures.number_of(answers.n_clusters, unit)}",
        ", ".join(f"{figures.count(n)} {outcome.value}" for outcome, n in spread.outcomes.items() if n) or "none",
    )
