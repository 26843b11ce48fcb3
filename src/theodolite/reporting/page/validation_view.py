"""Validation reports of judges as the page shows them, with what is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Measurement
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.identity import SHORT
from theodolite.domain.validation_report import ValidationReport
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words.certificates import (
    MOST_APART,
    amount_text,
    coefficient_text,
    is_beside_judge,
    points_text,
    rules_of_report,
    share_text,
    unreadable_text,
    weighting_text,
)

_AGREEMENT = (
    Measure.EXACT_AGREEMENT,
    Measure.RELAXED_AGREEMENT,
    Measure.COHEN_KAPPA,
    Measure.GWET_AC,
    Measure.KRIPPENDORFF_ALPHA,
    Measure.MACRO_F1,
)
_OF_LABELS = (Measure.CLASS_PRECISION, Measure.CLASS_RECALL, Measure.CLASS_F1)
_ACCURACY = (
    Measure.JUDGE_SENSITIVITY,
    Measure.JUDGE_SPECIFICITY,
    Measure.JUDGE_PRECISION,
    Measure.JUDGE_BIAS,
    Measure.CORRECTED_RATE,
)
_MANNERS = (
    Measure.UNPARSEABLE_SHARE,
    Measure.REFUSED_SHARE,
    Measure.REFUSED_DEFECTS,
    Measure.UNGROUNDED_SHARE,
    Measure.CONTROL_FAILED_SHARE,
    Measure.FLIP_RATE,
    Measure.RETEST_ALPHA,
    Measure.ORDER_CONSISTENT,
    Measure.PREFERS_FIRST,
    Measure.LENGTH_BIAS,
    Measure.VERDICTS_TURNED,
)
_CROWD = (Measure.AGREEMENT_WITH_PEOPLE, Measure.AGREEMENT_AMONG_PEOPLE, Measure.NEARER_THAN_PEOPLE)
_COEFFICIENTS = (
    Measure.COHEN_KAPPA,
    Measure.GWET_AC,
    Measure.KRIPPENDORFF_ALPHA,
    Measure.RETEST_ALPHA,
    Measure.LENGTH_BIAS,
    Measure.CROSS_AGREEMENT,
    Measure.MACRO_F1,
    Measure.CLASS_F1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTable:
    """Figures of a judge beside one authority: a row a part of the dialogues, a column a measure."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationView:
    """One validation report.

    Attributes:
        judge: What people call the judge.
        guideline: Name of the guideline.
        version: First characters of the judge's content hash.
        issued: Day and time, in words.
        about: What it rests on, as a sentence.
        tables: Agreement and accuracy.
        manners: Name and value of what does not hang on the verdict.
        lacking: What is not known.
    """

    judge: str
    guideline: str
    version: str
    issued: str
    about: str
    tables: tuple[FigureTable, ...]
    manners: tuple[tuple[str, str], ...]
    lacking: tuple[str, ...]


def validation_views(subject: Subject) -> tuple[ValidationView, ...]:
    """Return the validation reports of the current versions of the study's judges."""
    return tuple(_view(subject, one) for one in subject.evidence.validation_reports)


def _view(subject: Subject, report: ValidationReport) -> ValidationView:
    people = report.authorities
    names = ", ".join(title_of(subject.study, name) for name in people)
    names = names if len(people) <= MOST_APART else f"{len(people)} people one by one"
    return ValidationView(
        judge=title_of(subject.study, report.judge),
        guideline=report.guideline,
        version=report.judge_version[:SHORT],
        issued=f"{report.issued:%Y-%m-%d %H:%M} UTC",
        about=f"{report.labelled:,} of {report.judged:,} judged dialogues, compared with {names}.",
        tables=tuple(_tables(subject, report)),
        manners=tuple(_manners(subject, report)),
        lacking=report.lacking,
    )


def _tables(subject: Subject, report: ValidationReport) -> Iterator[FigureTable]:
    if len(report.authorities) > MOST_APART:
        yield from _against_many(subject, report)
    for authority in report.authorities if len(report.authorities) <= MOST_APART else ():
        own = [one for one in report.measurements if _is_of(one, authority)]
        name = title_of(subject.study, authority)
        plain = [one for one in own if not one.subject.rule]
        yield _table(subject, f"Agreement with {name}", plain, _AGREEMENT)
        of_labels = [one for one in plain if one.measure in _OF_LABELS and one.application == ALL_APPLICATIONS]
        if of_labels:
            yield _table(subject, f"Each label of {name}", of_labels, _OF_LABELS)
        for rule in rules_of_report(report):
            by_rule = [one for one in own if one.subject.rule == rule]
            yield _table(subject, f"Defects ({rule}) against {name}", by_rule, _ACCURACY)
    ceiling = [one for one in report.measurements if one.subject.is_human_ceiling and one.subject.authority]
    for pair in dict.fromkeys(one.subject.annotators for one in ceiling):
        names = " and ".join(title_of(subject.study, name) for name in pair)
        found = [one for one in ceiling if one.subject.annotators == pair]
        yield _table(subject, f"The ceiling: agreement of {names}", found, _AGREEMENT)
    beside = [one for one in report.measurements if is_beside_judge(report, one)]
    if beside:
        yield _each(subject, "Agreement with each other judge", beside, _AGREEMENT)
    yield from _by_group(subject, report)


