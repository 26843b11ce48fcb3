"""Applications in the report: dispositions of sessions, failures, claims, risks, strategies and proxy checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from theodolite.domain.application import Application
from theodolite.domain.estimate import ClaimTest, Estimate, StrategyTally, Undefined
from theodolite.domain.findings.responses import LevelOrder, ProxyCheck, Reach
from theodolite.domain.findings.risks import RiskContrast, RiskFinding, RiskImpact, RiskPart
from theodolite.domain.persona import OWN_WAY
from theodolite.domain.plan import TesterKind
from theodolite.domain.scenario import strategy_title
from theodolite.domain.undefined_reasons import NO_SCRIPT, UNDEFINED, undefined_text
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.page.testers import test_text
from theodolite.reporting.queries.cases import Case, records_at, title_of
from theodolite.reporting.queries.dispositions import (
    ApplicationAccount,
    application_accounts,
    claim_words,
)
from theodolite.reporting.tables import ColumnKind, Link, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import found_words, open_words


@dataclass(frozen=True, slots=True, kw_only=True)
class BandPart:
    """A part of a stacked bar; position and width in hundredths of the bar.

    Attributes:
        label: Name of the part.
        n: Dialogues in it, as text.
        share: `n` of the whole with its percentage.
        x: Left end.
        width: Width.
        pattern: Number of its pattern; 0 is plain.
        opens: Name of its set.
    """

    label: str
    n: str
    share: str
    x: float
    width: float
    pattern: int
    opens: str


def band(
    subject: Subject, parts: Sequence[tuple[str, Sequence[int]]], *, name: str, title: str
) -> tuple[BandPart, ...]:
    """Return a stacked bar of dialogues.

    Args:
        subject: The run.
        parts: Label and dialogues of each part; empty parts are not drawn.
        name: Prefix of the names of the sets.
        title: Title of the sets, with `{}` for the label.
    """
    total = sum(len(positions) for _, positions in parts)
    bars, x = [], 0.0
    for number, (label, positions) in enumerate(parts):
        if positions:
            width = 100 * len(positions) / total
            bars.append(
                BandPart(
                    label=label,
                    n=figures.count(len(positions)),
                    share=figures.share(len(positions), total),
                    x=round(x, 2),
                    width=round(width, 2),
                    pattern=number % 6,
                    opens=subject.sets.add(f"{name}.{number}", title.format(label), positions),
                )
            )
            x += width
    return tuple(bars)


def failure_table(subject: Subject) -> Table | None:
    """Return the failures by source and kind; None without any."""
    grouped: dict[tuple[str, str], list[int]] = defaultdict(list)
    for case in subject.cases:
        for failure in case.failures:
            grouped[failure.party.value, failure.kind.value].append(case.index)
    if not grouped:
        return None
    messages = _messages(subject, {positions[0] for positions in grouped.values()})
    ordered = sorted(grouped.items(), key=lambda entry: -len(entry[1]))
    return Table(
        title="Failures",
        columns=columns("Source", "Failure", "Dialogues", "For example"),
        rows=tuple(
            (
                source,
                kind,
                TableCell(value=len(cases), opens=subject.sets.add(f"failure{number}", f"{source} {kind}", cases)),
                messages[source, kind],
            )
            for number, ((source, kind), cases) in enumerate(ordered)
        ),
        style="failures",
    )


def _messages(subject: Subject, positions: set[int]) -> dict[tuple[str, str], str]:
    """Return the first message for each source and kind of failure at some positions."""
    messages: dict[tuple[str, str], str] = {}
    for record in records_at(subject.evidence, positions):
        for failure in record.failures:
            messages.setdefault((failure.party.value, failure.kind.value), failure.message)
    return messages


def application_table(subject: Subject) -> Table:
    """Return the guardrails and the sessions of each application."""
    accounts = application_accounts(subject.study, subject.cases)
    return Table(
        title="Applications",
        columns=columns("Application", "Guardrails, as declared", "Sessions"),
        rows=tuple(
            (account.application.name, _guardrails(account.application), _sessions(subject, number, account))
            for number, account in enumerate(accounts)
        ),
        style="failures",
    )


def _guardrails(application: Application) -> TableCell:
    variant = f"; variant of {application.variant_of}" if application.variant_of else ""
    mitigations = (
        f"; {measure.name}" + (f" ({measure.description.rstrip('.')})" if measure.description else "")
        for measure in application.mitigations
    )
    details = (application.description,) if application.description else ()
    return TableCell(value=f"{application.guardrails.value}{variant}{''.join(mitigations)}", details=details)


def _sessions(subject: Subject, number: int, account: ApplicationAccount) -> TableCell:
    name = account.application.name
    failed = [(kind.value, cases) for kind, cases in account.failed]
    failed += [("failed by others", account.failed_otherwise)] if account.failed_otherwise else []

    def link(key: str, title: str, cases: Sequence[int], before: str) -> Link:
        opens = subject.sets.add(f"{key}{number}", f"{name}: {title}", cases)
        return Link(before=before, text=figures.count(len(cases)), opens=opens)

    links = [link("held", "completed", account.held, " planned: "), Link(text=" completed", opens="")]
    if account.filtered:
        links.append(link("filtered", "withheld by its own filter", account.filtered, ", in "))
        links.append(Link(text=" of them its own filter withheld a reply", opens=""))
    for index, (label, cases) in enumerate(failed):
        links += [link(f"failed{index}.", label, cases, ", "), Link(text=f" {label}", opens="")]
    return TableCell(value=account.planned, links=tuple(links))


def claim_table(subject: Subject) -> Table | None:
    """Return the claims of applications with their tests; None without claims."""
    claims = subject.findings.claims
    if not claims:
        return None
    return Table(
        title="Claims",
        columns=columns("Application", "Claims", "Tested by", "After this run"),
        rows=tuple(_claim_row(subject, number, test) for number, test in enumerate(claims)),
        style="failures",
    )


def _claim_row(subject: Subject, number: int, test: ClaimTest) -> tuple[Value | TableCell, ...]:
    name = test.application
    tested = [case.index for case in subject.cases if case.setting.application == name and _is_of(case, test)]
    against = [case.index for case in subject.labelled(test.contradicting)]
    opens = subject.sets.add(f"claimed{number}", f"testing: {test.claim.text}", tested)
    opens_against = subject.sets.add(f"claim{number}", f"against: {test.claim.text}", against)
    scripts = ", ".join(test.claim.scripts)
    n_tested = Link(before=": ", text=figures.number_of(len(tested), "dialogue"), opens=opens)
    return (
        name,
        f"{test.claim.kind.value}: {test.claim.text}",
        TableCell(value=scripts or Undefined(reason=NO_SCRIPT), links=(n_tested,) if opens else ()),
        TableCell(
            value=claim_words(subject.study, test),
            links=(Link(before=" ", text="show", opens=opens_against),) if opens_against else (),
        ),
    )


def _is_of(case: Case, test: ClaimTest) -> bool:
    """Return whether a dialogue tests a claim."""
    return case.setting.kind is TesterKind.SCRIPT and case.setting.tester in test.claim.scripts


def risk_table(subject: Subject) -> Table | None:
    """Return one row for each risk, application and level with evidence; None without risks."""
    rows: list[tuple[TableCell, str, TableCell]] = []
    for _, findings in groupby(subject.findings.risks, key=_risk_title):
        group = [_risk_row(finding) for finding in findings]
        rows += [
            (replace(first, span=0 if number else len(group)), where, result)
            for number, (first, where, result) in enumerate(group)
        ]
    if not rows:
        return None
    return Table(title="Materialised risks", columns=columns("Risk", "Where", "Result"), rows=tuple(rows))


def taxonomy_table(subject: Subject) -> Table | None:
    """Return the risks of the study in published taxonomies; None if no risk is in one."""
    classified = [risk for risk in subject.study.risks if risk.classes]
    if not classified:
        return None
    taxonomies = {
        class_.identifier.partition("/")[0]: class_.taxonomy for risk in classified for class_ in risk.classes
    }
    return Table(
        title="Risks in taxonomies",
        columns=columns("Risk", "Shown by", "Taxonomy", "Related, by our crosswalk"),
        rows=tuple(
            (
                risk.name,
                ", ".join((*risk.rules, *(answer.text for answer in risk.answers))) or "combined review",
                risk.classes[0].text,
                "; ".join(class_.text for class_ in risk.classes[1:]) or "none",
            )
            for risk in classified
        ),
        notes=("; ".join(f"{name}: {title}" for name, title in taxonomies.items()) + ".",),
    )


def impact_table(subject: Subject) -> Table | None:
    """Return likelihood, magnitude and direction of each risk; None if no risk was measured."""
    rows = [_impact_row(finding, finding.impact) for finding in subject.findings.risks if finding.impact]
    if not rows:
        return None
    titles = ("Risk", "Where", "Likelihood", "Magnitude, 0 to 10", "Likelihood times magnitude", "Impact", "Not known")
    return Table(
        title="From risk to impact",
        columns=columns(*titles),
        rows=tuple(rows),
        notes=(
            "Likelihood is the share of decided dialogues or sessions in which the risk materialised.",
            "Magnitude is the mean grade of those, as far as somebody graded them.",
            "Positive and negative impacts are counted separately and never offset each other.",
        ),
    )


def _impact_row(finding: RiskFinding, impact: RiskImpact) -> tuple[TableCell | str, ...]:
    directions = [f"{name} {figures.count(n)}" for name, n in impact.impacts.items()]
    unknown = [
        f"{figures.count(finding.n_undecided)} undecided" if finding.n_undecided else "",
        f"{figures.count(impact.n_ungraded)} without a grade" if impact.n_ungraded else "",
    ]
    return (
        _risk_title(finding),
        f"{finding.application}, {finding.level.value}",
        TableCell(value=impact.likelihood, kind=ColumnKind.RATE),
        _points_text(impact.magnitude),
        _points_text(impact.expected),
        ", ".join(directions) or "not stated",
        "; ".join(filter(None, unknown)) or "0",
    )


def _points_text(result: Estimate | Undefined) -> str:
    if isinstance(result, Undefined):
        return undefined_text(result)
    interval = "no interval" if result.low is None or result.high is None else f"{result.low:.1f} to {result.high:.1f}"
    return f"{result.value:.1f} ({interval}), n {figures.count(result.n)}"


def _risk_title(finding: RiskFinding) -> str:
    risk = finding.risk
    return f"{risk.name}: {risk.description}" if risk.description else risk.name


def _risk_row(finding: RiskFinding) -> tuple[TableCell, str, TableCell]:
    disputed = sum(bool(record.against) for record in finding.materialised)
    details = [
        f"{figures.number_of(disputed, 'record')} not seen so by every annotator" if disputed else "",
        open_words(finding),
        "; ".join(_risk_part(part) for part in finding.parts),
        *(_risk_contrast(contrast) for contrast in finding.contrasts),
    ]
    result = f"{found_words(finding)}, by {finding.risk.identified_by.value}"
    return (
        TableCell(value=_risk_title(finding)),
        f"{finding.application}, {finding.level.value}",
        TableCell(value=result, details=tuple(filter(None, details))),
    )


def _risk_part(part: RiskPart) -> str:
    undecided = f"; {figures.count(part.n_undecided)} undecided, not in it" if part.n_undecided else ""
    count = "too few to tell" if part.count is None else f"{figures.count(part.count)} of {figures.count(part.n)}"
    return f"{part.group}: {part.part}: {count}{undecided}"


def _risk_contrast(contrast: RiskContrast) -> str:
    test = test_text(contrast.test, contrast.adjusted_p_value, "cluster")
    return f"{contrast.group}, {contrast.first} and {contrast.second}: {test}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyBlock:
    """The strategies of one scenario: rows are strategies, columns are applications."""

    scenario: str
    setting: str
    table: Table


def strategy_blocks(subject: Subject) -> tuple[StrategyBlock, ...]:
    """Return the strategies of each scenario; people and simulated red teamers separately."""
    tallies = subject.findings.strategies
    return tuple(
        StrategyBlock(
            scenario=scenario,
            setting=setting,
            table=_strategy_table(subject, scenario, [t for t in tallies if _setting(t) == (scenario, setting)]),
        )
        for scenario, setting in dict.fromkeys(_setting(tally) for tally in tallies)
    )


def _setting(tally: StrategyTally) -> tuple[str, str]:
    return tally.scenario, f"{tally.level}, {tally.held_by}"


def _strategy_table(subject: Subject, scenario: str, tallies: Sequence[StrategyTally]) -> Table:
    tested = {tally.application for tally in tallies}
    applications = tuple(a.name for a in subject.study.applications if a.name in tested)
    by_key = {(tally.strategy, tally.application): tally for tally in tallies}
    return Table(
        title=f"Strategies in {scenario}",
        columns=columns("Strategy", *applications),
        rows=tuple(
            (
                _strategy_cell(subject, name),
                *(_tally_cell(subject, by_key.get((name, application))) for application in applications),
            )
            for name in dict.fromkeys(tally.strategy for tally in tallies)
        ),
        style="groups tried",
    )


def _strategy_cell(subject: Subject, name: str) -> TableCell:
    title = strategy_title(subject.study.scenarios, name)
    return TableCell(value=title[:1].upper() + title[1:], details=() if name == OWN_WAY else (name,))


def _tally_cell(subject: Subject, tally: StrategyTally | None) -> TableCell:
    if tally is None:
        return TableCell(value=None)
    name = f"strategy.{tally.scenario}.{tally.strategy}.{tally.application}.{tally.level}.{tally.held_by}"
    title = f"{tally.application}, {tally.scenario}: {strategy_title(subject.study.scenarios, tally.strategy)}"
    released = _set(subject, name, f"{title}; released", tally.dialogues)
    completed = _set(subject, f"{name}.held", f"{title}; all that was tried", tally.held)
    opens_all = completed if released and len(tally.dialogues) < len(tally.held) else ""
    return TableCell(
        value=_released(tally),
        opens=released or completed,
        links=(Link(before=" ", text="all", opens=opens_all),) if opens_all else (),
        details=("; ".join(_tally_details(subject, tally)),),
    )


def _set(subject: Subject, name: str, title: str, labels: Sequence[str]) -> str:
    return subject.sets.add(name, title, [case.index for case in subject.labelled(set(labels))])


def _released(tally: StrategyTally) -> str:
    if isinstance(tally.success, Undefined) and tally.tries:
        return f"{UNDEFINED} of {figures.count(tally.tries)}"
    return f"{figures.count(len(set(tally.dialogues)))} of {figures.count(tally.tries)}"


def _tally_details(subject: Subject, tally: StrategyTally) -> Iterator[str]:
    yield figures.number_of(tally.attempts, "attempt")
    yield figures.number_of(tally.refinements, "refinement")
    if isinstance(tally.success, Undefined):
        yield tally.success.reason.rstrip(".").lower()
    for name, n in tally.confirmed.items():
        yield f"{title_of(subject.study, name)}: {figures.count(n)} released"
    if tally.planned > tally.tries:
        yield f"{figures.count(tally.planned - tally.tries)} not completed"


_REACHED = {
    Reach.NOTHING_KNOWN: "no label, so nothing is known",
    Reach.NEVER: "no application ever failed, so it does not distinguish applications",
    Reach.ALWAYS: "every application always failed, so it does not distinguish applications",
    Reach.BETWEEN: "some fail, some do not",
}


def proxy_table(subject: Subject) -> Table | None:
    """Return one row for each check of a scenario as a proxy; None if no scenario states its real use."""
    if not subject.findings.proxies:
        return None
    return Table(
        title="Scenarios as proxies",
        columns=columns(
            "Scenario, rule", "By", "Labelled of planned", "Headroom", "Tells applications apart", "Levels of testing"
        ),
        rows=tuple(_proxy_row(subject, check) for check in subject.findings.proxies),
        style="groups",
    )


def _proxy_row(subject: Subject, check: ProxyCheck) -> tuple[Value | TableCell, ...]:
    return (
        TableCell(value=check.scenario, details=(check.rule,)),
        title_of(subject.study, check.annotator),
        figures.share(check.n_labelled, check.n_planned),
        _REACHED[check.reach],
        _apart_text(check),
        "; ".join(map(_order_text, check.orders)) or "one level alone, or one application",
    )


def _apart_text(check: ProxyCheck) -> str:
    test = check.apart
    if isinstance(test, Undefined):
        return undefined_text(test)
    gap = "" if test.effect is None else f"{figures.points(test.effect)} points between the furthest two, "
    p_value = test.p_value if check.adjusted_p_value is None else check.adjusted_p_value
    chance = "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".")
    sets, testers = figures.count(test.n), figures.count(test.n_clusters or test.n)
    return f"{gap}{chance} ({sets} sets of {testers} testers, personas or prompts)"


def _order_text(order: LevelOrder) -> str:
    n = order.alike + order.opposed + order.tied
    return (
        f"{order.first.value} and {order.second.value}: {order.alike} of {n} pairs of applications in the same order, "
        f"{order.opposed} in the opposite one, {order.tied} tied"
    )
