"""Judges and annotators in the report: behaviour, validation, groups of people, rater models and order effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from theodolite.domain.estimate import Measurement, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.findings.agreement import (
    AnnotatorGroups,
    GroupAgreement,
    GroupDefects,
    JudgeDiagnostics,
    VoteRecord,
)
from theodolite.domain.findings.order import OrderEffect, OrderFactor
from theodolite.domain.identity import SHORT
from theodolite.domain.undefined_reasons import UNDEFINED
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Column, ColumnKind, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import (
    MOST_APART,
    compares_judges,
    rules_of_report,
    unreadable_text,
    weighting_text,
)
from theodolite.reporting.words.order_metrics import SUGGESTION_NOTE, shift_text, side_text

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
_BEHAVIOUR = (
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
_AMONG_MANY = (Measure.AGREEMENT_WITH_PEOPLE, Measure.AGREEMENT_AMONG_PEOPLE, Measure.NEARER_THAN_PEOPLE)
_KINDS = {
    Measure.COHEN_KAPPA: ColumnKind.COEFFICIENT,
    Measure.GWET_AC: ColumnKind.COEFFICIENT,
    Measure.KRIPPENDORFF_ALPHA: ColumnKind.COEFFICIENT,
    Measure.RETEST_ALPHA: ColumnKind.COEFFICIENT,
    Measure.LENGTH_BIAS: ColumnKind.COEFFICIENT,
    Measure.CROSS_AGREEMENT: ColumnKind.COEFFICIENT,
    Measure.MACRO_F1: ColumnKind.COEFFICIENT,
    Measure.CLASS_F1: ColumnKind.COEFFICIENT,
    Measure.AGREEMENT_WITH_PEOPLE: ColumnKind.SHARE,
    Measure.AGREEMENT_AMONG_PEOPLE: ColumnKind.SHARE,
    Measure.NEARER_THAN_PEOPLE: ColumnKind.DIFFERENCE,
    Measure.JUDGE_BIAS: ColumnKind.DIFFERENCE,
}


def diagnostics_tables(subject: Subject) -> tuple[Table, ...]:
    """Return the behaviour of judges beyond their labels: grounds of verdicts, and votes."""
    diagnostics = subject.findings.judge_diagnostics
    grounds = [_ground_cells(subject, d) for d in diagnostics if not d.scripted and (d.quoting or _n_calls(d))]
    votes = [_vote_cells(subject, d, d.votes) for d in diagnostics if d.votes]
    tables = (("What verdicts rest on", _GROUNDS, grounds), ("Votes", _VOTES, votes))
    return tuple(
        Table(title=title, caption=title, columns=headings, rows=tuple(rows), style="agreement")
        for title, headings, rows in tables
        if rows
    )


_GROUNDS = columns(
    "Judge",
    "Application",
    Column("Verdicts", ColumnKind.COUNT),
    "Quote words that are not there",
    "Control question wrong",
    "Control question left out",
    "Answers as",
)

_VOTES = columns(
    "Judge",
    "Application",
    "Calls a dialogue",
    "Readings differ",
    "No majority",
    Column("Contradicts itself", ColumnKind.COEFFICIENT),
    Column("Retest alpha", ColumnKind.COEFFICIENT),
    Column("Rate by single readings", ColumnKind.RATE),
    Column("Rate by majorities", ColumnKind.RATE),
)


def _n_calls(judge: JudgeDiagnostics) -> int:
    return judge.control_passed + len(judge.control_failed) + judge.control_unanswered


def _ground_cells(subject: Subject, judge: JudgeDiagnostics) -> tuple[Value | TableCell, ...]:
    n_calls = _n_calls(judge)
    return (
        title_of(subject.study, judge.annotator),
        judge.application,
        judge.verdicts,
        _share(subject, judge, "ungrounded", judge.ungrounded, judge.quoting),
        _share(subject, judge, "control", judge.control_failed, n_calls),
        figures.share(judge.control_unanswered, n_calls) if n_calls else "not asked",
        ", ".join(judge.answered_as) or "no name given",
    )


def _vote_cells(subject: Subject, judge: JudgeDiagnostics, votes: VoteRecord) -> tuple[Value | TableCell, ...]:
    return (
        title_of(subject.study, judge.annotator),
        judge.application,
        f"{votes.cast / votes.dialogues:.1f} of {votes.voting.most}",
        _share(subject, judge, "split", votes.split, votes.dialogues),
        _share(subject, judge, "tied", votes.tied, votes.dialogues),
        votes.flip_rate,
        votes.retest_alpha,
        votes.by_single_votes,
        votes.by_majorities,
    )


def _share(subject: Subject, judge: JudgeDiagnostics, aspect: str, labels: Sequence[str], of: int) -> TableCell:
    if not of:
        return TableCell(value=_NONE[aspect])
    name = f"diagnostics-{aspect}-{judge.annotator}-{judge.application}"
    title = f"{title_of(subject.study, judge.annotator)} on {judge.application}: {_TITLES[aspect]}"
    opens = subject.sets.add(name, title, [case.index for case in subject.labelled(labels)]) if labels else ""
    return TableCell(value=figures.share(len(labels), of), opens=opens)


_NONE = {"ungrounded": "no quotes", "control": "not asked", "split": "no votes", "tied": "no votes"}

_TITLES = {
    "ungrounded": "quotes words that are not there",
    "control": "control question wrong",
    "split": "readings differ",
    "tied": "no majority",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationView:
    """One validation report.

    Attributes:
        judge: Title of the judge.
        guideline: Name of the guideline.
        version: First characters of the judge's content hash.
        issued: Day and time.
        about: Its labels, as a sentence.
        tables: Agreement, accuracy and behaviour.
        limitations: Unknown or uncertain facts.
    """

    judge: str
    guideline: str
    version: str
    issued: str
    about: str
    tables: tuple[Table, ...]
    limitations: tuple[str, ...]


def validation_views(subject: Subject) -> tuple[ValidationView, ...]:
    """Return the validation reports of the current versions of the study's judges."""
    return tuple(_validation(subject, report) for report in subject.evidence.validation_reports)


