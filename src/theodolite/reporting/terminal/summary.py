"""The result on one screen of a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE, Annotator
from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Findings, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.run import RunState, Spending
from theodolite.domain.study import Study
from theodolite.domain.text import printable, spent_text
from theodolite.domain.undefined_reasons import UNDEFINED
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.interval_bars import pen_for
from theodolite.reporting.queries.agreements import (
    Agreement,
    Correction,
    agreement_text,
    agreements_of,
    among_people,
    coefficients_text,
    common_reason,
    corrections_to_tell,
    counts_text,
    distance_text,
    is_tried,
    judges_of,
    opponent_text,
    own_words,
    percents_text,
    plain_agreement,
    score_distances,
    subject_text,
    unreadable_cases,
    unreadable_judges,
    validation_note,
    with_people,
)
from theodolite.reporting.queries.cases import Case, cases_of, rules_of, scripted_names, title_of
from theodolite.reporting.queries.dispositions import (
    Account,
    account_text,
    accounts_of,
    accounts_to_tell,
    application_accounts,
    claims_text,
    filtered_text,
)
from theodolite.reporting.queries.gates import gate_facts, gate_notes, gate_results
from theodolite.reporting.queries.headline import headline
from theodolite.reporting.queries.rates import (
    Guardrail,
    Rate,
    guardrail_of,
    lead_rates,
    matrix_of,
    rates_for,
    rates_of,
    unlabelled_guidelines,
)
from theodolite.reporting.terminal.findings import (
    Screen,
    guardrail_rows,
    matrix_lines,
    next_step,
    order_lines,
    rule_rows,
    testers_text,
)
from theodolite.reporting.terminal.judges import diagnostics_lines
from theodolite.reporting.terminal.layout import GUARDRAIL_MARGIN, MARGIN, labelled
from theodolite.reporting.terminal.trees import summary_words
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import cluster_words, role_breaks_text, short_phrase
from theodolite.reporting.words.estimates import plugin_measure_texts
from theodolite.reporting.words.reading_aids import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folder of a run's files, as people can type it; empty if there is none."""

    report: str = ""
    results: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summary:
    """Everything that the parts of a summary are drawn from."""

    evidence: Evidence
    findings: Findings
    facts: RunFacts
    screen: Screen
    cases: tuple[Case, ...]
    accounts: tuple[Account, ...]
    rates: tuple[Rate, ...]
    guardrail: Guardrail | None

    @property
    def margin(self) -> int:
        return GUARDRAIL_MARGIN if self.guardrail else MARGIN

    def lines(self, label: str, text: str) -> list[str]:
        """Return a labelled paragraph; nothing if there is no text."""
        return labelled(label, text, margin=self.margin, width=self.screen.width) if text else []


def summary_text(
    evidence: Evidence,
    findings: Findings,
    facts: RunFacts,
    words: Words,
    *,
    width: int = 80,
    unicode: bool = True,
    places: Places | None = None,
) -> str:
    """Return the result of a run as one screen of text.

    Args:
        evidence: The evidence of the run.
        findings: Everything that was measured on it.
        facts: Origin of the run.
        words: The reading aids.
        width: Columns of the terminal; count.
        unicode: Whether the terminal shows more than plain letters.
        places: Paths of the report and the results.

    Returns:
        Lines without a trailing line break; every percentage is next to its count.
    """
    cases = cases_of(evidence.answers)
    summary = _Summary(
        evidence=evidence,
        findings=findings,
        facts=facts,
        screen=Screen(width=width, pen=pen_for(unicode=unicode), words=words, settings=evidence.answers.settings),
        cases=cases,
        accounts=accounts_of(evidence.study, cases),
        rates=rates_of(findings, evidence.study),
        guardrail=guardrail_of(evidence.study),
    )
    parts = [_head(summary), _rows(summary), [""] * bool(summary.guardrail), _notes(summary)]
    text = "\n".join(line for part in [*parts, _ending(summary, places or Places())] for line in part)
    return text if unicode else text.replace("…", "~")


