"""Judges on a terminal: the validation report and the lines on their behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from theodolite.domain.annotator import REFERENCE, ModelJudge
from theodolite.domain.estimate import Estimate, Measurement, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure
from theodolite.domain.findings.agreement import JudgeDiagnostics, VoteRecord
from theodolite.domain.identity import SHORT
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.terminal.layout import labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import (
    MOST_APART,
    coefficient_name,
    coefficient_text,
    compares_judges,
    difference_text,
    rate_text,
    rules_of_report,
    share_text,
    unreadable_text,
)

_MARGIN = 14


_RIGHT = {
    Measure.JUDGE_SENSITIVITY: "catches",
    Measure.JUDGE_SPECIFICITY: "passes of the sound",
    Measure.JUDGE_PRECISION: "right when it alarms",
}


_COEFFICIENTS = (Measure.COHEN_KAPPA, Measure.GWET_AC, Measure.KRIPPENDORFF_ALPHA)


_MOST_LABELS = 6

"""Maximum number of labels that are listed one by one; beyond it, the average is shown. Count."""


_MANNERS = {
    Measure.UNPARSEABLE_SHARE: "unreadable",
    Measure.REFUSED_SHARE: "refused",
    Measure.UNGROUNDED_SHARE: "quotes words that do not stand there",
    Measure.CONTROL_FAILED_SHARE: "failed the control question",
}


def validation_text(report: ValidationReport, *, width: int = 80) -> str:
    """Return a validation report on one screen, with the reason for each unknown figure.

    Args:
        report: Figures of one version of a judge.
        width: Columns of the terminal; count.
    """
    lines = [
        f"{report.judge} on {report.guideline}",
        *_labelled("Validation", _issued(report), width),
    ]
    if len(report.authorities) > MOST_APART:
        lines += _against_many(report, width)
    else:
        for authority in report.authorities:
            lines += _against(report, authority, width)
    lines += _labelled("People", _people(report), width)
    lines += _labelled("Judges", _other_judges(report), width)
    lines += _labelled("Groups", _groups(report), width)
    lines += _labelled("Replies", _manners(report), width)
    lines += _labelled("Attacks", _probes(report), width)
    for sentence in report.lacking:
        lines += _labelled("Unknown", sentence, width)
    return "\n".join(lines)


def _labelled(label: str, text: str, width: int) -> list[str]:
    return labelled(label, text, margin=_MARGIN, width=width) if text else []


def _issued(report: ValidationReport) -> str:
    share = f"{figures.count(report.labelled)} of {figures.count(report.judged)} judged dialogues labelled"
    version = report.judge_version[:SHORT]
    return f"issued {report.issued:%Y-%m-%d %H:%M} UTC for version {version}, run {report.run}; {share}"


def _against(report: ValidationReport, authority: str, width: int) -> list[str]:
    name = "final labels" if authority == REFERENCE else authority
    lines = _labelled("Compared with", f"{name}: {_agreement(report, authority)}", width)
    apart = [
        f"{measurement.application} {rate_text(measurement.result)}"
        for measurement in report.measurements
        if measurement.measure == Measure.EXACT_AGREEMENT
        and measurement.application != ALL_APPLICATIONS
        and _is_of(measurement, authority)
    ]
    lines += _labelled("", "; ".join(apart), width)
    lines += _labelled("Labels", _labels(report, authority), width)
    for rule in rules_of_report(report):
        lines += _labelled("Defects", f"{rule}: {_accuracy(report, authority, rule)}", width)
    return lines


def _against_many(report: ValidationReport, width: int) -> list[str]:
    """Return how a judge compares with many people, each of them an authority: the range of every figure."""
    people = figures.number_of(len(report.authorities), "person", "people")
    agreement = [f"same label on {_range(report, Measure.EXACT_AGREEMENT, figures.percent)}"]
    for measure in _COEFFICIENTS:
        named = report.figure(measure)
        if named is not None:
            agreement.append(f"{coefficient_name(named)} {_range(report, measure, figures.coefficient)}")
    lines = _labelled("Compared with", f"{people}, one by one: {'; '.join(agreement)}", width)
    for rule in rules_of_report(report):
        parts = [f"{title} {_range(report, measure, figures.percent, rule=rule)}" for measure, title in _RIGHT.items()]
        lines += _labelled("Defects", f"{rule}: {'; '.join(parts)}", width)
    return lines


def _range(report: ValidationReport, measure: Measure, show: Callable[[float], str], rule: str = "") -> str:
    """Return the lowest and highest value of a figure by people's labels, over all applications."""
    result = (report.figure(measure, authority=name, rule=rule) for name in report.authorities)
    values = [
        measurement.result.value for measurement in result if measurement and isinstance(measurement.result, Estimate)
    ]
    return f"{show(min(values))} to {show(max(values))}" if values else "unknown"


def _is_of(measurement: Measurement, authority: str) -> bool:
    subject = measurement.subject
    return subject.authority == authority and not subject.is_part and not subject.is_human_ceiling


