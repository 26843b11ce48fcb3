"""All findings of a run, with the checks of numeric claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from statistics import median

from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, annotators_of, positions_of
from theodolite.domain.answers import Positions
from theodolite.domain.application import Application, Claim
from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.comparison import Comparison, GroupGap, TypologyRate
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import (
    ClaimStatus,
    ClaimTest,
    Confusion,
    Estimate,
    Findings,
    Measurement,
    Undefined,
    rules_meant,
)
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.event import BreakRule, Exposure
from theodolite.domain.event_record import (
    EventFinding,
    EventRecord,
    ExposureTally,
    LanguageTally,
    Withdrawal,
    WithdrawalTally,
)
from theodolite.domain.evidence import Evidence, blind_evidence
from theodolite.domain.findings.agreement import AnnotatorGroups, RaterChecks
from theodolite.domain.findings.number import PluginMeasurement, Significance
from theodolite.domain.findings.realism import RoleBreakCheck, RoleBreakRules
from theodolite.domain.findings.responses import LevelOrder, ProxyCheck, ProxyRate
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import QuestionLevel, Scale, ScaleKind
from theodolite.domain.plan import Setting, TesterKind
from theodolite.domain.scenario import Proxy, Scenario
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.domain.study_parts import CANARY, ContaminationCheck, canary_digest, choice_for
from theodolite.domain.undefined_reasons import TOO_FEW_TESTERS_OF_ALL
from theodolite.measurement.comparison import adjust_p_values, cochran_q
from theodolite.measurement.labels import cluster_sizes, shared_clusters
from theodolite.measurement.plugin_measures import PluginMeasure, plugin_measurements
from theodolite.measurement.probes import leaks_of
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.agreements import (
    adjusted,
    agreements,
    annotator_groups,
    confusions,
    pool_agreements,
    rater_checks,
    score_agreements,
)
from theodolite.measurement.study.differences import comparisons_of, group_gaps, typology_rates
from theodolite.measurement.study.judge_diagnostics import judge_diagnostics
from theodolite.measurement.study.order_metrics import conditions, order_findings, order_metrics
from theodolite.measurement.study.paired_labels import Design, pair_question_labels, sample_design
from theodolite.measurement.study.rates import (
    corrected_means,
    corrected_rates,
    rates,
    strategy_tallies,
    task_tallies,
    transported_rate,
)
from theodolite.measurement.study.realism import realisms, role_break_checks
from theodolite.measurement.study.responses import construct_answers, response_findings
from theodolite.measurement.study.risks import coding_findings, risk_findings
from theodolite.measurement.study.trees import tree_findings, tree_standings
from theodolite.measurement.trees.methods import BUILT_IN, Methods


def measure_study(
    evidence: Evidence,
    *,
    role_break_rules: RoleBreakRules | None = None,
    summaries: Methods = BUILT_IN,
    measures: Mapping[str, PluginMeasure] | None = None,
) -> Findings:
    """Compute all measurements that the evidence of a run supports.

    For each application and guideline, these are the rate of each defect rule, by the
    reference and by each annotator separately, and the agreement of those who
    label. Levels of testing and kinds of testers are counted separately. Every
    planned session is in the outcomes of every estimate; those that failed, were
    refused, unparseable or still open remain visible.

    Args:
        evidence: All records of one run.
        role_break_rules: Rules for role breaks, if the evidence has no results yet; None for no check.
        summaries: Summary methods that trees may name.
        measures: Measures of plugins; those that the study names are computed.

    Returns:
        Rates and agreements in the order of the study, then confusion matrices,
        findings of the checks of simulated users, claims, strategies, trees, and how judges
        went about their work.

    Example:
        >>> from datetime import UTC, datetime
        >>> from theodolite.domain.evidence import listed_evidence
        >>> from theodolite.domain.run import Run, RunState
        >>> from theodolite.domain.study import Study
        >>> run = Run(
        ...     key="r1", number=1, study="empty", study_version="", plan_version="",
        ...     state=RunState.FINISHED, started=datetime(2026, 1, 1, tzinfo=UTC),
        ... )
        >>> study = Study(name="empty", applications=(), scenarios=())
        >>> measure_study(listed_evidence(study, run, sessions=())).measurements
        ()

    Source:
        The docstring of each `measure`'s function names the source.
    """
    blind = blind_evidence(evidence)
    trees = tuple(tree_findings(evidence, summaries))
    measurements = tuple(_measurements(evidence))
    comparisons, gaps, typology = _differences(evidence, measurements)
    return Findings(
        measurements=measurements,
        confusions=tuple(_confusions(blind)),
        role_breaks=_role_breaks(evidence, role_break_rules),
        claims=tuple(claim_tests(evidence)),
        strategies=strategy_tallies(evidence),
        trees=trees,
        standings=tuple(tree_standings(evidence, trees, summaries)),
        judge_diagnostics=tuple(judge_diagnostics(evidence)),
        realisms=tuple(realisms(evidence, measurements)),
        responses=tuple(response_findings(evidence)),
        risks=risk_findings(evidence),
        annotator_groups=adjusted(tuple(_groups(blind))),
        raters=tuple(_raters(blind)),
        codings=tuple(coding_findings(evidence)),
        tasks=tuple(task_tallies(evidence)),
        proxies=proxy_checks(evidence),
        orders=tuple(order_findings(evidence)),
        order_metrics=order_metrics(blind),
        event=event_finding(evidence.study, evidence.event),
        contamination=contamination_checks(evidence),
        comparisons=comparisons,
        gaps=gaps,
        typology=typology,
        constructs=tuple(construct_answers(evidence)),
        plugin_measures=tuple(_plugin_measurements(evidence, measures or {})),
    )


def _differences(
    evidence: Evidence, measurements: Sequence[Measurement]
) -> tuple[tuple[Comparison, ...], tuple[GroupGap, ...], tuple[TypologyRate, ...]]:
    if len(evidence.study.applications) < 2 and not evidence.study.groups and not evidence.study.typology:
        return (), (), ()
    gaps = tuple(group_gaps(evidence, measurements))
    return comparisons_of(evidence, measurements), gaps, tuple(typology_rates(evidence))


def _plugin_measurements(evidence: Evidence, measures: Mapping[str, PluginMeasure]) -> Iterable[PluginMeasurement]:
    if not evidence.study.measures:
        return ()
    return plugin_measurements(evidence, measures)


def contamination_checks(evidence: Evidence) -> tuple[ContaminationCheck, ...]:
    """Return, for each material of a study, the dialogues in which an application repeats one of its canaries.

    A canary in a response shows that the application, or its model, has seen the material;
    no canary in any response does not show the opposite.

    Source:
        Srivastava et al. (2023), Beyond the Imitation Game, TMLR, arXiv:2206.04615 (canary strings).
    """
    materials = evidence.study.materials
    if not materials:
        return ()
    guarded = {digest: material.name for material in materials for digest in material.canaries}
    found: dict[str, dict[str, dict[str, None]]] = {material.name: {} for material in materials}
    n = 0
    for dialogue in evidence.archive.dialogues() if guarded else ():
        for turn in dialogue.turns:
            n += bool(turn.response)
            for text in CANARY.findall(turn.response):
                name = guarded.get(canary_digest(text))
                if name is not None:
                    found[name].setdefault(dialogue.application, {})[dialogue.label] = None
    return tuple(
        ContaminationCheck(
            material=material,
            responses=n if material.canaries else 0,
            found={application: tuple(labels) for application, labels in found[material.name].items()},
        )
        for material in materials
    )


def _role_breaks(evidence: Evidence, rules: RoleBreakRules | None) -> tuple[RoleBreakCheck, ...]:
    if evidence.role_breaks is not None:
        return evidence.role_breaks
    return role_break_checks(evidence, rules) if rules else ()


def _pieces(evidence: Evidence) -> Iterator[tuple[Application, Guideline]]:
    for application in evidence.study.applications:
        for guideline in evidence.study.guidelines:
            yield application, guideline


def _measurements(evidence: Evidence) -> Iterator[Measurement]:
    blind = blind_evidence(evidence)
    designs = _designs(blind)
    for application, guideline in _pieces(evidence):
        for rule in guideline.defect_rules:
            question = guideline.instrument.question(rule.question)
            by = annotators_of(evidence.study, guideline, application, question.name)
            for subject, positions in _settings(evidence, application, guideline, rule):
                records = evidence.answers
                labels = QuestionLabels(
                    table=records, guideline=guideline, question=question, positions=positions, rule=rule
                )
                yield from rates(subject, labels, rule, by, evidence.study.groups)
                yield from _corrected(evidence.study, subject, replace(labels, table=blind.answers), by, designs)
        for labels in _question_labels(blind, application, guideline):
            yield from agreements(application.name, labels, _those_of(blind, labels, application))
        for labels in _shared_question_labels(blind, application, guideline):
            yield from pool_agreements(application.name, labels, _those_of(blind, labels, application))
        for labels in _question_labels(blind, application, guideline, _is_number):
            those = _those_of(blind, labels, application)
            yield from score_agreements(application.name, labels, those)
            yield from _means(evidence.study, labels, those, designs)


def _those_of(evidence: Evidence, labels: QuestionLabels, application: Application) -> AnswerSources:
    """Return the annotators of a question."""
    return annotators_of(evidence.study, labels.guideline, application, labels.question.name)


def _corrected(
    study: Study,
    subject: EstimateSubject,
    labels: QuestionLabels,
    by: AnswerSources,
    designs: Mapping[str, Design],
) -> Iterator[Measurement]:
    """Yield the judges' rates with the corrections of the study: by a labelled sample, or by known accuracy."""
    rule = labels.rule
    for judge in (source for source in by.annotators if not source.is_person):
        choice = choice_for(judge.name, study.corrections)
        known = choice.calibration(rule.name) if rule else None
        if rule and known and choice.rate is RateCorrection.ROGAN_GLADEN:
            yield transported_rate(subject, labels, rule, judge, known)
        if choice.rate is RateCorrection.VERDICT_STRATIFIED:
            for person in (source for source in by.annotators if source.by_hand):
                yield from corrected_rates(
                    pair_question_labels(labels, judge, person, designs[labels.guideline.name]),
                    subject,
                )


