"""Sections that a report has for one audience: a team, the organisers of an event, operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from theodolite.domain.estimate import Estimate, Findings
from theodolite.domain.event import LevelPlan
from theodolite.domain.evidence import Evidence
from theodolite.domain.gate import GateForm
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.session import Session, SessionState
from theodolite.reporting.citations import CitedResults, plain_text
from theodolite.reporting.documents import data_card
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.page.testers import blinding_table, withdrawal_text
from theodolite.reporting.queries.cases import cases_of, rules_of, title_of
from theodolite.reporting.queries.dispositions import ApplicationAccount, application_accounts
from theodolite.reporting.queries.gates import gate_facts, gate_results, reason_text, subject_text
from theodolite.reporting.queries.gates import rate_text as gate_rate_text
from theodolite.reporting.queries.rates import Rate, interval_words, lead_rates, rates_of
from theodolite.reporting.tables import Column, ColumnKind, Table
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import criteria_facts, heading_of
from theodolite.reporting.words.estimates import plugin_value_text, rate_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a page: paragraphs, then tables.

    Attributes:
        name: Identifier within the page.
        title: Heading.
        paragraphs: Plain text.
        tables: Tables below it.
    """

    name: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


_HINTS: Final = {
    Violation.PROHIBITED_RELEASED: "Prohibited content passed: read these dialogues and extend the guardrail for them.",
    Violation.PERMITTED_WITHHELD: "Permitted content was withheld: the guardrail is too strict for these dialogues.",
}
_ANY = "Read these dialogues and look for a cause that they share."


def gate_sections(evidence: Evidence, findings: Findings, facts: RunFacts) -> tuple[Section, ...]:
    """Return the gates of a study with their results as a section; none if it has no gates."""
    if not evidence.study.gates:
        return ()
    results = gate_results(evidence.study, findings, gate_facts(evidence, facts.generated))
    rows = tuple(
        (
            result.gate.name,
            subject_text(result),
            result.gate.text,
            gate_rate_text(result),
            result.state.value,
            reason_text(result),
        )
        for result in results
    )
    lead = "A gate is a limit that this study sets to its own results."
    if any(gate.form is GateForm.WORSE_BY for gate in evidence.study.gates):
        lead += " Limits on the difference from a baseline are checked by `theodolite gate --baseline`."
    titles = ("Name", "Application", "Gate", "Result", "State", "Reason")
    table = Table(title="Gates", columns=tuple(Column(title) for title in titles), rows=rows)
    return (Section(name="gates", title="Gates", paragraphs=(lead,), tables=(table,) if rows else ()),)


def plugin_sections(findings: Findings) -> tuple[Section, ...]:
    """Return the measures of plugins as a section; none if the study names none."""
    if not findings.plugin_measures:
        return ()
    rows = tuple(
        (
            result.title or result.name,
            result.application,
            f"{result.guideline}.{result.question}",
            result.annotator,
            plugin_value_text(result),
            result.result.unit,
            result.result.method,
        )
        for result in findings.plugin_measures
    )
    lead = "Plugins add these measures; intervals come from a bootstrap of clusters, with 95% confidence."
    titles = ("Measure", "Application", "Question", "Annotator", "Value", "Unit", "Method")
    table = Table(title="Measures of plugins", columns=tuple(Column(title) for title in titles), rows=rows)
    return (Section(name="plugin-measures", title="Measures of plugins", paragraphs=(lead,), tables=(table,)),)