def _agreement(report: ValidationReport, authority: str) -> str:
    exact = report.figure(Measure.EXACT_AGREEMENT, authority=authority)
    parts = [f"same label on {rate_text(exact.result)}"] if exact else []
    if exact and isinstance(exact.result, Estimate) and exact.result.chance is not None:
        parts.append(f"chance alone {figures.percent(exact.result.chance)}")
    near = report.figure(Measure.RELAXED_AGREEMENT, authority=authority)
    parts += [f"within one point {rate_text(near.result)}"] if near else []
    left_out = unreadable_text(exact) if exact else ""
    parts += [left_out] if left_out else []
    for measure in _COEFFICIENTS:
        result = report.figure(measure, authority=authority)
        parts += [f"{coefficient_name(result)} {coefficient_text(result.result)}"] if result else []
    return "; ".join(parts)


def _labels(report: ValidationReport, authority: str) -> str:
    """Return how well the judge recognises each label according to one authority; empty if unknown."""
    macro = report.figure(Measure.MACRO_F1, authority=authority)
    if macro is None:
        return ""
    of_labels = [
        measurement
        for measurement in report.measurements
        if measurement.application == ALL_APPLICATIONS
        and measurement.subject.authority == authority
        and measurement.subject.label
    ]
    labels = list(
        dict.fromkeys(of_label.subject.label for of_label in of_labels if isinstance(of_label.result, Estimate))
    )
    each = (_label(of_labels, label) for label in labels) if len(labels) <= _MOST_LABELS else ()
    return "; ".join([f"macro-F1 {coefficient_text(macro.result)}, n {figures.count(macro.result.n)}", *each])


def _label(found: Sequence[Measurement], label: str) -> str:
    by_measure = {
        measurement.measure: measurement.result for measurement in found if measurement.subject.label == label
    }
    precision, recall = (rate_text(by_measure[measure]) for measure in (Measure.CLASS_PRECISION, Measure.CLASS_RECALL))
    return f"{label}: precision {precision}, recall {recall}"


def _other_judges(report: ValidationReport) -> str:
    """Return the judge's agreement with each other judge."""
    lines = []
    for measurement in report.measurements:
        if measurement.measure is Measure.EXACT_AGREEMENT and compares_judges(report, measurement):
            kappa = report.figure(Measure.COHEN_KAPPA, authority=measurement.subject.authority)
            beyond = f", {coefficient_name(kappa)} {coefficient_text(kappa.result)}" if kappa else ""
            lines.append(f"{measurement.subject.authority} same label on {rate_text(measurement.result)}{beyond}")
    return "; ".join(lines)


def _accuracy(report: ValidationReport, authority: str, rule: str) -> str:
    parts = []
    for measure, title in _RIGHT.items():
        result = report.figure(measure, authority=authority, rule=rule)
        parts += [f"{title} {rate_text(result.result)}"] if result else []
    bias = report.figure(Measure.JUDGE_BIAS, authority=authority, rule=rule)
    parts += [f"bias {difference_text(bias.result)}"] if bias else []
    refused = report.figure(Measure.REFUSED_DEFECTS, authority=authority, rule=rule)
    parts += [f"refused to read {rate_text(refused.result)} of the defects"] if refused else []
    return "; ".join(parts) or "nobody's labels can tell"


def _people(report: ValidationReport) -> str:
    between: Sequence[Measurement] = [
        measurement
        for measurement in report.measurements
        if measurement.measure == Measure.EXACT_AGREEMENT
        and measurement.subject.is_human_ceiling
        and not measurement.subject.is_part
    ]
    wide = [measurement for measurement in between if measurement.application == ALL_APPLICATIONS]
    return _crowd(report) or "; ".join(
        f"{' and '.join(one.subject.annotators)} agree on {rate_text(one.result)}" for one in wide
    )


def _crowd(report: ValidationReport) -> str:
    """Return the agreement of a judge with many people and of the people; empty for few."""
    judge, people = (
        report.figure(Measure.AGREEMENT_WITH_PEOPLE),
        report.figure(Measure.AGREEMENT_AMONG_PEOPLE),
    )
    if judge is None or people is None:
        return ""
    gap = report.figure(Measure.NEARER_THAN_PEOPLE)
    beyond = f"; judge minus people {difference_text(gap.result)}" if gap else ""
    alike = f"two of them agree on {share_text(people.result)} of the dialogues"
    return f"{alike}, the judge and one of them on {share_text(judge.result)}{beyond}"


def _groups(report: ValidationReport) -> str:
    return "; ".join(
        f"{group.name} {group.value}, {measurement.subject.n_people} people:"
        f" beyond chance {coefficient_text(measurement.result)}"
        for measurement in report.measurements
        if measurement.measure is Measure.CROSS_AGREEMENT and (group := measurement.subject.annotator_group)
    )


def _manners(report: ValidationReport) -> str:
    return "; ".join(_shares(report, _MANNERS))


