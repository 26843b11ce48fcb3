"""Defect rates of each application, uncorrected and corrected, with strategies, injections and tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.answer_rules import (
    AnswerSource,
    AnswerSources,
    QuestionLabels,
    annotators_of,
    pool_labels_of,
    versions_of,
)
from theodolite.domain.answers import (
    NO_VALUE,
    OUTCOME_CODES,
    DialogueLabel,
    DialogueLabels,
    DialogueSummary,
    StrategySummary,
    outcomes_of,
)
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, StrategyTally, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreement import InjectionEffect, InjectionTrial
from theodolite.domain.findings.number import TaskTally
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import decimal_of
from theodolite.domain.plan import Setting, TesterKind
from theodolite.domain.session import SessionState
from theodolite.domain.study_parts import Calibration
from theodolite.domain.undefined_reasons import (
    NO_ATTACK_LABELLED,
    NO_RELEASE_SIGNS,
    NONE_LABELLED,
    NOT_PLANNED,
    NOT_SAMPLED,
    STRATEGY_WITHOUT_DIALOGUE,
)
from theodolite.measurement.correction import corrected_mean, corrected_rate, rogan_gladen_rate
from theodolite.measurement.labels import cluster_sizes, shared_clusters
from theodolite.measurement.proportion import DIALOGUES, Clusters, defect_rate, pooled_defect_rate, zero_defect_bound
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.study.paired_labels import LabelPair, PairedLabels

_NOT_APPLICABLE = OUTCOME_CODES[Outcome.NOT_APPLICABLE]

NOT_STATED = "not stated"
"""Value of a group that a dialogue does not state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defects:
    """The defects among some planned sessions according to one source.

    Attributes:
        outcomes: Outcomes of the planned sessions.
        labels: Labels of the dialogues with a defect.
        clusters: Pairs (defects, labelled), one per cluster; None if no two
            labelled dialogues share one.
        non_defects: Labels of the dialogues that have a label and no defect.
        unlabelled: Labels of the planned dialogues that have no label.
    """

    outcomes: Outcomes
    labels: tuple[str, ...]
    clusters: Clusters | None
    non_defects: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()

    def bounds(self, rate: Estimate | Undefined) -> tuple[float, float] | None:
        """Return the rate if all unlabelled dialogues had no defect, and if all had one; None if all have a label."""
        relevant = self.outcomes.planned - self.outcomes.not_applicable
        if not self.outcomes.unmeasured:
            return None
        is_share = isinstance(rate, Estimate) and rate.count is None
        n_defects = rate.value * rate.n if isinstance(rate, Estimate) and is_share else len(self.labels)
        return n_defects / relevant, (n_defects + self.outcomes.unmeasured) / relevant


def rates(
    subject: EstimateSubject,
    labels: QuestionLabels,
    rule: DefectRule,
    by: AnswerSources,
    groups: Sequence[str],
) -> Iterator[Measurement]:
    """Yield the defect rates of one application under one rule.

    There is one rate by the reference and one by each annotator; labels are never
    merged. Splits by group follow, by the reference if there is one.

    Args:
        subject: Application and test setting.
        labels: Labels of the rule's question on the sessions of the denominator.
        rule: When an answer is a defect.
        by: The annotators.
        groups: Names of the groups to split by.
    """
    # A pool comes first; each of its members has a row about the dialogues assigned to that person.
    for source in (*by.headline, *by.pool_members):
        yield from _rate(subject, labels, rule, source)
    for group in groups:
        if group not in rule.among and any(group in labels.setting(position).groups for position in labels.positions):
            for value, part in _split(labels, group):
                of_group = replace(subject, group=GroupValue(name=group, value=value))
                for source in by.reference_annotators:
                    yield from _rate(of_group, part, rule, source)


def _split(labels: QuestionLabels, group: str) -> Iterator[tuple[str, QuestionLabels]]:
    parts: dict[str, list[int]] = {}
    for position in labels.positions:
        parts.setdefault(_value(labels.setting(position), group), []).append(position)
    for value, positions in parts.items():
        yield value, labels.only(positions)


def _value(setting: Setting, group: str) -> str:
    return setting.groups.get(group, NOT_STATED)


