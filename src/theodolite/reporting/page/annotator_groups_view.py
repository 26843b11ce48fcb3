"""Agreement of annotators' groups, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.agreeing import AnnotatorGroups, GroupAgreement, GroupDefects
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures
from theodolite.reporting.words.certificates import share_text


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsTable:
    """One attribute that people describe themselves by, on one question.

    Attributes:
        title: Attribute, question and application.
        note: Who is in no row; empty where everybody is in one.
        rows: Group and people, agreement within, across, and their ratio; in words.
        rules: Defect rules of the question.
        defects: Group, and how often it sees a defect by each rule; in words.
        gaps: How far groups lie apart on each rule, in words.
    """

    title: str
    note: str
    rows: tuple[tuple[str, str, str, str], ...]
    rules: tuple[str, ...] = ()
    defects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RatersTable:
    """The annotators of one question, as models of raters see them.

    Attributes:
        title: Question and application.
        rows: Annotator, labels, fit, and share that is no guess; in words.
    """

    title: str
    rows: tuple[tuple[str, str, str, str], ...]


def group_tables(subject: Subject) -> tuple[GroupsTable, ...]:
    """Return one table for each question, application and attribute by which people differ."""
    return tuple(_table(found) for found in subject.findings.annotator_groups)


def rater_tables(subject: Subject) -> tuple[RatersTable, ...]:
    """Return one table for each question and application that three annotators or more answered."""
    return tuple(
        RatersTable(
            title=f"{found.guideline}, {found.question}, {found.application}:"
            f" {figures.number_of(found.dialogues, 'dialogue')}",
            rows=tuple(
                (
                    title_of(subject.study, one.annotator),
                    figures.count(one.labels),
                    figures.coefficient(one.fit),
                    figures.coefficient(one.looks),
                )
                for one in found.raters
            ),
        )
        for found in subject.findings.raters
    )


def _table(found: AnnotatorGroups) -> GroupsTable:
    unknown = f"{figures.number_of(found.n_unknown, 'person', 'people')} did not say" if found.n_unknown else ""
    small = figures.number_of(found.n_in_small, "person is", "people are")
    small = f"{small} in groups of fewer than three, which are not named" if found.n_in_small else ""
    note = "; ".join(filter(None, (unknown, small)))
    return GroupsTable(
        title=f"By {found.attribute}: {found.guideline}, {found.question}, {found.application}",
        note=f"{note}." if note else "",
        rows=tuple(_row(group) for group in found.groups),
        rules=tuple(rule.rule for rule in found.defects),
        defects=tuple(
            (group.group, tuple(_rate(rule, group.group) for rule in found.defects)) for group in found.groups
        ),
        gaps=tuple(_gap(rule) for rule in found.defects if rule.gap is not None),
    )


def _rate(found: GroupDefects, group: str) -> str:
    rate = dict(found.rates).get(group)
    return share_text(rate) if rate is not None else ""


def _gap(found: GroupDefects) -> str:
    p = "" if found.adjusted_p_value is None else f", adjusted p {figures.coefficient(found.adjusted_p_value)}"
    return f"{found.rule}: highest minus lowest {100 * (found.gap or 0.0):.1f} points{p}."


def _row(group: GroupAgreement) -> tuple[str, str, str, str]:
    people = figures.number_of(group.n_raters, "person", "people")
    return f"{group.group} ({people})", _number(group.within), _number(group.across), _ratio(group)


def _number(result: Estimate | Undefined) -> str:
    if isinstance(result, Undefined):
        return f"unknown: {result.reason}"
    value = figures.coefficient(result.value)
    if result.low is None or result.high is None:
        return value
    return f"{value} ({figures.coefficient(result.low)} to {figures.coefficient(result.high)})"


def _ratio(group: GroupAgreement) -> str:
    if group.ratio is None or group.adjusted_p_value is None:
        return "unknown"
    return f"{figures.coefficient(group.ratio)}, adjusted p {figures.coefficient(group.adjusted_p_value)}"
