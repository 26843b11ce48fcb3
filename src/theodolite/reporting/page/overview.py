"""The head of the first screen: status of the run, tiles with the main counts, and questions with short answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.guideline import Guideline
from theodolite.domain.run import RunState, Spending
from theodolite.domain.text import spent_text
from theodolite.reporting.page.differences import clear_gaps, gap_words, regressed_in, versions_view
from theodolite.reporting.page.precision import GROWTHS, cost_of, precision_of
from theodolite.reporting.page.rates import measured_rules, shown_rules
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.agreements import (
    counts_text,
    judge_note,
    judges_of,
    percents_text,
    plain_agreement,
    subject_text,
    validation_of_judge,
)
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.headline import headline_parts, is_recorded, is_released
from theodolite.reporting.queries.rates import Rate, guardrail_of, lead_rates, matrix_of, rate_by_application
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of
from theodolite.reporting.words.estimates import SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A fact about the run below its title."""

    icon: str
    text: str
    attention: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A fact about the whole run that links to its dialogues; `chip` is empty for none."""

    text: str
    chip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tile with a main count.

    Attributes:
        icon: Name of its icon.
        label: Its heading.
        value: The number; empty if a status is shown instead.
        unit: The total, next to the number.
        status: A status as text; empty if there is a number.
        attention: Whether the status needs attention.
        notes: Facts below.
    """

    icon: str
    label: str
    value: str = ""
    unit: str = ""
    status: str = ""
    attention: bool = False
    notes: tuple[Badge, ...] = ()


def tags_of(subject: Subject) -> tuple[Tag, ...]:
    """Return the status of the run and its make-up, one fact per tag."""
    run, study = subject.evidence.run, subject.study
    is_open = run.state is RunState.UNFINISHED
    made = subject.facts.generated
    state = f"Run {run.number} {'not finished' if is_open else 'finished'}, report of {made.day} {made:%b %Y}"
    tags = [Tag(icon="alert" if is_open else "check", text=state, attention=is_open)]
    icons, names = ("app", "dialogues", "people", "judge"), {application.name for application in study.applications}
    parts = headline_parts(subject.evidence, subject.agreements)
    tags += [
        Tag(icon=icon, text=text if text in names else text[:1].upper() + text[1:])
        for icon, text in zip(icons, parts, strict=False)
    ]
    if is_released(study):
        return tuple(tags)
    if is_recorded(study):
        tags.append(Tag(icon="table", text="Recorded answers, no application called"))
    n = len(subject.facts.hosts)
    is_partly_known = bool(subject.facts.network or subject.facts.unobserved)
    rest = "; of code of the study see Method" if is_partly_known else ""
    tags.append(Tag(icon="host", text=f"{figures.number_of(n, 'host')} contacted{rest}"))
    return tuple(tags)


def tiles_of(subject: Subject) -> tuple[Tile, ...]:
    """Return the tiles: dialogues, completeness, agreement of people where people label, and the judge or the calls."""
    tiles = [_dialogue_tile(subject), _completeness_tile(subject)]
    tiles += [tile for tile in (_agreement_tile(subject), _judge_tile(subject)) if tile]
    if len(tiles) < 4 and not is_released(subject.study):
        tiles.append(_calls_tile(subject))
    return tuple(tiles)


def _dialogue_tile(subject: Subject) -> Tile:
    completed, planned = subject.evidence.answers.n_completed, len(subject.cases)
    return Tile(
        icon="dialogues",
        label="Dialogues",
        value=figures.count(completed),
        unit=f"of {figures.count(planned)} planned",
        notes=(_counted(subject, "failed", "failed"),),
    )


def _completeness_tile(subject: Subject) -> Tile:
    unmeasured = [part for account in subject.accounts for part in account.unmeasured]
    planned = len(subject.cases)
    labelled = planned - len({place for part in unmeasured for place in part.cases})
    counted = f"{figures.count(labelled)} of {figures.count(planned)}"
    few = planned < figures.FEW
    waiting = [part for part in unmeasured if part.outcome in {Outcome.MISSING, Outcome.REFUSED}]
    n_guidelines = len(subject.accounts)
    several = f" under all {n_guidelines} guidelines" if n_guidelines > 1 else ""
    notes = [Badge(text=f"labelled{several}", chip="")]
    if waiting:
        places = sorted({place for part in waiting for place in part.cases})
        subject.sets.add("unlabelled", "Without a label", places)
        somewhere = " under at least one" if several else ""
        notes.append(_counted(subject, "unlabelled", f"without a label{somewhere}"))
    notes.append(_counted(subject, "unparseable", "with an unparseable label"))
    return Tile(
        icon="progress",
        label="Completeness",
        value=counted if few else figures.percent(labelled / planned),
        unit="" if few else counted,
        notes=tuple(notes),
    )


def _counted(subject: Subject, name: str, words: str) -> Badge:
    """Return the number of cases in a set; a badge without cases is not a link."""
    case_set = subject.sets.sets.get(name)
    n = len(case_set.cases) if case_set else 0
    return Badge(text=f"{figures.count(n)} {words}", chip=name if n else "")