def _rate(
    subject: EstimateSubject, labels: QuestionLabels, rule: DefectRule, source: AnswerSource
) -> Iterator[Measurement]:
    own = labels.assigned_to(source)
    defects = defects_of(own, rule, own.labels(source))
    result = pooled_rate_of(own, rule) if source.is_pool else rate_of(defects)
    is_split = subject.group is not None
    measurement = Measurement(
        measure=Measure.DEFECT_RATE,
        subject=replace(
            subject,
            guideline=labels.guideline.name,
            rule=rule.name,
            condition=rule.condition,
            annotators=(source.name,),
            violation=rule.violation,
            among=tuple(GroupValue(name=name, value=value) for name, value in rule.among.items()),
        ),
        result=result,
        outcomes=defects.outcomes,
        versions=versions_of(labels.guideline, [source]),
        bounds=defects.bounds(result),
        dialogues=defects.labels,
        non_defects=() if is_split else defects.non_defects,
        unlabelled=() if is_split else defects.unlabelled,
    )
    yield measurement
    if defects.outcomes.used and not defects.labels:
        sizes = [labelled for _, labelled in defects.clusters] if defects.clusters else None
        bound = zero_defect_bound(defects.outcomes.used, clusters=sizes)
        yield replace(measurement, measure=Measure.ZERO_DEFECT_BOUND, result=bound, non_defects=(), unlabelled=())


def defects_of(question_labels: QuestionLabels, rule: DefectRule, labels: DialogueLabels) -> Defects:
    """Return the defects among the dialogues of a question according to one source."""
    scale = question_labels.question.scale
    name_of, settings = question_labels.table.sessions.label, question_labels.table.settings
    defective: list[str] = []
    non_defects: list[str] = []
    unlabelled: list[str] = []
    labelled: Counter[str] = Counter()
    defects: Counter[str] = Counter()
    bad = {code for code in set(labels.values) if code != NO_VALUE and rule.is_defect(labels.texts[code], scale)}
    for position, outcome, value in zip(question_labels.positions, labels.outcomes, labels.values, strict=True):
        name = name_of(position)
        if value == NO_VALUE:
            unlabelled += [name] * (outcome != _NOT_APPLICABLE)
            continue
        cluster = settings[position].cluster or name  # a dialogue without a cluster resembles no other
        labelled[cluster] += 1
        if value in bad:
            defects[cluster] += 1
            defective.append(name)
        else:
            non_defects.append(name)
    shared = len(labelled) < labelled.total()
    return Defects(
        outcomes=labels.outcome_counts(),
        labels=tuple(defective),
        clusters=[(defects[cluster], n) for cluster, n in labelled.items()] if shared else None,
        non_defects=tuple(non_defects),
        unlabelled=tuple(unlabelled),
    )


def rate_of(defects: Defects) -> Estimate | Undefined:
    """Return the rate of some defects; undefined if no dialogue has a label."""
    outcomes = defects.outcomes
    if outcomes.used:
        return defect_rate(len(defects.labels), outcomes.used, clusters=defects.clusters)
    return Undefined(reason=_why_nothing(outcomes), unit=DIALOGUES, method="wilson")


def pooled_rate_of(question_labels: QuestionLabels, rule: DefectRule) -> Estimate | Undefined:
    """Return the rate over dialogues that a pool of people shares; undefined if no dialogue has a label."""
    labels = list(
        pool_labels_of(
            question_labels.table,
            question_labels.guideline,
            question_labels.question,
            rule=rule,
            positions=question_labels.positions,
        )
    )
    clusters = [question_labels.setting(label.position).cluster or None for label in labels]
    own = {label.position: cluster for label, cluster in zip(labels, clusters, strict=True)}
    shared = [cluster for cluster in own.values() if cluster is not None]
    if not labels:
        source = AnswerSource(name=PEOPLE, kind=None, version="", is_pool=True)
        return rate_of(defects_of(question_labels, rule, question_labels.labels(source)))
    return pooled_defect_rate(
        [label.position for label in labels],
        [label.annotator for label in labels],
        [rule.is_defect(label.value, question_labels.question.scale) for label in labels],
        clusters=clusters if len(set(shared)) < len(shared) else None,
    )


def _why_nothing(outcomes: Outcomes) -> str:
    """Return why there is no rate: nothing planned, or the outcomes of everything planned."""
    if not outcomes.planned:
        return NOT_PLANNED
    became = {
        Outcome.FAILED: outcomes.failed,
        Outcome.UNPARSEABLE: outcomes.unparseable,
        Outcome.REFUSED: outcomes.refused,
        Outcome.NOT_APPLICABLE: outcomes.not_applicable,
        Outcome.MISSING: outcomes.missing,
    }
    named = ", ".join(f"{count} {outcome.value}" for outcome, count in became.items() if count)
    return NONE_LABELLED.format(planned=outcomes.planned, outcomes=named)