def _head(summary: _Summary) -> list[str]:
    study, words = summary.evidence.study, summary.screen.words
    title = study.title or study.name
    about = headline(summary.evidence, agreements_of(summary.findings))
    margin = len(title) + 4 if summary.guardrail else max(len(title) + 2, MARGIN)
    lines = labelled(title, about, margin=margin, width=summary.screen.width)
    if summary.evidence.run.state is RunState.UNFINISHED:
        done, planned = summary.evidence.answers.n_completed, len(summary.evidence.sessions)
        lines += summary.lines("", words.short("unfinished", done=done, planned=planned))
    if scripted_names(summary.evidence):
        lines += summary.lines("", words.short("scripted"))
    for warning in unreadable_judges(study, summary.cases):
        lines += summary.lines("", printable(warning))
    return lines


def _rows(summary: _Summary) -> list[str]:
    study, guardrail = summary.evidence.study, summary.guardrail
    matrix = matrix_of(study, summary.rates) if guardrail is None else ()
    if matrix:
        return matrix_lines(study, matrix, summary.screen.width)
    if guardrail is None:
        return rule_rows(study, rules_of(study), summary.rates, summary.screen)
    return _guardrail_rows(summary, guardrail)


def _guardrail_rows(summary: _Summary, guardrail: Guardrail) -> list[str]:
    study = summary.evidence.study
    rest = [(guideline, rule) for guideline, rule in rules_of(study) if guideline is not guardrail.guideline]
    rows = guardrail_rows(study, guardrail, summary.rates, summary.screen)
    return rows + (rule_rows(study, rest, summary.rates, summary.screen) if rest else [])


def _account_lines(summary: _Summary) -> list[str]:
    """Return one account for all guidelines; several, with the guidelines' names, if they differ."""
    alike: dict[str, list[Account]] = {}
    for account in accounts_to_tell(summary.accounts):
        alike.setdefault(account_text(account), []).append(account)
    lines: list[str] = []
    for accounts in alike.values():
        differ = len({frozenset(_titles(summary, account)) for account in accounts}) > 1
        text = account_text(accounts[0], alike=differ)
        names = ", ".join(account.guideline for account in accounts)
        lines += summary.lines("" if lines else "Completeness", f"{names}: {text}" if len(alike) > 1 else text)
        lines += summary.lines("", _bounds_text(summary, accounts[0]))
    return lines


def _titles(summary: _Summary, account: Account) -> list[str]:
    return [title_of(summary.evidence.study, name) for name in account.annotators]


def _notes(summary: _Summary) -> list[str]:
    lines = []
    study, agreements = summary.evidence.study, agreements_of(summary.findings)
    if any(rate.has_shares for rate in _leading(summary)):
        lines += summary.lines("Shares", summary.screen.words.short("pool_share"))
    lines += _account_lines(summary)
    lines += summary.lines("Unlabelled", _unlabelled_text(summary))
    for guideline in study.guidelines:
        lines += summary.lines("Agreement", people_text(study, guideline, agreements))
        judges = judges_text(summary.evidence, guideline, agreements, summary.cases, summary.findings)
        lines += summary.lines("Judge", judges)
        lines += summary.lines("Corrected", corrected_text(summary.evidence, guideline, summary.findings))
    lines += _judge_diagnostics(summary)
    for label, text in order_lines(study, summary.findings.order_metrics):
        lines += summary.lines(label, text)
    lines += summary.lines("Users", role_breaks_text(summary.findings.role_breaks))
    lines += summary.lines("Testers", testers_text(summary.findings))
    lines += summary.lines("Filtered", filtered_text(application_accounts(study, summary.cases)))
    lines += summary.lines("Claims", claims_text(summary.findings.claims))
    lines += summary.lines("Tree", summary_words(summary.findings.trees))
    for position, text in enumerate(plugin_measure_texts(summary.findings)):
        lines += summary.lines("" if position else "Measures", printable(text))
    return lines