def _means(
    study: Study, labels: QuestionLabels, by: AnswerSources, designs: Mapping[str, Design]
) -> Iterator[Measurement]:
    """Yield the means of judges' scores, raw and corrected by people's scores of a sample."""
    people = [source for source in by.annotators if source.by_hand]
    judges = [source for source in by.annotators if not source.is_person]
    for judge, person in product(judges, people):
        if choice_for(judge.name, study.corrections).mean is MeanCorrection.POWERED:
            yield from corrected_means(pair_question_labels(labels, judge, person, designs[labels.guideline.name]))


def _designs(evidence: Evidence) -> dict[str, Design]:
    """Return the sampling design of labels by hand by guideline; each is computed once."""
    labelled = {annotator.guideline for annotator in evidence.study.annotators if annotator.by_hand}
    return {
        guideline.name: sample_design(evidence, guideline)
        for guideline in evidence.study.guidelines
        if guideline.name in labelled
    }


def _settings(
    evidence: Evidence, application: Application, guideline: Guideline, rule: DefectRule
) -> Iterator[tuple[EstimateSubject, Positions]]:
    """Yield an application at each level and tester type, with the sessions to which a rule applies.

    Settings without such a session are omitted; a rule that applies to no
    session at all is yielded once.
    """
    settings = evidence.answers.settings
    own = positions_of(evidence.study, evidence.answers, application, guideline)
    applicable = [position for position in own if rule.applies_to(settings[position].groups)]
    found_conditions = conditions(settings[position] for position in own)
    whole = EstimateSubject(application=application.name)
    by_condition = [
        (at.limited(whole), [position for position in applicable if at.holds(settings[position])])
        for at in found_conditions
    ]
    filled: list[tuple[EstimateSubject, Positions]] = [
        (subject, positions) for subject, positions in by_condition if positions
    ]
    yield from filled or [(whole, ())]