def _agreement_tile(subject: Subject) -> Tile | None:
    for guideline in subject.study.guidelines[:1]:
        exact = plain_agreement(subject.study, subject.agreements, guideline)
        if any(agreement.estimate for agreement in exact):
            text = f"{subject_text(subject.study, guideline)}people agree on {counts_text(exact)}"
            value = percents_text(exact) or counts_text(exact)
            note = Badge(text=text, chip="disagreement")
            return Tile(icon="people", label="Human agreement", value=value, notes=(note,))
        if any(agreement.unreadable for agreement in exact):
            note = Badge(text="agreement of people undefined: no readable labels", chip="unparseable")
            return Tile(icon="people", label="Human agreement", status="Undefined", attention=True, notes=(note,))
    return None


def _judge_tile(subject: Subject) -> Tile | None:
    judges = [
        (guideline, judge)
        for guideline in subject.study.guidelines
        for judge in judges_of(subject.study, guideline.name)
        if judge.kind is AnnotatorKind.MODEL
    ]
    if not judges:
        return None
    validated = [judge for _, judge in judges if validation_of_judge(subject.evidence, judge.name)]
    titles = list(dict.fromkeys(title_of(subject.study, judge.name) for _, judge in judges))
    several = f"{figures.count(len(validated))} of {figures.count(len(judges))} validated"
    single = "Validated" if validated else "Not validated"
    return Tile(
        icon="judge",
        label=f"Judge {titles[0]}" if len(titles) == 1 else f"{figures.count(len(titles))} judges",
        status=single if len(judges) == 1 or not validated else several,
        attention=len(validated) < len(judges),
        notes=(Badge(text=_first_note(subject, *judges[0], is_named=len(titles) > 1), chip=""),),
    )


def _first_note(subject: Subject, guideline: Guideline, judge: Annotator, *, is_named: bool) -> str:
    note = judge_note(subject.evidence, subject.agreements, guideline, judge.name)
    return f"{title_of(subject.study, judge.name)} {note}" if is_named else note


def _calls_tile(subject: Subject) -> Tile:
    spending = subject.evidence.spending
    return Tile(
        icon="gauge",
        label="Model calls",
        value=figures.count(spending.calls),
        notes=(Badge(text=_cost_words(spending), chip=""),),
    )


def _cost_words(spending: Spending) -> str:
    """Return the cost of all calls; no amount if nothing was paid or no price is known."""
    if not spending.calls:
        return "no model called"
    if not spending.cost_microusd and not spending.unpriced_calls:
        return "no cost"
    return spent_text(spending.cost_microusd, spending.calls, spending.unpriced_calls)


def findings_of(subject: Subject) -> tuple[str, ...]:
    """Return the takeaways that the rates themselves call for: both sides of a guardrail at its extremes."""
    return tuple(_both_sides(subject))


def _both_sides(subject: Subject) -> Iterator[str]:
    guardrail = guardrail_of(subject.study)
    if guardrail is None:
        return
    guideline = guardrail.guideline
    sides = [
        (rule, rate_by_application(subject.rates, guideline.name, rule.name))
        for rule in (guardrail.withheld, guardrail.released)
    ]
    shared = [name for name in sides[0][1] if name in sides[1][1]]
    if len(shared) < 2:
        return
    extremes = [max(shared, key=lambda name: _value(rates[name])) for _, rates in sides]
    if len(set(extremes)) < 2:
        return
    rates_text = "; ".join(
        f"{name}: {rate_words(sides[0][1][name])} {heading_of(guideline, sides[0][0]).lower()}, "
        f"{rate_words(sides[1][1][name])} {heading_of(guideline, sides[1][0]).lower()}"
        for name in extremes
    )
    yield f"Neither side alone describes an application. {rates_text}."


def _value(rate: Rate) -> float:
    return rate.estimate.value if rate.estimate else 0.0


def rate_words(rate: Rate) -> str:
    """Return a rate with its count, e.g. `9 of 57 (15.8%)`."""
    return f"{rate.defects_text} of {figures.count(rate.measurement.result.n)} ({figures.percent(_value(rate))})"


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
    contrasts = [
        contrast
        for risk in subject.findings.risks
        for contrast in risk.contrasts
        if contrast.adjusted_p_value is not None
    ]
    if not gaps and contrasts:
        n_sure = sum((contrast.adjusted_p_value or 0.0) < SURE for contrast in contrasts)
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
    result = precision_of(rate)
    if isinstance(result, Undefined):
        return ReaderQuestion(text=text, answers=("No rate has an interval to narrow yet.",), address="#precision")
    n = rate.measurement.result.n
    answer = (
        f"{GROWTHS[-1]} times as many independent dialogues narrow the widest interval,"
        f" {rate.measurement.application} {title}, from ±{figures.points(result.half_width)}"
        f" to ±{figures.points(result.expected[-1])} points; {cost_of(subject, (GROWTHS[-1] - 1) * n)}."
    )
    return ReaderQuestion(text=text, answers=(answer,), address="#precision")


def _half_width(rate: Rate) -> float:
    result = precision_of(rate)
    return -1.0 if isinstance(result, Undefined) else result.half_width