def _probes(report: ValidationReport) -> str:
    titles = {
        Measure.VERDICTS_TURNED: "turned by text that tells what to answer",
        Measure.ORDER_CONSISTENT: "the same with the labels reversed",
        Measure.FLIP_RATE: "another label when asked again",
    }
    return "; ".join(_shares(report, titles))


def _shares(report: ValidationReport, titles: dict[Measure, str]) -> Iterator[str]:
    for measure, title in titles.items():
        result = report.figure(measure)
        if result is not None:
            yield f"{title} {rate_text(result.result)}"


_NAMED = 5

"""Maximum number of dialogues that are named one by one; further ones are counted. Count."""


def diagnostics_lines(study: Study, conducts: Sequence[JudgeDiagnostics]) -> Iterator[tuple[str, str]]:
    """Yield labelled sentences on votes, quotes and control questions, if there is anything to report."""
    by_name: dict[str, list[JudgeDiagnostics]] = {}
    for diagnostics in conducts:
        by_name.setdefault(diagnostics.annotator, []).append(diagnostics)
    for label, words in _LINES.items():
        for name, own in by_name.items():
            if text := words(title_of(study, name), own):
                yield label, text
    for name, own in by_name.items():
        if text := _other_name_text(study, name, own):
            yield "Model", text


def _other_name_text(study: Study, judge: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    """Return that a judge's endpoint answers as another model than requested; dated names count as equal."""
    labelling = study.annotator(judge).labelling
    if not isinstance(labelling, ModelJudge):
        return ""
    model_name = study.model(labelling.model).model
    names = dict.fromkeys(
        name for diagnostics in conducts if not diagnostics.scripted for name in diagnostics.answered_as
    )
    if not model_name or len(names) != 1 or _is_kin(model_name, *names):
        return ""
    return f"{title_of(study, judge)} was asked for {model_name} and answered as {next(iter(names))}"


def _is_kin(requested: str, answered: str) -> bool:
    """Return whether two model names are equivalent: `gpt-5` and `gpt-5-2026-01-02`, `org/model` and `model`."""
    first, second = (name.casefold().rpartition("/")[2] for name in (requested, answered))
    return first in second or second in first


def _votes_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    records = [diagnostics.votes for diagnostics in conducts if diagnostics.votes]
    dialogues, cast = sum(r.dialogues for r in records), sum(r.cast for r in records)
    if not dialogues:
        return ""
    n_split, n_tied = sum(len(r.split) for r in records), sum(len(r.tied) for r in records)
    text = f"{title} took {cast / dialogues:.1f} of {records[0].voting.most} calls a dialogue"
    text += f"; its readings differ on {figures.share(n_split, dialogues)}"
    text += f", without a majority on {figures.count(n_tied)}" if n_tied else ""
    dearest = max((r for r in records if r.advice), key=lambda r: r.advice.error if r.advice else 0, default=None)
    return f"{text}. {_advice_text(dearest)}".rstrip()


def _advice_text(record: VoteRecord | None) -> str:
    if record is None or record.advice is None or not record.advice.samples_do_better:
        return ""
    error, better = record.advice.error, record.advice.error_as_samples
    return (
        f"For the rate alone, {figures.number_of(record.cast, 'call')} on as many dialogues would do better: a standard"
        f" error of {100 * better:.1f} points, not {100 * error:.1f}."
    )


def _quotes_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    result = [label for diagnostics in conducts for label in diagnostics.ungrounded]
    if not result:
        return ""
    verdicts = sum(diagnostics.verdicts for diagnostics in conducts)
    shares = figures.share(len(result), verdicts)
    return f"{title} quotes words that do not stand there in {shares} verdicts{_named(result)}"


def _control_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    called = [diagnostics for diagnostics in conducts if not diagnostics.scripted]
    failed = [label for diagnostics in called for label in diagnostics.control_failed]
    n_silent = sum(diagnostics.control_unanswered for diagnostics in called)
    if not failed and not n_silent:
        return ""
    verdicts = sum(diagnostics.verdicts for diagnostics in called)
    parts = [f"answered wrongly in {figures.share(len(failed), verdicts)}{_named(failed)}"] if failed else []
    parts += [f"left out in {figures.share(n_silent, verdicts)}"] if n_silent else []
    return f"{title}: control question {', '.join(parts)}; such verdicts may follow what the dialogue told the judge"


def _names_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    names = list(dict.fromkeys(name for diagnostics in conducts for name in diagnostics.answered_as))
    if len(names) < 2:
        return ""
    return f"{title} answered under {len(names)} names, {', '.join(names)}: it is not one instrument"


def _named(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:_NAMED])
    more = f" and {figures.count(len(labels) - _NAMED)} more" if len(labels) > _NAMED else ""
    return f" ({shown}{more})" if labels else ""


_LINES: Mapping[str, Callable[[str, Sequence[JudgeDiagnostics]], str]] = {
    "Votes": _votes_text,
    "Quotes": _quotes_text,
    "Control": _control_text,
    "Changed": _names_text,
}

"""Names of a summary's lines, and their wording for one judge."""