def _confusions(evidence: Evidence) -> Iterator[Confusion]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline):
            yield from confusions(application.name, labels, _those_of(evidence, labels, application))


def _groups(evidence: Evidence) -> Iterator[AnnotatorGroups]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline) if evidence.annotator_attributes else ():
            by = _those_of(evidence, labels, application)
            yield from annotator_groups(
                application.name, labels, by, evidence.annotator_attributes, seed=evidence.study.sampling.seed
            )


def _raters(evidence: Evidence) -> Iterator[RaterChecks]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline):
            yield from rater_checks(application.name, labels, _those_of(evidence, labels, application))


def _has_points(scale: Scale) -> bool:
    return bool(scale.categories)


def _is_number(scale: Scale) -> bool:
    return scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}


def _question_labels(
    evidence: Evidence,
    application: Application,
    guideline: Guideline,
    is_comparable: Callable[[Scale], bool] = _has_points,
) -> Iterator[QuestionLabels]:
    """Yield the questions that are asked once per dialogue and answered on a comparable scale."""
    positions = positions_of(evidence.study, evidence.answers, application, guideline)
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.DIALOGUE and is_comparable(question.scale):
            yield QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=positions)


def _shared_question_labels(
    evidence: Evidence, application: Application, guideline: Guideline
) -> Iterator[QuestionLabels]:
    """Yield the questions on which judges can agree with a pool; for the main question, the label of the dialogue."""
    yield from _question_labels(evidence, application, guideline)
    question = guideline.question
    if question.level is QuestionLevel.TURN and _has_points(question.scale):
        positions = positions_of(evidence.study, evidence.answers, application, guideline)
        yield QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=positions)