@dataclass(frozen=True, slots=True)
class _RateRow:
    """Key of dialogues counted together: scenario, strategy, application, level and tester type."""

    scenario: str
    strategy: str
    application: str
    level: str
    held_by: str


def strategy_tallies(evidence: Evidence) -> tuple[StrategyTally, ...]:
    """Return the results of each strategy, in the plan's order of scenarios, strategies and applications.

    Success is what the red teamer saw. In addition, there is what annotators
    labelled as a release of prohibited content, each separately. Sessions that
    failed count as planned but not as tried.
    """
    table = evidence.answers
    rows: dict[_RateRow, list[tuple[int, StrategySummary | None]]] = {}
    for position, setting in enumerate(table.settings):
        for name, strategy in _strategies(setting, table.dialogues[position]):
            row = _RateRow(setting.scenario, name, setting.application, setting.level.value, setting.held_by.value)
            rows.setdefault(row, []).append((position, strategy))
    tallies = (_tally(evidence, row, tries) for row, tries in rows.items())
    positions = {application.name: position for position, application in enumerate(evidence.study.applications)}
    order = {row: position for position, row in enumerate(dict.fromkeys((r.scenario, r.strategy) for r in rows))}
    return tuple(sorted(tallies, key=lambda t: (order[t.scenario, t.strategy], positions.get(t.application, 0))))


def _strategies(setting: Setting, dialogue: DialogueSummary | None) -> Iterator[tuple[str, StrategySummary | None]]:
    """Yield the strategies of a session by name; a planned session without a dialogue has no record."""
    if dialogue is not None:
        yield from ((summary.name, summary) for summary in dialogue.strategies)
    elif setting.kind is TesterKind.ATTACK:
        yield setting.strategy, None


def _tally(evidence: Evidence, row: _RateRow, sessions: Sequence[tuple[int, StrategySummary | None]]) -> StrategyTally:
    made = [(position, strategy) for position, strategy in sessions if strategy is not None]
    label = evidence.sessions.label
    successes = tuple(dict.fromkeys(label(position) for position, strategy in made if strategy.succeeded))
    return StrategyTally(
        scenario=row.scenario,
        strategy=row.strategy,
        application=row.application,
        level=row.level,
        held_by=row.held_by,
        planned=len(sessions),
        tries=len(made),
        attempts=sum(strategy.attempts for _, strategy in made),
        refinements=sum(strategy.refinements for _, strategy in made),
        success=_success(len(successes), len({position for position, _ in made}), sees=_sees(evidence, row)),
        dialogues=successes,
        held=tuple(dict.fromkeys(label(position) for position, _ in made)),
        confirmed=_confirmed(evidence, row, [position for position, _ in made]),
    )


def _sees(evidence: Evidence, row: _RateRow) -> bool:
    """Return whether the red teamer could see a release: people state it, programs need signs."""
    if row.held_by != TesterType.SIMULATED_USER.value:
        return True
    return any(scenario.packet.release_signs for scenario in evidence.study.scenarios if scenario.name == row.scenario)


def _success(successes: int, tries: int, *, sees: bool) -> Estimate | Undefined:
    if tries and (sees or successes):
        return defect_rate(successes, tries)
    reason = NO_RELEASE_SIGNS if tries else STRATEGY_WITHOUT_DIALOGUE
    return Undefined(reason=reason, n=tries, unit=DIALOGUES, method="wilson")


def _confirmed(evidence: Evidence, row: _RateRow, positions: Sequence[int]) -> dict[str, int]:
    """Return the number of sessions with released prohibited content by annotator, by any of its guidelines."""
    counts: Counter[str] = Counter()
    table, study = evidence.answers, evidence.study
    for guideline, rule in _release_rules(evidence):
        question = guideline.instrument.question(rule.question)
        is_annotated = study.asks(guideline.name, row.scenario)
        judged = [
            position for position in positions if is_annotated and rule.applies_to(table.settings[position].groups)
        ]
        labels = QuestionLabels(table=table, guideline=guideline, question=question, positions=judged, rule=rule)
        by = annotators_of(study, guideline, study.application(row.application)).headline if judged else ()
        for source in by:
            values = [reading.value for reading in labels.labels(source)]
            counts[source.name] += sum(v is not None and rule.is_defect(v, question.scale) for v in values)
    return dict(counts)