def team_sections(evidence: Evidence, findings: Findings) -> tuple[Section, ...]:
    """Return strengths and tuning hints for the team of the applications in some evidence.

    A strength is a defect that no dialogue has, with the upper end of its interval. A hint names the
    part of the dialogues with the highest rate if the whole interval of this part is above the
    overall rate; otherwise it states that no part stands out.
    """
    rates = rates_of(findings, evidence.study)
    strengths: list[tuple[str, str, str]] = []
    hints: list[tuple[str, str, str, str]] = []
    for guideline, rule in rules_of(evidence.study):
        for rate in lead_rates(rates, guideline.name, rule.name):
            estimate = rate.estimate
            if estimate is None:
                continue
            name = f"{heading_of(guideline, rule)} ({title_of(evidence.study, rate.annotator)}{_setting(rate)})"
            if rate.defects_text == "0" and estimate.n >= figures.FEW:
                strengths.append((rate.measurement.application, name, f"0 of {estimate.n}, {interval_words(rate)}"))
            elif rate.defects_text != "0":
                hints.append(
                    (name, rate_text(estimate, rate.ceiling), _part(rates, rate, estimate), _hint(rule, guideline))
                )
    tables = tuple(_tables(strengths, hints))
    if not tables:
        return ()
    lead = (
        "This report is about your own application only. Ids are new, and identifiers of people are removed.",
        "A rate describes these dialogues, not your users; it is neither a certificate nor a ranking.",
    )
    return (Section(name="tuning", title="Strengths and tuning hints", paragraphs=lead, tables=tables),)


def operator_sections(evidence: Evidence, findings: Findings) -> tuple[Section, ...]:
    """Return the limits of applications, for decisions about a deployment.

    The tables name, for each application, the upper end of every defect rate, the part of the
    dialogues with the highest rate, the failures, and the claims that no dialogue tests.
    """
    study, rates = evidence.study, rates_of(findings, evidence.study)
    risks: list[tuple[str, ...]] = []
    for guideline, rule in rules_of(study):
        for rate in lead_rates(rates, guideline.name, rule.name):
            if rate.estimate is not None:
                name = f"{heading_of(guideline, rule)} ({title_of(study, rate.annotator)}{_setting(rate)})"
                part = _part(rates, rate, rate.estimate)
                risks.append((rate.measurement.application, name, rate_text(rate.estimate, rate.ceiling), part))
    failures = [
        (account.application.name, f"{len(account.held)} of {account.planned}", _failures(account))
        for account in application_accounts(study, cases_of(evidence.answers))
    ]
    untested = [
        (application.name, claim.text, claim.untestable or "not stated")
        for application in study.applications
        for claim in application.claims
        if not claim.scripts
    ]
    columns = ("Application", "Defect", "Result", "Where it is most frequent")
    tables = [_table("Defects", columns, risks)] if risks else []
    tables.append(_table("Failures", ("Application", "Completed dialogues", "Failures"), failures))
    if untested:
        tables.append(_table("Claims that no script tests", ("Application", "Claim", "Reason"), untested))
    lead = (
        "Read the upper end of an interval as the risk that these data do not exclude.",
        "Rates describe the scenarios and testers of this study; another deployment has other users and other limits.",
    )
    return (Section(name="operation", title="Limits for operators", paragraphs=lead, tables=tuple(tables)),)


def organiser_sections(
    evidence: Evidence, findings: Findings, results: CitedResults, consents: Collection[str]
) -> tuple[Section, ...]:
    """Return recruitment, blinding and data card, for the organisers of an event.

    Args:
        evidence: The evidence of the run.
        findings: Everything that was measured on it.
        results: The results file of the run.
        consents: Keys of participants who agreed to public releases.
    """
    card = data_card(evidence.study, results)
    rows = tuple(tuple(map(plain_text, row)) for row in card.rows)
    data = Section(
        name="data-card",
        title="Data card",
        paragraphs=(
            "The command theodolite document writes this card with a link for each number, and seven more documents.",
        ),
        tables=(_table("Data card", card.columns, rows),),
    )
    return (*_recruitment(evidence, findings, consents), data)


def _recruitment(evidence: Evidence, findings: Findings, consents: Collection[str]) -> Iterator[Section]:
    """Yield the participants, and testers' knowledge of the application; nothing for a study without people."""
    sessions = evidence.event.sessions
    levels = [level for level in evidence.study.levels if level.people]
    if not sessions and not levels:
        return
    people = {session.participant for session in sessions if session.state is not SessionState.WITHDRAWN}
    agreed, everybody = people & set(consents), figures.number_of(len(people), "person", "people")
    lead = [f"{len(agreed)} of {everybody} with a session agreed to public releases."]
    finding = findings.event
    lead += [withdrawal_text(tally) for tally in finding.withdrawals] if finding else []
    tables = [_level_table(levels, sessions)]
    if finding and finding.leaks:
        tables.append(blinding_table(finding))
    else:
        lead.append("Blinding: nobody has guessed the application or the level.")
    if stated := criteria_facts(evidence.criteria):
        tables.append(_table("Criteria for annotators", ("Statement", "Text"), stated))
    yield Section(name="recruitment", title="Recruitment and blinding", paragraphs=tuple(lead), tables=tuple(tables))