def _validation(subject: Subject, report: ValidationReport) -> ValidationView:
    people = report.authorities
    names = ", ".join(title_of(subject.study, name) for name in people)
    names = names if len(people) <= MOST_APART else f"{len(people)} people one by one"
    return ValidationView(
        judge=title_of(subject.study, report.judge),
        guideline=report.guideline,
        version=report.judge_version[:SHORT],
        issued=f"{report.issued:%Y-%m-%d %H:%M} UTC",
        about=f"{report.labelled:,} of {report.judged:,} judged dialogues, compared with {names}.",
        tables=(*_validation_tables(subject, report), *_behaviour(subject, report)),
        limitations=report.lacking,
    )


def _validation_tables(subject: Subject, report: ValidationReport) -> Iterator[Table]:
    if len(report.authorities) > MOST_APART:
        yield from _against_many(subject, report)
    for authority in report.authorities if len(report.authorities) <= MOST_APART else ():
        own = [entry for entry in report.measurements if _is_of(entry, authority)]
        name = title_of(subject.study, authority)
        plain = [entry for entry in own if not entry.subject.rule]
        yield _by_part(subject, f"Agreement with {name}", plain, _AGREEMENT)
        of_labels = [m for m in plain if m.measure in _OF_LABELS and m.application == ALL_APPLICATIONS]
        if of_labels:
            yield _by_part(subject, f"Each label of {name}", of_labels, _OF_LABELS)
        for rule in rules_of_report(report):
            by_rule = [entry for entry in own if entry.subject.rule == rule]
            yield _by_part(subject, f"Defects ({rule}) against {name}", by_rule, _ACCURACY)
    ceiling = [m for m in report.measurements if m.subject.is_human_ceiling and m.subject.authority]
    for pair in dict.fromkeys(entry.subject.annotators for entry in ceiling):
        names = " and ".join(title_of(subject.study, name) for name in pair)
        of_pair = [entry for entry in ceiling if entry.subject.annotators == pair]
        yield _by_part(subject, f"The ceiling: agreement of {names}", of_pair, _AGREEMENT)
    judges = [entry for entry in report.measurements if compares_judges(report, entry)]
    if judges:
        yield _by_person(subject, "Agreement with each other judge", judges, _AGREEMENT)
    groups = [entry for entry in report.measurements if entry.measure is Measure.CROSS_AGREEMENT]
    if groups:
        title = "Agreement with the groups that people describe themselves by"
        yield _by_part(subject, title, groups, (Measure.CROSS_AGREEMENT,))