Flags = Mapping[int, bool]
"""Position of each labelled dialogue in the plan to whether it is a defect."""


def proxy_checks(evidence: Evidence) -> tuple[ProxyCheck, ...]:
    """Return the results of each scenario that is a proxy of a real use.

    It checks the rules that show one of the scenario's risks or concern its
    guardrail, by each annotator separately; dialogues without a label remain counted.

    P-values are adjusted for all checks at once.

    Source:
        `defect_rate` over testers as clusters; `cochran_q`; `adjust_p_values`.
    """
    checks = tuple(_checks(evidence))
    tested = [check.apart.p_value for check in checks if not isinstance(check.apart, Undefined)]
    adjusted = iter(adjust_p_values(tested) if tested else ())
    return tuple(
        check if isinstance(check.apart, Undefined) else replace(check, adjusted_p_value=next(adjusted))
        for check in checks
    )


def _checks(evidence: Evidence) -> Iterator[ProxyCheck]:
    for scenario in evidence.study.scenarios:
        if scenario.proxy == Proxy():
            continue
        for guideline in evidence.study.guidelines:
            if evidence.study.asks(guideline.name, scenario.name):
                for rule in guideline.defect_rules:
                    if _is_about(evidence, scenario, guideline, rule):
                        yield from _by_rule(evidence, scenario, guideline, rule)


def _is_about(evidence: Evidence, scenario: Scenario, guideline: Guideline, rule: DefectRule) -> bool:
    shown = {name for risk in evidence.study.risks if risk.name in scenario.risks for name in risk.rules}
    return f"{guideline.name}.{rule.name}" in shown or rule.violation is not Violation.NOT_A_GUARDRAIL


def _by_rule(evidence: Evidence, scenario: Scenario, guideline: Guideline, rule: DefectRule) -> Iterator[ProxyCheck]:
    settings = evidence.answers.settings
    positions = [p for p, s in enumerate(settings) if s.scenario == scenario.name and rule.applies_to(s.groups)]
    flags: dict[str, dict[int, bool]] = defaultdict(dict)
    question = guideline.instrument.question(rule.question)
    for application in evidence.study.applications:
        own = [position for position in positions if settings[position].application == application.name]
        labels = QuestionLabels(
            table=evidence.answers, guideline=guideline, question=question, positions=own, rule=rule
        )
        for source in annotators_of(evidence.study, guideline, application, question.name).counted:
            readings = zip(own, labels.labels(source), strict=True)
            flags[source.name] |= {
                p: rule.is_defect(r.value, question.scale) for p, r in readings if r.value is not None
            }
    for annotator, own_flags in flags.items():
        rates = tuple(_rates(evidence, own_flags))
        yield ProxyCheck(
            scenario=scenario.name,
            rule=f"{guideline.name}.{rule.name}",
            annotator=annotator,
            n_planned=len(positions),
            n_held=sum(evidence.answers.dialogues[position] is not None for position in positions),
            n_labelled=len(own_flags),
            rates=rates,
            apart=_apart(evidence, own_flags),
            orders=tuple(_orders(rates)),
        )


def _rates(evidence: Evidence, flags: Flags) -> Iterator[ProxyRate]:
    """Yield the rate of each application at each level at which it has labels, in order of study and levels."""
    settings = evidence.answers.settings
    for application in evidence.study.applications:
        for level in Level:
            own = [p for p in flags if (settings[p].application, settings[p].level) == (application.name, level)]
            if own:
                defects, testers = (
                    [flags[position] for position in own],
                    [_tester(evidence, position) for position in own],
                )
                clusters = cluster_sizes(defects, shared_clusters(testers))
                rate = defect_rate(sum(defects), len(defects), clusters=clusters)
                yield ProxyRate(application=application.name, level=level, defect=rate)