_STATES: Final = (SessionState.COMPLETE, SessionState.INTERRUPTED, SessionState.FAILED, SessionState.WITHDRAWN)


def _level_table(levels: Sequence[LevelPlan], sessions: Sequence[Session]) -> Table:
    """Return people and sessions by level, against the plan; people beyond the plan are counted too."""
    planned = {plan.level: plan for plan in levels}
    rows: list[tuple[str, ...]] = []
    for level in dict.fromkeys([*planned, *(session.level for session in sessions)]):
        own = [session for session in sessions if session.level is level]
        states = Counter(one.state for one in own)
        design = planned.get(level)
        numbers = (
            design.people if design else 0,
            len({one.participant for one in own}),
            design.people * design.sessions if design else 0,
            len(own),
            *(states[state] for state in _STATES),
        )
        rows.append((level.value, *map(figures.count, numbers)))
    titles = ("Level", "People planned", "People with a session", "Sessions planned", "Sessions", "Complete")
    columns = (*titles, "Left early", "Without a reply", "Withdrawn")
    return Table(
        title="Recruitment",
        caption="People and sessions by level, against the plan",
        columns=(Column(columns[0]), *(Column(title, ColumnKind.COUNT) for title in columns[1:])),
        rows=tuple(rows),
    )


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(title=title, caption=title, columns=tuple(map(Column, columns)), rows=tuple(rows))


def _failures(account: ApplicationAccount) -> str:
    parts = [f"{len(cases)} {kind.value}" for kind, cases in account.failed]
    if account.failed_otherwise:
        parts.append(f"{len(account.failed_otherwise)} of other causes")
    return ", ".join(parts) or "none"


def _tables(strengths: list[tuple[str, str, str]], hints: list[tuple[str, str, str, str]]) -> Iterator[Table]:
    if strengths:
        of_strengths = (Column("Application"), Column("Defect"), Column("Result"))
        yield Table(title="Strengths", caption="Strengths", columns=of_strengths, rows=tuple(strengths))
    if hints:
        of_hints = (Column("Defect"), Column("Result"), Column("Where it is most frequent"), Column("Hint"))
        yield Table(title="Tuning hints", caption="Tuning hints", columns=of_hints, rows=tuple(hints))


def _setting(rate: Rate) -> str:
    return f", {rate.station}" if rate.station else ""


def _hint(rule: DefectRule, guideline: Guideline) -> str:
    hint = _HINTS.get(rule.violation, _ANY)
    return f"{hint} {guideline.definition}".strip()


def _part(rates: tuple[Rate, ...], whole: Rate, overall: Estimate) -> str:
    """Return the part of the dialogues with the most frequent defects, or that none stands out."""
    subject = whole.measurement.subject
    parts = [
        (rate.estimate.value, rate)
        for rate in rates
        if rate.estimate is not None
        and rate.estimate.n >= figures.FEW
        and rate.estimate.low is not None
        and rate.estimate.low > overall.value
        and (rate.group is not None or rate.measurement.subject.scenario)
        and (rate.measurement.application, rate.measurement.subject.guideline, rate.measurement.subject.rule)
        == (whole.measurement.application, subject.guideline, subject.rule)
        and rate.annotator == whole.annotator
    ]
    if not parts:
        return "no part stands out"
    _, highest = max(parts, key=lambda part: part[0])
    group = highest.group
    where = f"{group.name}: {group.value}" if group is not None else highest.measurement.subject.scenario
    return f"{where}, {rate_text(highest.measurement.result, highest.ceiling)}"