def _against_many(subject: Subject, report: ValidationReport) -> Iterator[Table]:
    """Yield one table of agreement and one for each rule, with a row for each of many people."""
    wide = [
        entry
        for name in report.authorities
        for entry in report.measurements
        if _is_of(entry, name) and entry.application == ALL_APPLICATIONS and not entry.subject.is_part
    ]
    plain = [entry for entry in wide if not entry.subject.rule]
    yield _by_person(subject, "Agreement with each person", plain, _AGREEMENT)
    for rule in rules_of_report(report):
        by_rule = [entry for entry in wide if entry.subject.rule == rule]
        yield _by_person(subject, f"Defects ({rule}) against each person", by_rule, _ACCURACY)
    among = [entry for entry in report.measurements if entry.measure in _AMONG_MANY]
    if among:
        yield _by_part(subject, "The ceiling: how near people come to each other", among, _AMONG_MANY)


def _is_of(measurement: Measurement, authority: str) -> bool:
    subject = measurement.subject
    return subject.authority == authority and not subject.is_human_ceiling and measurement.measure not in _BEHAVIOUR


def _by_part(subject: Subject, title: str, entries: Sequence[Measurement], measures: Sequence[Measure]) -> Table:
    return _validation_table(subject, title, [(_part(entry), entry) for entry in entries], measures)


def _by_person(subject: Subject, title: str, entries: Sequence[Measurement], measures: Sequence[Measure]) -> Table:
    named = [(title_of(subject.study, entry.subject.authority), entry) for entry in entries]
    return _validation_table(subject, title, named, measures)


def _validation_table(
    subject: Subject, title: str, named: Sequence[tuple[str, Measurement]], measures: Sequence[Measure]
) -> Table:
    shown = [measure for measure in measures if any(entry.measure == measure for _, entry in named)]
    cells = {(name, entry.measure): _validation_cell(entry) for name, entry in named}
    return Table(
        title=title,
        caption=title,
        columns=columns("Dialogues", *(_column(subject, measure, [m for _, m in named]) for measure in shown)),
        rows=tuple(
            (name, *(cells.get((name, measure), "") for measure in shown))
            for name in dict.fromkeys(name for name, _ in named)
        ),
        style="groups figures",
    )


def _column(subject: Subject, measure: Measure, entries: Sequence[Measurement]) -> Column:
    """Return the column of a measure, with the weighting of a coefficient."""
    title = subject.words.measure(measure).title
    weighting = next((weighting_text(entry) for entry in entries if entry.measure is measure), "")
    return Column(f"{title} ({weighting})" if weighting else title, _KINDS.get(measure, ColumnKind.RATE))


def _part(measurement: Measurement) -> str:
    """Return the dialogues, or the label, that a figure describes."""
    subject = measurement.subject
    if subject.label:
        return subject.label
    people = f" ({subject.n_people} people)" if subject.n_people is not None else ""
    if subject.scenario:
        return f"scenario: {subject.scenario}{people}"
    group = subject.group or subject.annotator_group
    return f"{group.name}: {group.value}{people}" if group else measurement.application


def _validation_cell(measurement: Measurement) -> TableCell:
    excluded = unreadable_text(measurement) if measurement.measure is Measure.EXACT_AGREEMENT else ""
    return TableCell(value=measurement.result, details=(excluded,) if excluded else ())


def _behaviour(subject: Subject, report: ValidationReport) -> Iterator[Table]:
    """Yield the figures of a judge that do not depend on its labels, if there are any."""
    rows = []
    for entry in report.measurements:
        whole = entry.application == ALL_APPLICATIONS and not entry.subject.is_part
        if entry.measure in _BEHAVIOUR and whole:
            authority = entry.subject.authority
            against = f"against {title_of(subject.study, authority)}" if authority else ""
            named = [entry.subject.attempt, entry.subject.rule, entry.subject.repetition, against]
            tail = ", ".join(filter(None, named))
            title = subject.words.measure(entry.measure).title
            kind = _KINDS.get(entry.measure, ColumnKind.RATE)
            rows.append((f"{title} ({tail})" if tail else title, TableCell(value=entry.result, kind=kind)))
    if rows:
        title = "How it reads and replies"
        yield Table(
            title=title, caption=title, columns=columns("What", "How often"), rows=tuple(rows), style="groups figures"
        )