def _unlabelled_text(summary: _Summary) -> str:
    names = ", ".join(guideline.name for guideline in unlabelled_guidelines(summary.evidence.study, summary.rates))
    return f"nobody has labelled by {names} yet" if names else ""


def _judge_diagnostics(summary: _Summary) -> list[str]:
    lines, shown = [], set()
    for label, text in diagnostics_lines(summary.evidence.study, summary.findings.judge_diagnostics):
        lines += summary.lines("" if label in shown else label, text)
        shown.add(label)
    return lines


def _bounds_text(summary: _Summary, account: Account) -> str:
    """Return the range in which the unmeasured dialogues leave the only rate of a guideline."""
    rates = [rate for rate in _leading(summary) if rate.measurement.subject.guideline == account.guideline]
    if len(rates) != 1 or rates[0].measurement.bounds is None or rates[0].measurement.result.n < figures.FEW:
        return ""
    low, high = rates[0].measurement.bounds
    these = f"these {figures.count(rates[0].measurement.outcomes.unmeasured)}"
    return summary.screen.words.short("failures", these=these, low=figures.points(low), high=figures.percent(high))


def _ending(summary: _Summary, places: Places) -> list[str]:
    step = next_step(summary.evidence, summary.findings, summary.facts, summary.accounts)
    lines = summary.lines("Note", _read_this(summary))
    for position, text in enumerate(_gate_notes(summary)):
        lines += summary.lines("" if position else "Gates", printable(text))
    lines += summary.lines("Cost", _spent(summary))
    lines += _places(summary, places)
    return lines + summary.lines("Next", step)


def _places(summary: _Summary, places: Places) -> list[str]:
    """Return the paths of the files: on one line if both fit, never broken, so that they can be copied."""
    named = [(name, path) for name, path in (("Open", places.report), ("Data", places.results)) if path]
    lines = [name.ljust(summary.margin) + path for name, path in named]
    together = "    ".join([*lines[:1], *(f"{name}  {path}" for name, path in named[1:])])
    return [together] if named and len(together) <= summary.screen.width else lines


def _read_this(summary: _Summary) -> str:
    words, texts = summary.screen.words, []
    zero = _largest_zero([rate for rate in _leading(summary) if rate.defects == 0])
    if zero is not None and zero.estimate is not None and zero.ceiling is not None:
        bound = figures.percent(zero.ceiling)
        clustered = zero.estimate.n_clusters is not None
        tester, _ = cluster_words(summary.screen.settings, zero.measurement.subject)
        aid = "zero_defects_clustered" if clustered else "zero_defects"
        texts.append(words.short(aid, zero=0, n=figures.count(zero.estimate.n), bound=bound, tester=tester))
    held_by = {setting.held_by for setting in summary.evidence.answers.settings}
    if TesterType.SIMULATED_USER in held_by and TesterType.PERSON not in held_by:
        texts.append(words.short("simulated_users"))
    is_interactive = bool(held_by & {TesterType.SIMULATED_USER, TesterType.PERSON})
    texts.append(words.short("any_rate", units="dialogues" if is_interactive else "prompts"))
    return " ".join(texts[:2])


def _leading(summary: _Summary) -> list[Rate]:
    study = summary.evidence.study
    return [r for g, rule in rules_of(study) for r in lead_rates(summary.rates, g.name, rule.name)]


def _largest_zero(zeros: Sequence[Rate]) -> Rate | None:
    known = [rate for rate in zeros if rate.estimate is not None and rate.estimate.n >= figures.FEW]
    return max(known, key=lambda rate: rate.estimate.n if rate.estimate else 0, default=None)


def _gate_notes(summary: _Summary) -> list[str]:
    facts = gate_facts(summary.evidence, summary.facts.generated)
    return gate_notes(gate_results(summary.evidence.study, summary.findings, facts))


