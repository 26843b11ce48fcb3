"""The questions of the first screen, each with a short answer and links to the evidence."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting.page.differences import clear_gaps, gap_words, regressed_in, versions_view
from theodolite.reporting.page.overview import rate_words
from theodolite.reporting.page.precision import GROWTHS, cost_of, precision_of
from theodolite.reporting.page.rates import measured_rules, shown_rules
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.agreements import judge_note, judges_of, validation_of_judge
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import Rate, lead_rates, matrix_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.comparisons import SURE
from theodolite.reporting.words.descriptions import heading_of

MOST = 3
"""Maximum number of judges that the first screen names; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderQuestion:
    """A question with its answers.

    Attributes:
        text: The question.
        answers: Short answers; the rest is at the address.
        address: Address of the part with the evidence.
        opens: Name of a set of dialogues that show it; empty for none.
        label: Label of the button that opens the set; empty for none.
    """

    text: str
    answers: tuple[str, ...]
    address: str
    opens: str = ""
    label: str = ""


def reader_questions(subject: Subject) -> tuple[ReaderQuestion, ...]:
    """Return the questions that readers have first, in a fixed order."""
    return (_most_defects(subject), _versions(subject), _groups(subject), _judges(subject), _budget(subject))


def _most_defects(subject: Subject) -> ReaderQuestion:
    text = "Where are most defects?"
    rates = [
        (row.area, rate) for row in matrix_of(subject.study, subject.rates) for rate in row.cells if rate is not None
    ] or [
        (heading_of(guideline, rule), rate)
        for guideline, rule in measured_rules(subject)
        for rate in lead_rates(subject.rates, guideline.name, rule.name)
    ]
    known = [(area, rate) for area, rate in rates if rate.estimate and rate.estimate.n >= figures.FEW]
    if not any(rate.defects for _, rate in known):
        n = figures.FEW
        answer = f"No rate of {n} or more labelled dialogues has a defect." if known else f"No rate has {n} labels."
        return ReaderQuestion(text=text, answers=(answer,), address="#results")
    area, worst = max(known, key=lambda one: one[1].estimate.value if one[1].estimate else 0.0)
    where = ", ".join(filter(None, (worst.measurement.application, area, worst.station)))
    cases = [case.index for case in subject.labelled(worst.measurement.dialogues)]
    return ReaderQuestion(
        text=text,
        answers=(f"{where}: {rate_words(worst)}.",),
        address="#results",
        opens=subject.sets.add("question.worst", f"Defects: {where}", cases),
        label="Show its dialogue" if len(cases) == 1 else f"Show its {figures.count(len(cases))} dialogues",
    )


def _versions(subject: Subject) -> ReaderQuestion:
    text, view = "Is the new version better?", versions_view(subject)
    if view is None:
        run = subject.evidence.run.number
        earlier = f"run {run - 1}" if run > 1 else "an earlier run"
        answer = f"The study has one application. The command theodolite compare sets it beside {earlier}."
        if len(subject.study.applications) > 1:
            answer = "No two applications have labels of the same rule on the same prompts."
        return ReaderQuestion(text=text, answers=(answer,), address="#results")
    rest = len(view.verdicts) - 1
    more = (f"{figures.number_of(rest, 'more pair')} of applications in the results.",) if rest else ()
    regressed = subject.labelled(regressed_in(view.first))
    title = f"{view.first.first.name} and {view.first.second.name}: regressed"
    return ReaderQuestion(
        text=text,
        answers=(view.verdicts[0], *more),
        address="#versions",
        opens=subject.sets.add("question.regressed", title, [case.index for case in regressed]) if regressed else "",
        label=f"Show {figures.number_of(len(regressed), 'regressed dialogue')}",
    )


def _groups(subject: Subject) -> ReaderQuestion:
    text, gaps = "Who was harmed more?", subject.findings.gaps
    contrasts = [one for risk in subject.findings.risks for one in risk.contrasts if one.adjusted_p_value is not None]
    if not gaps and contrasts:
        n_sure = sum((one.adjusted_p_value or 0.0) < SURE for one in contrasts)
        words = f"{figures.count(n_sure)} of {figures.number_of(len(contrasts), 'comparison')} of groups of people"
        return ReaderQuestion(text=text, answers=(f"Materialised risks: {words} significant.",), address="#risks")
    if not gaps:
        answer = "Unknown: no dialogue has a group, such as a type of user. Name groups in the study."
        return ReaderQuestion(text=text, answers=(answer,), address="#risks" if subject.findings.risks else "#results")
    clear = clear_gaps(subject)
    known = sum(isinstance(gap.gap, Estimate) for gap in gaps)
    first = tuple(f"{gap_words(subject, gap)}." for gap in clear[:1])
    count = f"{figures.count(len(clear))} of {figures.number_of(known, 'gap')} between groups"
    verb = "excludes" if len(clear) == 1 else "exclude"
    return ReaderQuestion(text=text, answers=(*first, f"{count} {verb} 0."), address="#gaps")


def _judges(subject: Subject) -> ReaderQuestion:
    text, answers = "Can I trust the judge?", dict[str, None]()
    for guideline in subject.study.guidelines:
        for judge in judges_of(subject.study, guideline.name):
            if judge.kind is AnnotatorKind.MODEL:
                state = "validated" if validation_of_judge(subject.evidence, judge.name) else "not validated"
                title = title_of(subject.study, judge.name)
                answers[
                    f"{title}: {state}; {judge_note(subject.evidence, subject.agreements, guideline, judge.name)}."
                ] = None
    if not answers:
        return ReaderQuestion(text=text, answers=("No model judges in this study.",), address="#instruments")
    rest = len(answers) - MOST
    more = (f"{figures.number_of(rest, 'more judge')} there.",) if rest > 0 else ()
    return ReaderQuestion(text=text, answers=(*list(answers)[:MOST], *more), address="#instruments")


def _budget(subject: Subject) -> ReaderQuestion:
    text = "What would more budget buy?"
    rates = [
        (heading_of(guideline, rule), rate)
        for guideline, rule in shown_rules(subject)
        for rate in lead_rates(subject.rates, guideline.name, rule.name)
    ]
    widest = max(rates, key=lambda one: _half_width(one[1]), default=None)
    if widest is None:
        return ReaderQuestion(text=text, answers=("No rate is planned.",), address="#results")
    title, rate = widest
    found = precision_of(rate)
    if isinstance(found, Undefined):
        return ReaderQuestion(text=text, answers=("No rate has an interval to narrow yet.",), address="#precision")
    n = rate.measurement.result.n
    answer = (
        f"{GROWTHS[-1]} times as many independent dialogues narrow the widest interval,"
        f" {rate.measurement.application} {title}, from ±{figures.points(found.half_width)}"
        f" to ±{figures.points(found.expected[-1])} points; {cost_of(subject, (GROWTHS[-1] - 1) * n)}."
    )
    return ReaderQuestion(text=text, answers=(answer,), address="#precision")


def _half_width(rate: Rate) -> float:
    found = precision_of(rate)
    return -1.0 if isinstance(found, Undefined) else found.half_width