def _release_rules(evidence: Evidence) -> Iterator[tuple[Guideline, DefectRule]]:
    for guideline in evidence.study.guidelines:
        rule = next((r for r in guideline.defect_rules if r.violation is Violation.PROHIBITED_RELEASED), None)
        if rule is not None:
            yield guideline, rule


_UNIT = "fraction of verdicts"


def turned_shares(trials: Sequence[InjectionTrial], *, judge: str, guideline: str) -> Iterator[Measurement]:
    """Yield the share of verdicts that injections changed: over all attempts, then for each.

    Each dialogue receives all attempts, so the trials of one cluster are not
    independent, and the intervals account for that.

    Args:
        trials: Effect of each attempt on each dialogue.
        judge: Name of the judge.
        guideline: Name of the guideline.

    Source:
        The interval is that of `defect_rate`.
    """
    attempts: dict[str, list[InjectionTrial]] = defaultdict(list)
    for trial in trials:
        attempts[trial.attempt].append(trial)
    groups = {"all": list(trials), **attempts} if trials else {}
    for name, group in groups.items():
        yield Measurement(
            measure=Measure.VERDICTS_TURNED,
            subject=EstimateSubject(
                application=ALL_APPLICATIONS, guideline=guideline, annotators=(judge,), attempt=name
            ),
            result=_share(group),
            outcomes=_outcomes(group),
            dialogues=tuple(dict.fromkeys(t.dialogue for t in group if t.effect is InjectionEffect.TURNED)),
        )


def _share(trials: Sequence[InjectionTrial]) -> Estimate | Undefined:
    measured = [trial for trial in trials if trial.effect is not InjectionEffect.UNMEASURED]
    if not measured:
        return Undefined(reason=NO_ATTACK_LABELLED.format(n=len(trials)), unit=_UNIT)
    clusters: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in measured:
        clusters[trial.cluster or trial.dialogue].append(trial.effect is InjectionEffect.TURNED)
    shared = any(len(cluster) > 1 for cluster in clusters.values())
    return defect_rate(
        sum(sum(cluster) for cluster in clusters.values()),
        len(measured),
        clusters=[(sum(cluster), len(cluster)) for cluster in clusters.values()] if shared else None,
    )


def _outcomes(trials: Sequence[InjectionTrial]) -> Outcomes:
    lost = sum(trial.effect is InjectionEffect.UNMEASURED for trial in trials)
    return Outcomes(planned=len(trials), used=len(trials) - lost, missing=lost)


def task_tallies(evidence: Evidence) -> Iterator[TaskTally]:
    """Yield how often tasks were completed, by application and level; levels without an answer are omitted.

    Source:
        `defect_rate`, with testers as clusters if a tester held several sessions.
    """
    finished = [
        session for session in evidence.sittings if session.is_over and session.state is not SessionState.WITHDRAWN
    ]
    for level in Level:
        at_level = [session for session in finished if session.level is level]
        if all(session.task_done is None for session in at_level):
            continue
        for application in evidence.study.applications:
            own = [session for session in at_level if session.application == application.name]
            answered = [session for session in own if session.task_done is not None]
            flags, people = (
                [bool(session.task_done) for session in answered],
                [session.participant for session in answered],
            )
            clusters = shared_clusters(people)
            rate = defect_rate(sum(flags), len(flags), clusters=cluster_sizes(flags, clusters))
            yield TaskTally(
                application=application.name,
                level=level,
                n_sessions=len(own),
                n_unsaid=len(own) - len(answered),
                done=replace(rate, unit="fraction of sessions"),
            )


def share_in_all(paired: PairedLabels, hit: Callable[[LabelPair], bool | None]) -> Estimate | Undefined:
    """Estimate the share of all judged dialogues with a property that only labels show.

    Each labelled dialogue represents the dialogues from which it was drawn: those with
    the same verdict and the same stratum.

    Args:
        paired: The paired labels of the judge and an authority.
        hit: Returns whether a labelled dialogue has the property; None if unknown.
    """
    paired = paired.open
    cells: list[Hashable] = [_cell(paired, pair) for pair in paired.pairs]
    counted = [
        hit(pair) if _is_labelled(pair) and paired.design.counts(pair.position) else None for pair in paired.pairs
    ]
    some = any(_is_labelled(pair) for pair in paired.pairs)
    if some and not any(paired.design.counts(pair.position) for pair in paired.pairs):
        return Undefined(reason=NOT_SAMPLED, unit=DIALOGUES)
    return corrected_rate(cells, counted, clusters=paired.clusters)


def _is_labelled(pair: LabelPair) -> bool:
    return pair.person.value is not None