def _spent(summary: _Summary) -> str:
    cost = run_cost_text(summary.evidence.spending, has_models=bool(summary.evidence.study.models))
    took = "" if summary.facts.duration_s is None else f", {figures.duration(summary.facts.duration_s)}"
    return cost and cost + took


def run_cost_text(spending: Spending, *, has_models: bool) -> str:
    """Return calls and cost; no amount for a study without models, since the cost of its application is unknown."""
    if not spending.calls:
        return ""
    cost = spent_text(spending.cost_microusd, spending.calls, spending.unpriced_calls)
    parts = [figures.number_of(spending.calls, "call"), cost if has_models else "no model called"]
    return ", ".join([*parts, *(["set `price` for the model"] if spending.unpriced_calls else [])])


_MOST_CORRECTED = 4


def people_text(study: Study, guideline: Guideline, agreements: Sequence[Agreement]) -> str:
    """Return the agreement among people; empty if fewer than two labelled."""
    exact = plain_agreement(study, agreements, guideline)
    kappa = among_people(study, agreements, guideline, Measure.FLEISS_KAPPA)
    if not any(agreement.estimate for agreement in exact):
        reason = common_reason(exact or kappa)
        unknown = f"{subject_text(study, guideline)}agreement is {UNDEFINED}: {reason}"
        return unknown if _has_unreadable(exact or kappa) else ""
    percents, counts = percents_text(exact), counts_text(exact)
    coefficient = f"Fleiss' kappa {coefficients_text(kappa)}" if kappa else ""
    head, notes = (percents, [counts, coefficient]) if percents else (counts, [coefficient])
    inside = "; ".join(note for note in notes if note)
    return f"{subject_text(study, guideline)}people {head}{f' ({inside})' if inside else ''}"


def _has_unreadable(agreements: Sequence[Agreement]) -> bool:
    return any(agreement.unreadable for agreement in agreements)


def judges_text(
    evidence: Evidence, guideline: Guideline, agreements: Sequence[Agreement], cases: Sequence[Case], findings: Findings
) -> str:
    """Return each judge's agreement with the final labels or people, and the result of the first one separately."""
    study = evidence.study
    validated = [j for j in judges_of(study, guideline.name) if is_tried(study, agreements, guideline, j.name)]
    validated.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    if not validated:
        return ""
    parts: list[str] = []
    for judge in validated:
        exact = with_people(study, agreements, guideline, judge.name, Measure.EXACT_AGREEMENT)
        name = judge.title or judge.name
        scores = () if exact else score_distances(study, agreements, guideline, judge.name)
        if parts:
            further = f"by {distance_text(scores)}" if scores else f"on {agreement_text(exact).split(' of ')[0]}"
            parts.append(f"{name} {further}")
            continue
        unparseable = _unparseable_text(cases, guideline, judge)
        noted = f"{name} ({validation_note(evidence, judge.name)})"
        if scores:
            nearness = f"differs from {opponent_text(scores)} by {distance_text(scores)}"
        else:
            nearness = f"agrees with {opponent_text(exact)} on {agreement_text(exact, unparseable)}"
        parts.append(f"{subject_text(study, guideline)}{noted} {nearness}")
    alone = _alone_text(study, guideline, validated[0], rates_of(findings, study), is_named=len(validated) > 1)
    return f"{'; '.join(parts)}.{f' {alone}' if alone else ''}"


def corrected_text(evidence: Evidence, guideline: Guideline, findings: Findings) -> str:
    """Return the judges' rates corrected by people's labels; empty without a labelled sample."""
    study, rates = evidence.study, rates_of(findings, evidence.study)
    result = corrections_to_tell(study, findings, guideline)
    defined = [correction for correction in result if correction.is_defined]
    texts = []
    for correction in defined[:_MOST_CORRECTED]:
        own = own_words(correction, findings, rates)
        by = title_of(study, correction.by).removesuffix(".")
        known = f", with the errors found on {by}" if correction.is_transported else f" by {by}"
        alone = f"; {title_of(study, correction.judge)} alone {own}" if own else ""
        texts.append(f"{_corrected_subject(guideline, correction)} {correction.text}{known}{alone}.")
    rest = len(defined) - _MOST_CORRECTED
    texts += [f"{rest} more in the report."] if rest > 0 else []
    return " ".join([*texts, *_undefined_corrections(study, guideline, result)])


