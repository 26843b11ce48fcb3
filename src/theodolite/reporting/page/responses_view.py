"""Testers' responses, as the page shows them: levels apart, applications side by side, never a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.responses import AnswerContrast, AnswerSpread, ResponseFinding
from theodolite.domain.findings.significance import Significance
from theodolite.domain.instrument import Question
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCell:
    """The answers to one question about one application.

    Attributes:
        counts: Label and how many gave it, in words, e.g. `7: 3`; those that nobody gave are left out.
        middle: Median and quartiles, in words; empty where the labels have no order.
        top: Share of the highest labels with its interval; likewise.
        left_out: What is not in it, in words; empty for nothing.
    """

    counts: tuple[str, ...]
    middle: str = ""
    top: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTable:
    """One questionnaire at one level for one group of testers.

    Attributes:
        caption: Whose answers they are.
        applications: Columns.
        rows: A question with one cell an application; None where nobody answered about it.
    """

    caption: str
    applications: tuple[str, ...]
    rows: tuple[tuple[str, tuple[AnswerCell | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBlock:
    """One questionnaire at one level.

    Attributes:
        title: Level and heading.
        about: How many answered, and what is left out.
        table: All testers.
        groups: One table a group.
        contrasts: Question, the two sides, and what the test says.
    """

    title: str
    about: str
    table: ResponseTable
    groups: tuple[ResponseTable, ...]
    contrasts: tuple[tuple[str, str, str], ...]


def response_blocks(subject: Subject) -> tuple[ResponseBlock, ...]:
    """Return one block for each questionnaire and level that testers answered at."""
    return tuple(_block(finding) for finding in subject.findings.responses)


def _block(finding: ResponseFinding) -> ResponseBlock:
    groups = dict.fromkeys(spread.group for spread in finding.spreads if spread.group)
    return ResponseBlock(
        title=f"{finding.level.value.capitalize()}: {finding.questionnaire}",
        about=_about(finding),
        table=_table(finding, (), "All testers"),
        groups=tuple(_table(finding, group, ": ".join(group)) for group in groups),
        contrasts=tuple(_contrast(finding.questions, contrast) for contrast in finding.contrasts),
    )


def _about(finding: ResponseFinding) -> str:
    people = figures.number_of(finding.n_people, "tester")
    left = [(finding.n_drafts, "not handed in"), (finding.n_other, "to another version of the questions")]
    words = "; ".join(f"{figures.count(n)} {why}, not in it" for n, why in left if n)
    return f"{figures.number_of(finding.n, 'response')} of {people}{'; ' + words if words else ''}."


def _table(finding: ResponseFinding, group: tuple[str, str] | tuple[()], caption: str) -> ResponseTable:
    spreads = {(one.question, one.application): one for one in finding.spreads if one.group == group}
    applications = tuple(dict.fromkeys(application for _, application in spreads))
    rows = tuple(
        (question.text, tuple(_cell(spreads.get((question.name, application))) for application in applications))
        for question in finding.questions
    )
    return ResponseTable(caption=caption, applications=applications, rows=rows)


def _cell(spread: AnswerSpread | None) -> AnswerCell | None:
    if spread is None:
        return None
    left = "; ".join(f"{figures.count(n)} {outcome.value}" for outcome, n in spread.outcomes.items() if n)
    written = (f"{figures.count(len(spread.texts))} in own words",) if spread.texts else ()
    return AnswerCell(
        counts=written or tuple(f"{label}: {figures.count(n)}" for label, n in spread.counts.items() if n),
        middle=_middle(spread.quartiles),
        top=_top(spread),
        left_out=left,
    )


def _middle(quartiles: Sequence[str] | None) -> str:
    return f"median {quartiles[1]} (quartiles {quartiles[0]} and {quartiles[2]})" if quartiles else ""


def _top(spread: AnswerSpread) -> str:
    top = spread.top
    if not isinstance(top, Estimate) or top.count is None:
        return ""
    bounds = "" if top.low is None or top.high is None else f", {100 * top.low:.0f} to {100 * top.high:.0f} %"
    labels = " or ".join(spread.top_labels)
    if top.n < figures.FEW:
        return f"{labels}: {figures.count(top.count)} of {figures.count(top.n)}"
    return f"{labels}: {figures.count(top.count)} of {figures.count(top.n)} ({figures.percent(top.value)}{bounds})"


def _contrast(questions: Iterable[Question], contrast: AnswerContrast) -> tuple[str, str, str]:
    text = next(question.text for question in questions if question.name == contrast.question)
    sides = f"{contrast.first} and {contrast.second}"
    sides = sides if contrast.by == "application" else f"{contrast.by}: {sides}"
    return text, sides, comparison_words(contrast.test, contrast.adjusted_p_value, "tester")


def comparison_words(test: Significance | Undefined, adjusted_p_value: float | None, unit: str) -> str:
    """Return a test and its p-values in words; `unit` is what it counts once."""
    if isinstance(test, Undefined):
        return f"undefined: {test.reason.rstrip('.')}"
    adjusted = "" if adjusted_p_value is None else f", adjusted {adjusted_p_value:.3f}"
    effect = "" if test.effect is None else f"; effect {test.effect:+.2f}"
    return f"p {test.p_value:.3f}{adjusted}{effect}; {figures.number_of(test.n_clusters or 0, unit)}, {test.method}"