def group_tables(subject: Subject) -> tuple[Table, ...]:
    """Return the agreement of groups of people, and their defect rates, for each question and attribute."""
    return tuple(table for groups in subject.findings.annotator_groups for table in _group_tables(groups))


def _group_tables(groups: AnnotatorGroups) -> Iterator[Table]:
    unknown = f"{figures.number_of(groups.n_unknown, 'person', 'people')} did not say" if groups.n_unknown else ""
    small = figures.number_of(groups.n_in_small, "person is", "people are")
    small = f"{small} in groups of fewer than three, which are not named" if groups.n_in_small else ""
    note = "; ".join(filter(None, (unknown, small)))
    title = f"By {groups.attribute}: {groups.guideline}, {groups.question}, {groups.application}"
    yield Table(
        title=title,
        caption=title,
        columns=columns(
            "Group",
            Column("Agreement within (alpha)", ColumnKind.COEFFICIENT),
            Column("Agreement with the others", ColumnKind.COEFFICIENT),
            "Ratio",
        ),
        rows=tuple(_group_row(group) for group in groups.groups),
        notes=(f"{note}.",) if note else (),
        style="agreement",
    )
    if groups.defects:
        rates = [dict(rule.rates) for rule in groups.defects]
        yield Table(
            title=f"Defects as they see them: {title}",
            caption="Share of its labels that are a defect",
            columns=columns("Group", *(Column(rule.rule, ColumnKind.SHARE) for rule in groups.defects)),
            rows=tuple((group.group, *(rate.get(group.group, "") for rate in rates)) for group in groups.groups),
            notes=tuple(_gap(rule) for rule in groups.defects if rule.gap is not None),
            style="agreement",
        )


def _gap(rule: GroupDefects) -> str:
    p = "" if rule.adjusted_p_value is None else f", adjusted p {figures.coefficient(rule.adjusted_p_value)}"
    return f"{rule.rule}: highest minus lowest {100 * (rule.gap or 0.0):.1f} points{p}."


def _group_row(group: GroupAgreement) -> tuple[Value, ...]:
    people = figures.number_of(group.n_raters, "person", "people")
    ratio = UNDEFINED
    if group.ratio is not None and group.adjusted_p_value is not None:
        p_value = figures.coefficient(group.adjusted_p_value)
        ratio = f"{figures.coefficient(group.ratio)}, adjusted p {p_value}"
    return f"{group.group} ({people})", group.within, group.across, ratio


def rater_tables(subject: Subject) -> tuple[Table, ...]:
    """Return one table for each question and application that three annotators or more answered."""
    headings = columns(
        "Annotator",
        Column("Labels", ColumnKind.COUNT),
        "Fit beyond chance (Dawid and Skene)",
        "Share that is no guess (MACE)",
    )
    return tuple(
        Table(
            title=f"{result.guideline}, {result.question}, {result.application}:"
            f" {figures.number_of(result.dialogues, 'dialogue')}",
            columns=headings,
            rows=tuple(
                (
                    title_of(subject.study, rater.annotator),
                    rater.labels,
                    figures.coefficient(rater.fit),
                    figures.coefficient(rater.looks),
                )
                for rater in result.raters
            ),
            style="agreement",
        )
        for result in subject.findings.raters
    )


def order_effect_tables(subject: Subject) -> tuple[Table, ...]:
    """Return one table for each guideline, changed order, and judge or all people."""

    def kind(effect: OrderEffect) -> tuple[str, str, str]:
        return effect.guideline, effect.annotator, effect.factor.value

    ordered = sorted(subject.findings.orders, key=kind)
    return tuple(
        Table(
            title=f"{factor.capitalize()}: {guideline}, {title_of(subject.study, who) if who else 'people'}",
            columns=columns("Question", "One way", "The other way", "The other less the one"),
            rows=tuple(
                (effect.question, side_text(effect.first), side_text(effect.second), shift_text(effect))
                for effect in effects
            ),
            notes=(SUGGESTION_NOTE,) if factor == OrderFactor.SUGGESTIONS else (),
            style="agreement",
        )
        for (guideline, who, factor), effects in groupby(ordered, key=kind)
    )