def _tester(evidence: Evidence, position: int) -> str:
    return evidence.answers.settings[position].cluster or evidence.sessions.label(position)


def _apart(evidence: Evidence, flags: Flags) -> Significance | Undefined:
    """Return whether applications differ, if the same tester met all of them in the same repeat."""
    names = tuple(application.name for application in evidence.study.applications)
    met: dict[tuple[Level, str], dict[str, int]] = defaultdict(dict)
    for position in flags:
        setting = evidence.answers.settings[position]
        met[setting.level, evidence.sessions.pair_key(position)][setting.application] = position
    whole = [positions for positions in met.values() if len(positions) == len(names)]
    if len(names) < 2 or not whole:
        return Undefined(reason=TOO_FEW_TESTERS_OF_ALL, n=len(whole), method="Cochran's Q")
    sets = [[flags[positions[name]] for name in names] for positions in whole]
    clusters = [_tester(evidence, positions[names[0]]) for positions in whole]
    return cochran_q(sets, clusters, seed=evidence.study.sampling.seed)


def _orders(rates: Sequence[ProxyRate]) -> Iterator[LevelOrder]:
    """Yield, for every two levels, their agreement on which application is worse."""
    shares: dict[Level, dict[str, float]] = defaultdict(dict)
    for rate in rates:
        if isinstance(rate.defect, Estimate):
            shares[rate.level][rate.application] = rate.defect.value
    for first, second in combinations([level for level in Level if level in shares], 2):
        both = [name for name in shares[first] if name in shares[second]]
        signs = [
            (shares[first][a] - shares[first][b]) * (shares[second][a] - shares[second][b])
            for a, b in combinations(both, 2)
        ]
        if signs:
            alike, opposed = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
            tied = len(signs) - alike - opposed
            yield LevelOrder(first=first, second=second, alike=alike, opposed=opposed, tied=tied)


def claim_tests(evidence: Evidence) -> Iterator[ClaimTest]:
    """Yield the state of each claim according to the reference, or else to each annotator separately.

    One defect contradicts a claim, because a claim states what the application does
    and not how often. Only labelled dialogues support a claim: a dialogue that failed,
    was refused or could not be read leaves it untested. A few dialogues without a
    defect support a claim but prove nothing, so `n` is reported with it.
    """
    for application in evidence.study.applications:
        for claim in application.claims:
            yield from _tests(evidence, application, claim)


def _tests(evidence: Evidence, application: Application, claim: Claim) -> Iterator[ClaimTest]:
    if claim.untestable:
        status = ClaimStatus.UNTESTABLE
        yield ClaimTest(application=application.name, claim=claim, status=status, reason=claim.untestable)
        return
    rules = rules_meant(claim, evidence.study.guidelines)
    reason = _why_unclear(claim, len(rules))
    if reason:
        yield _untested(application, claim, reason)
        return
    (guideline, rule) = rules[0]
    settings = evidence.answers.settings
    planned = positions_of(evidence.study, evidence.answers, application, guideline)
    positions = [position for position in planned if _is_of(settings[position], claim, rule)]
    sources = annotators_of(evidence.study, guideline, application).reference_annotators
    if not positions or not sources:
        nobody = f"nobody labels by {guideline.name}"
        yield _untested(application, claim, "none of its scripts is in the plan" if sources else nobody)
        return
    labels = QuestionLabels(
        table=evidence.answers,
        guideline=guideline,
        question=guideline.instrument.question(rule.question),
        positions=positions,
        rule=rule,
    )
    for source in sources:
        yield _tested(application, claim, labels, rule, source)


def _why_unclear(claim: Claim, n_rules: int) -> str:
    if not claim.scripts:
        return "it names no scripts"
    if n_rules == 1:
        return ""
    named = f"`{claim.rule}`" if claim.rule else "no rule"
    return f"it names {named}, and the study has {n_rules or 'none'} that this could be"


def _is_of(setting: Setting, claim: Claim, rule: DefectRule) -> bool:
    by_script = setting.kind is TesterKind.SCRIPT and setting.tester in claim.scripts
    return by_script and rule.applies_to(setting.groups)


def _untested(application: Application, claim: Claim, reason: str) -> ClaimTest:
    return ClaimTest(application=application.name, claim=claim, status=ClaimStatus.NOT_TESTED, reason=reason)