def _corrected_subject(guideline: Guideline, correction: Correction) -> str:
    several = len(guideline.defect_rules) > 1
    return correction.measurement.application + (f" {correction.measurement.subject.rule}".rstrip() if several else "")


def _undefined_corrections(study: Study, guideline: Guideline, found: Sequence[Correction]) -> list[str]:
    """Return why rates have no correction: one sentence for each reason."""
    alike: dict[str, list[Correction]] = {}
    for correction in found:
        if isinstance(correction.result, Undefined):
            alike.setdefault(correction.result.reason.rstrip("."), []).append(correction)
    texts = []
    for reason, own in alike.items():
        subjects = ", ".join(dict.fromkeys(_corrected_subject(guideline, one) for one in own))
        people = dict.fromkeys(title_of(study, one.by).removesuffix(".") for one in own)
        by = next(iter(people)) if len(people) == 1 else f"{len(people)} people"
        texts.append(f"{subjects} by {by}: {UNDEFINED}. {reason}.")
    return texts


def _unparseable_text(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    unread = {
        outcome.value: unreadable_cases(cases, guideline, judge.name, outcome)
        for outcome in (Outcome.UNPARSEABLE, Outcome.REFUSED)
    }
    counts = [f"{figures.count(len(result))} {name}" for name, result in unread.items() if result]
    if not counts:
        return ""
    applications = Counter(case.setting.application for result in unread.values() for case in result)
    where = f", all on {next(iter(applications))}," if len(applications) == 1 else ""
    return f"its {' and '.join(counts)}{where} count as not agreeing"


def _alone_text(
    study: Study, guideline: Guideline, judge: Annotator, rates: tuple[Rate, ...], *, is_named: bool
) -> str:
    """Return where the judge and the reference differ most, with one application per rule."""
    if study.reference is None or study.reference.guideline != guideline.name:
        return ""
    gaps = [gap for rule in _sides(guideline) if (gap := _widest_gap(rates, guideline, rule, judge.name)) is not None]
    verbs = (" would show", "")
    contrasts = [f"{application}{verb} {contrast}" for (application, contrast), verb in zip(gaps, verbs, strict=False)]
    by = (judge.title or judge.name) if is_named else "it"
    return f"By {by} alone {', and '.join(contrasts)}." if contrasts else ""


def _sides(guideline: Guideline) -> tuple[DefectRule, ...]:
    """Return the rules to compare by: the first one on each side of a guardrail."""
    first = {rule.violation: rule for rule in reversed(guideline.defect_rules)}
    return tuple(rule for rule in guideline.defect_rules if first[rule.violation] is rule)[:2]


def _widest_gap(rates: tuple[Rate, ...], guideline: Guideline, rule: DefectRule, judge: str) -> tuple[str, str] | None:
    finals = rates_for(rates, guideline.name, rule.name, annotators=(REFERENCE,))
    by_judge = {r.measurement.application: r for r in rates_for(rates, guideline.name, rule.name, annotators=(judge,))}
    pairs = [(final, by_judge[app]) for final in finals if (app := final.measurement.application) in by_judge]
    if not pairs:
        return None
    final, alone = max(pairs, key=lambda pair: abs(pair[0].defects - pair[1].defects))
    if final.defects == alone.defects:
        return None
    true = figures.count(final.defects)
    counted = figures.number_of(alone.defects, "defect")
    shown = f"{figures.count(alone.defects)} {short_phrase(rule)}" if rule.phrase else counted
    return final.measurement.application, f"{shown}, not {true}"