def _cell(paired: PairedLabels, pair: LabelPair) -> tuple[str, str]:
    verdict_text = pair.judge.value or pair.judge.outcome.value
    verdict = paired.verdict(pair.judge)
    if paired.rule is not None:
        verdict_text = "no verdict" if verdict is None else "defect" if verdict else "sound"
    return verdict_text, paired.design.strata.get(pair.position, "")


def corrected_rates(paired: PairedLabels, subject: EstimateSubject) -> Iterator[Measurement]:
    """Yield the corrected rate of one application under one rule, if people labelled a part of its dialogues.

    It is reported beside the judge's own rate and never replaces it. If the
    authority labelled every dialogue, its own rate needs no correction.

    Args:
        paired: The paired labels of the judge and an authority on dialogues of one application; with a rule.
        subject: Application and test setting.
    """
    if paired.design.census or paired.rule is None or not paired.labelled.pairs:
        return
    yield Measurement(
        measure=Measure.CORRECTED_RATE,
        subject=replace(
            subject,
            guideline=paired.guideline.name,
            rule=paired.rule.name,
            condition=paired.rule.condition,
            annotators=(paired.judge.name,),
            corrected_by=paired.authority.name,
        ),
        result=share_in_all(paired, lambda pair: paired.verdict(pair.person)),
        outcomes=paired.authority_outcomes,
        versions=versions_of(paired.guideline, [paired.judge, paired.authority]),
    )


def transported_rate(
    subject: EstimateSubject, labels: QuestionLabels, rule: DefectRule, judge: AnswerSource, known: Calibration
) -> Measurement:
    """Return a judge's rate, corrected by its accuracy on other dialogues.

    Args:
        subject: Application and test setting.
        labels: Labels of the rule's question on the sessions of the denominator.
        rule: When an answer is a defect.
        judge: The judge.
        known: Its known accuracy.
    """
    defects = defects_of(labels, rule, labels.labels(judge))
    paired = rogan_gladen_rate(
        len(defects.labels),
        defects.outcomes.used,
        sensitivity=(known.caught, known.defects),
        specificity=(known.passed, known.sound),
        clusters=defects.clusters,
    )
    return Measurement(
        measure=Measure.ROGAN_GLADEN_RATE,
        subject=replace(
            subject,
            guideline=labels.guideline.name,
            rule=rule.name,
            condition=rule.condition,
            annotators=(judge.name,),
            calibrated_on=known.source,
        ),
        result=paired,
        outcomes=defects.outcomes,
        versions=versions_of(labels.guideline, [judge]),
    )


def corrected_means(paired: PairedLabels) -> Iterator[Measurement]:
    """Yield the mean of a judge's scores of one application, and its correction by one person's scores.

    Dialogues without a score of the judge are in the outcomes but in neither mean.

    Args:
        paired: The paired scores of the judge and a person on dialogues of one application, on a numeric question.
    """
    if paired.design.census or not paired.labelled.pairs:
        return
    open_to_both = paired.open
    scored = [(pair, score) for pair in open_to_both.pairs if (score := _number(pair.judge)) is not None]
    positions = [pair.position for pair, _ in scored]
    clusters = open_to_both.among(positions).clusters
    scores = [score for _, score in scored]
    labels = [_number(pair.person) if paired.design.counts(pair.position) else None for pair, _ in scored]
    strata = [paired.design.strata.get(position, "") for position in positions]
    subject = EstimateSubject(
        application=paired.pairs[0].setting.application,
        guideline=paired.guideline.name,
        question=paired.question.name,
        annotators=(paired.judge.name,),
    )
    outcomes = outcomes_of(pair.judge.outcome for pair in open_to_both.pairs)
    ends = paired.question.scale.lowest, paired.question.scale.highest
    scale = None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1]))
    own = mean_estimate(np.array(scores), clusters=clusters, confidence=0.95, scale=scale)
    people = corrected_mean(scores, labels, drawn_from=strata, clusters=clusters, scale=scale)
    for measure, corrected_by, result, who in (
        (Measure.JUDGE_MEAN, "", own, [paired.judge]),
        (Measure.CORRECTED_MEAN, paired.authority.name, people, [paired.judge, paired.authority]),
    ):
        yield Measurement(
            measure=measure,
            subject=replace(subject, corrected_by=corrected_by),
            result=result,
            outcomes=outcomes,
            versions=versions_of(paired.guideline, who),
        )


def _number(reading: DialogueLabel) -> float | None:
    return decimal_of(reading.value) if reading.value is not None else None