def _tested(
    application: Application, claim: Claim, labels: QuestionLabels, rule: DefectRule, source: AnswerSource
) -> ClaimTest:
    read = zip(labels.positions, labels.labels(source), strict=True)
    labelled = [(position, reading.value) for position, reading in read if reading.value is not None]
    scale = labels.question.scale
    label = labels.table.sessions.label
    defects = [label(position) for position, value in labelled if rule.is_defect(value, scale)]
    status = ClaimStatus.CONTRADICTED if defects else ClaimStatus.SUPPORTED
    guideline: Guideline = labels.guideline
    return ClaimTest(
        application=application.name,
        claim=claim,
        status=status if labelled else ClaimStatus.NOT_TESTED,
        guideline=guideline.name,
        rule=rule.name,
        annotator=source.name,
        planned=len(labels.positions),
        n=len(labelled),
        contradicting=tuple(defects),
        reason="" if labelled else "none of its scripts' dialogues has a label",
    )


_NOT_COUNTED = frozenset({SessionState.WAITING, SessionState.ACTIVE, SessionState.WITHDRAWN})


def event_finding(study: Study, record: EventRecord) -> EventFinding | None:
    """Return the findings of an event; None without participants.

    Args:
        study: The study with its limits of exposure.
        record: Participants' records other than dialogues and answers.
    """
    if not record.sessions and not record.tombstones:
        return None
    rule = study.event.breaks if study.event else BreakRule()
    levels = (_exposure(record, level, rule) for level in Level)
    return EventFinding(
        leaks=leaks_of(record.guesses, record.sessions),
        exposures=tuple(tally for tally in levels if tally is not None),
        withdrawals=tuple(tally for tally in (_withdrawals(record, kind) for kind in Withdrawal) if tally.n_people),
        topics=record.topics,
        languages=_languages(record),
    )


def _exposure(record: EventRecord, level: Level, rule: BreakRule) -> ExposureTally | None:
    people: dict[str, list[Session]] = defaultdict(list)
    for session in record.sessions:
        if session.level is level and session.state not in _NOT_COUNTED:
            people[session.participant].append(session)
    if not people:
        return None
    exposures = [_of_person(record, sessions) for sessions in people.values()]
    return ExposureTally(
        level=level,
        n_people=len(exposures),
        n_sessions=sum(len(sessions) for sessions in people.values()),
        minutes_median=median(exposure.minutes for exposure in exposures),
        minutes_most=max(exposure.minutes for exposure in exposures),
        turns=sum(exposure.turns for exposure in exposures),
        severe=sum(exposure.severe for exposure in exposures),
        severe_most=max(exposure.severe for exposure in exposures),
        n_enough=sum(rule.is_enough(exposure) for exposure in exposures) if rule.most_min or rule.most_severe else None,
    )


def _of_person(record: EventRecord, sessions: list[Session]) -> Exposure:
    counts = [record.turns.get(session.key, (0, 0)) for session in sessions]
    ends = [(session.clock, session.clock.ended) for session in sessions]
    return Exposure(
        minutes=sum(clock.elapsed_s(ended) for clock, ended in ends if ended is not None) / 60,
        turns=sum(n for n, _ in counts),
        severe=sum(severe for _, severe in counts),
    )


def _languages(record: EventRecord) -> tuple[LanguageTally, ...]:
    by_language: dict[str, list[Session]] = defaultdict(list)
    for session in record.sessions:
        if session.clock.started is not None and session.state is not SessionState.WITHDRAWN:
            by_language[session.language].append(session)
    tallies = [
        LanguageTally(
            language=language,
            n_sessions=len(sessions),
            n_dialogues=sum(record.dialogues.get(tally.key, 0) for tally in sessions),
        )
        for language, sessions in by_language.items()
    ]
    return tuple(sorted(tallies, key=lambda tally: (not tally.language, -tally.n_sessions, tally.language)))


def _withdrawals(record: EventRecord, kind: Withdrawal) -> WithdrawalTally:
    tombstones_of_kind = [tombstone for tombstone in record.tombstones if tombstone.kind is kind]
    return WithdrawalTally(
        kind=kind,
        n_people=len(tombstones_of_kind),
        sessions=sum(tombstone.sessions for tombstone in tombstones_of_kind),
        dialogues=sum(tombstone.dialogues for tombstone in tombstones_of_kind),
        answers=sum(tombstone.answers for tombstone in tombstones_of_kind),
    )