def _against_many(subject: Subject, report: ValidationReport) -> Iterator[FigureTable]:
    """Yield one table of agreement and one a rule, a row a person, where people are many; parts are in the data."""
    wide = [
        one
        for name in report.authorities
        for one in report.measurements
        if _is_of(one, name) and one.application == ALL_APPLICATIONS and not one.subject.is_part
    ]
    yield _each(subject, "Agreement with each person", [one for one in wide if not one.subject.rule], _AGREEMENT)
    for rule in rules_of_report(report):
        by_rule = [one for one in wide if one.subject.rule == rule]
        yield _each(subject, f"Defects ({rule}) against each person", by_rule, _ACCURACY)
    crowd = [one for one in report.measurements if one.measure in _CROWD]
    if crowd:
        yield _table(subject, "The ceiling: how near people come to each other", crowd, _CROWD)


def _each(subject: Subject, title: str, found: Sequence[Measurement], measures: Sequence[Measure]) -> FigureTable:
    columns = [measure for measure in measures if any(one.measure == measure for one in found)]
    cells = {(one.subject.authority, one.measure): _text(one) for one in found}
    people = dict.fromkeys(one.subject.authority for one in found)
    return FigureTable(
        title=title,
        columns=tuple(_column(subject, measure, found) for measure in columns),
        rows=tuple(
            (title_of(subject.study, name), tuple(cells.get((name, column), "") for column in columns))
            for name in people
        ),
    )


def _by_group(subject: Subject, report: ValidationReport) -> Iterator[FigureTable]:
    found = [one for one in report.measurements if one.measure is Measure.CROSS_AGREEMENT]
    if found:
        yield _table(
            subject, "Agreement with the groups that people describe themselves by", found, (Measure.CROSS_AGREEMENT,)
        )


def _is_of(one: Measurement, authority: str) -> bool:
    subject = one.subject
    return subject.authority == authority and not subject.is_human_ceiling and one.measure not in _MANNERS


def _table(subject: Subject, title: str, found: Sequence[Measurement], measures: Sequence[Measure]) -> FigureTable:
    columns = [measure for measure in measures if any(one.measure == measure for one in found)]
    cells = {(_part(one), one.measure): _text(one) for one in found}
    parts = dict.fromkeys(_part(one) for one in found)
    return FigureTable(
        title=title,
        columns=tuple(_column(subject, measure, found) for measure in columns),
        rows=tuple((part, tuple(cells.get((part, column), "") for column in columns)) for part in parts),
    )


def _column(subject: Subject, measure: Measure, found: Sequence[Measurement]) -> str:
    """Return the title of a measure, with the weighting of a coefficient."""
    title = subject.words.measure(measure).title
    weighting = next((weighting_text(one) for one in found if one.measure is measure), "")
    return f"{title} ({weighting})" if weighting else title


def _part(one: Measurement) -> str:
    """Return what part of the dialogues, or which label, a figure is about."""
    subject = one.subject
    if subject.label:
        return subject.label
    people = f" ({subject.n_people} people)" if subject.n_people is not None else ""
    if subject.scenario:
        return f"scenario: {subject.scenario}{people}"
    group = subject.group or subject.annotator_group
    return f"{group.name}: {group.value}{people}" if group else one.application


def _text(one: Measurement) -> str:
    if one.measure in _COEFFICIENTS:
        return coefficient_text(one.result)
    if one.measure in _CROWD[:2]:
        return share_text(one.result)
    if one.measure in {Measure.JUDGE_BIAS, _CROWD[2]}:
        return points_text(one.result)
    left_out = unreadable_text(one) if one.measure is Measure.EXACT_AGREEMENT else ""
    return f"{amount_text(one.result)}{f'; {left_out}' if left_out else ''}"


def _manners(subject: Subject, report: ValidationReport) -> Iterator[tuple[str, str]]:
    for one in report.measurements:
        whole = one.application == ALL_APPLICATIONS and not one.subject.is_part
        if one.measure in _MANNERS and whole:
            authority = one.subject.authority
            against = f"against {title_of(subject.study, authority)}" if authority else ""
            named = [one.subject.attempt, one.subject.rule, one.subject.repetition]
            tail = ", ".join(words for words in [*named, against] if words)
            title = subject.words.measure(one.measure).title
            yield f"{title} ({tail})" if tail else title, _text(one)
