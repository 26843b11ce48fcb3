"""Order metrics, order effects and test conditions of a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import PEOPLE as ALL_PEOPLE
from theodolite.domain.answer_rules import (
    AnswerSource,
    AnswerSources,
    QuestionLabels,
    annotators_of,
    pool_labels_of,
    pools_of,
    positions_of,
    reason_of,
)
from theodolite.domain.answers import WORST_FIRST, AnswerRecord, AnswerTable, outcomes_of
from theodolite.domain.application import Application
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.order import (
    OrderEffect,
    OrderFactor,
    OrderFinding,
    OrderMetrics,
    OrderProfile,
    RankingAgreement,
    RankingFinding,
    RollingWindows,
    RunOrder,
    RunScores,
    ScoreSubject,
    WorstScore,
)
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Operator, Orientation, Question, QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.plan import Setting
from theodolite.domain.shown_order import ShownOrder, labels_reversed
from theodolite.measurement.answer_arrays import AnswerArrays, answer_arrays
from theodolite.measurement.order_profile import profile_or_reason
from theodolite.measurement.probes import order_effects, suggestion_effects
from theodolite.measurement.ranking import ranking_or_reason
from theodolite.measurement.sequences import rolling_windows
from theodolite.measurement.study.agreements import MOST_IN_PAIRS, clusters_of

WINDOW: Final = 8
"""Number of scores in a rolling window; the published table is for this number."""

POINTS: Final = 100
"""Maximum number of rolling windows of a finding; count."""

MOST_WORST: Final = 5
"""Number of worst scores that are shown with their reasons; count."""

PEOPLE: Final = "people"
"""Name of the mean of several people's scores."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One source's scores of the planned dialogues of a subject.

    Attributes:
        values: Score of each dialogue; None if there is none.
        outcomes: Outcome of each dialogue.
    """

    values: tuple[float | None, ...]
    outcomes: tuple[Outcome, ...]


def order_metrics(evidence: Evidence) -> OrderMetrics:
    """Return the order metrics of every question that is answered once per dialogue by a number.

    The order of a sequence is that of the plan: rows of a recorded file, then
    repeats. Levels of testing and kinds of testers are never merged. Below eight
    scores there are no metrics, because chance alone gives any value.

    Args:
        evidence: All records of one run, and the scores of earlier runs.

    AnswerSource:
        `relevance_profile` and `ranking_agreement`; decision: ADR-0058.
    """
    sequences, rankings = list[OrderFinding](), list[RankingFinding]()
    for application in evidence.study.applications:
        for guideline in evidence.study.guidelines:
            for subject, labels in _scored_questions(evidence, application, guideline):
                by = annotators_of(evidence.study, guideline, application, labels.question.name)
                sequences += _sequences(evidence, subject, labels, by)
                rankings += _rankings(evidence, subject, labels, by)
    return OrderMetrics(sequences=tuple(_with_reasons(evidence, sequences)), rankings=tuple(rankings))


def scores_of(labels: QuestionLabels, source: AnswerSource) -> Scores:
    """Return the scores of a source: the one place that reads answers for order metrics."""
    answers = labels.labels(source)
    return Scores(
        values=tuple(decimal_of(label.value) if label.value is not None else None for label in answers),
        outcomes=tuple(label.outcome for label in answers),
    )


def _pool_scores(labels: QuestionLabels, pool: AnswerSource) -> Scores:
    """Return the mean score of each dialogue by a pool; final labels replace those of people."""
    scores: dict[int, list[float]] = defaultdict(list)
    for pool_label in pool_labels_of(labels.table, labels.guideline, labels.question, positions=labels.positions):
        if (score := decimal_of(pool_label.value)) is not None:
            scores[pool_label.position].append(score)
    return Scores(
        values=tuple(_mean(scores[position]) if position in scores else None for position in labels.positions),
        outcomes=tuple(pool_label.outcome for pool_label in labels.labels(pool)),
    )


def _scored_questions(
    evidence: Evidence, application: Application, guideline: Guideline
) -> Iterator[tuple[ScoreSubject, QuestionLabels]]:
    settings, positions = (
        evidence.answers.settings,
        positions_of(evidence.study, evidence.answers, application, guideline),
    )
    for question in guideline.instrument.questions:
        if question.level is not QuestionLevel.DIALOGUE or not _is_scored(question):
            continue
        whole = QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=positions)
        for condition in conditions(settings[position] for position in positions):
            subject = ScoreSubject(
                application=application.name,
                guideline=guideline.name,
                question=question.name,
                level="" if condition.alone else condition.level.value,
                tester_type="" if condition.alone else condition.held_by.value,
            )
            yield subject, whole.only(position for position in positions if condition.holds(settings[position]))


def _is_scored(question: Question) -> bool:
    return question.scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}


def _sequences(
    evidence: Evidence, subject: ScoreSubject, labels: QuestionLabels, by: AnswerSources
) -> Iterator[OrderFinding]:
    """Yield one finding for the reference and each judge or rule; for people if there is no other score.

    A pool of people has one sequence, the mean score of each dialogue, because single people saw only a few.
    """
    automated = [source for source in by.headline if not source.is_person]
    for source in automated or by.headline:
        own = labels.assigned_to(source)
        scores = _pool_scores(own, source) if source.is_pool else scores_of(own, source)
        scale = labels.question.scale
        if not any(value is not None for value in scores.values):
            continue
        present = [value for value in scores.values if value is not None]
        is_high = higher_is_worse(labels.guideline, labels.question)
        profile = profile_or_reason(scores.values)
        yield OrderFinding(
            subject=subject,
            annotator=source.name,
            lowest=float(scale.lowest or 0),
            highest=float(scale.highest or 0),
            higher_is_worse=is_high,
            outcomes=outcomes_of(scores.outcomes),
            level=fmean(present),
            profile=profile,
            window=WINDOW,
            windows=_windows(own, scores),
            worst=tuple(_worst(own, scores, is_high=is_high)),
            runs=_runs(evidence, subject, source, scores, profile),
        )


def higher_is_worse(guideline: Guideline, question: Question) -> bool:
    """Return whether the upper end of a scale is the bad one: by the scale itself, else by the first rule about it."""
    if question.scale.orientation is not Orientation.UNSTATED:
        return question.scale.orientation is Orientation.HIGHER_IS_WORSE
    rule = next(_rules(guideline, question), None)
    return rule is not None and rule.operator in {Operator.ABOVE, Operator.AT_LEAST}


def _rules(guideline: Guideline, question: Question) -> Iterator[DefectRule]:
    return (rule for rule in guideline.defect_rules if rule.question == question.name)


def _windows(labels: QuestionLabels, scores: Scores) -> RollingWindows:
    """Return rolling windows with the positions of their last dialogues in the plan, thinned."""
    placed = [
        (position, value) for position, value in zip(labels.positions, scores.values, strict=True) if value is not None
    ]
    windows = rolling_windows([value for _, value in placed], window=WINDOW)
    positions = tuple(position for position, _ in placed[WINDOW - 1 :])
    step = max(1, -(-len(positions) // POINTS))
    # From the end, so that the latest window stays.
    rows = {name: tuple(getattr(windows, name))[::-1][::step][::-1] for name in ("level", "pen", "cin", "lis", "lnds")}
    return RollingWindows(positions=positions[::-1][::step][::-1], **rows)


def _worst(labels: QuestionLabels, scores: Scores, *, is_high: bool) -> Iterator[WorstScore]:
    """Yield the worst scores in order of badness, without the best point of the scale; reasons are read later."""
    scale = labels.question.scale
    best = float((scale.lowest if is_high else scale.highest) or 0)
    placed = zip(labels.positions, scores.values, strict=True)
    known = [(position, value) for position, value in placed if value is not None and value != best]
    known.sort(key=lambda scored: (-scored[1] if is_high else scored[1], scored[0]))
    for position, value in known[:MOST_WORST]:
        yield WorstScore(dialogue=labels.table.sessions.label(position), value=value, reason="")


def _with_reasons(evidence: Evidence, findings: Sequence[OrderFinding]) -> Iterator[OrderFinding]:
    """Yield findings with the annotators' reasons, read in one pass over the dialogues concerned."""
    sessions, completed = evidence.answers.sessions, evidence.answers.dialogues
    worst_labels = {worst.dialogue for finding in findings for worst in finding.worst}
    positions = {position for position in map(sessions.find, worst_labels) if position is not None}
    shown = {
        position for position in positions if (dialogue := completed[position]) is not None and not dialogue.withheld
    }
    names = {dialogue.key: dialogue.label for dialogue in evidence.archive.dialogues(shown)} if shown else {}
    guidelines = {worst.name: worst for worst in evidence.study.guidelines}
    reasons: dict[tuple[str, str, str, str], str] = {}
    for annotation in evidence.archive.annotations(shown) if shown else ():
        for answer in annotation.answers if annotation.guideline in guidelines else ():
            if answer.turn is None and answer.replicate == 1 and annotation.dialogue in names:
                key = (names[annotation.dialogue], annotation.annotator, annotation.guideline, answer.question)
                reasons[key] = reason_of(annotation, answer, guidelines[annotation.guideline])
    pools = pools_of(evidence.study)
    for finding in findings:
        guideline, question = finding.subject.guideline, finding.subject.question
        # A pool's reason for a score is the first one that its people gave.
        people = pools.get(guideline, ()) if finding.annotator == ALL_PEOPLE else (finding.annotator,)

        def reason(dialogue: str, about: tuple[str, str] = (guideline, question), by: Sequence[str] = people) -> str:
            return next(filter(None, (reasons.get((dialogue, name, *about)) for name in by)), "")

        yield replace(finding, worst=tuple(replace(worst, reason=reason(worst.dialogue)) for worst in finding.worst))


def _runs(
    evidence: Evidence, subject: ScoreSubject, source: AnswerSource, scores: Scores, profile: OrderProfile | Undefined
) -> tuple[RunOrder, ...]:
    """Return the metrics of earlier runs and of this one; empty without earlier runs."""
    own = (subject.application, subject.guideline, subject.question, source.name)
    earlier = [
        score
        for score in evidence.earlier_scores
        if (score.application, score.guideline, score.question, score.annotator) == own and not subject.level
    ]
    if not earlier:
        return ()
    now = RunScores(
        run=evidence.run.number,
        started=evidence.run.started,
        application=subject.application,
        guideline=subject.guideline,
        question=subject.question,
        annotator=source.name,
        annotator_version=source.version,
        values=scores.values,
    )
    before = (_run_order(run_scores, profile_or_reason(run_scores.values), source.version) for run_scores in earlier)
    return (*before, _run_order(now, profile, source.version))


def _run_order(scores: RunScores, profile: OrderProfile | Undefined, version: str) -> RunOrder:
    present = [value for value in scores.values if value is not None]
    return RunOrder(
        run=scores.run,
        started=scores.started,
        n=len(present),
        n_missing=len(scores.values) - len(present),
        n_repeated=scores.n_repeated,
        level=fmean(present) if present else None,
        profile=profile,
        is_same_annotator=scores.annotator_version == version,
    )


def _rankings(
    evidence: Evidence, subject: ScoreSubject, labels: QuestionLabels, by: AnswerSources
) -> Iterator[RankingFinding]:
    judges = [source for source in by.annotators if not source.is_person]
    sampled = any(sample.guideline == subject.guideline for sample in evidence.samples)
    humans = list(_human_scores(labels, by)) if judges else []
    for judge in judges if humans else ():
        scores = scores_of(labels, judge)
        for name, people in humans:
            yield RankingFinding(
                subject=subject,
                human=name,
                annotator=judge.name,
                outcomes=outcomes_of(map(_common, people.outcomes, scores.outcomes)),
                ranking=_ranking(labels, people, scores),
                is_sampled=sampled and by.reference is None,
            )


def _human_scores(labels: QuestionLabels, by: AnswerSources) -> Iterator[tuple[str, Scores]]:
    """Yield the reference or, without one, each of a few people and the mean of several."""
    if by.reference:
        yield by.reference.name, scores_of(labels, by.reference)
        return
    people = [(annotator.name, scores_of(labels, annotator)) for annotator in by.annotators if annotator.is_person]
    if len(people) <= MOST_IN_PAIRS:
        yield from people
    if len(people) > 1:
        columns = zip(*(scores.values for _, scores in people), strict=True)
        outcomes = zip(*(scores.outcomes for _, scores in people), strict=True)
        yield (
            PEOPLE,
            Scores(values=tuple(map(_mean, columns)), outcomes=tuple(map(_any_answer, outcomes))),
        )


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return fmean(present) if present else None


def _any_answer(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome.ANSWERED if Outcome.ANSWERED in outcomes else _common(*outcomes)


def _common(*outcomes: Outcome) -> Outcome:
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.ANSWERED)


def _ranking(labels: QuestionLabels, people: Scores, scores: Scores) -> RankingAgreement | Undefined:
    n_points = len(labels.question.scale.categories) or None
    return ranking_or_reason(people.values, scores.values, clusters=clusters_of(labels), n_points=n_points)


def order_findings(evidence: Evidence) -> Iterator[OrderEffect]:
    """Yield the effects of order on the answers to each question, over all applications.

    People's sittings are distinguished by their displayed order and their number.
    Judges that read several times read every second time with the labels
    in reverse; readings are independent, so no other order is distinguished.
    """
    for guideline in evidence.study.guidelines:
        for question in guideline.instrument.questions:
            yield from order_effects(guideline, question, _by_people(evidence, guideline, question))
        plan = evidence.study.annotation.pre_annotation if evidence.study.annotation else None
        suggesting = plan.judge if plan else ""
        for question in guideline.instrument.questions if suggesting else ():
            both = _by_people(evidence, guideline, question, judge=suggesting)
            yield from suggestion_effects(guideline, question, both, suggesting)
        judges = [annotator.name for annotator in evidence.study.annotators if annotator.guideline == guideline.name]
        for judge in judges:
            for question in guideline.instrument.questions:
                answers = _by_judge(evidence.answers, judge, guideline, question)
                effects = order_effects(guideline, question, answers, annotator=judge)
                yield from (effect for effect in effects if effect.factor is OrderFactor.OPTIONS)


def _by_people(evidence: Evidence, guideline: Guideline, question: Question, judge: str = "") -> AnswerArrays:
    """Return the first answers of people whose annotations are counted, with their displayed order, and of a judge."""
    table = evidence.answers
    people = [
        annotator.name
        for annotator in evidence.study.annotators
        if annotator.by_hand and annotator.guideline == guideline.name
    ]
    rows = (
        _row(annotator, position, record, *order)
        for annotator in (*people, judge)
        for position, records in table.columns(annotator, guideline.name, question.name).by_position()
        if (order := ("", 0) if annotator == judge else table.shown_orders.get(annotator, {}).get(position)) is not None
        for record in records
        if record.replicate == 1
    )
    return answer_arrays(rows)


def _by_judge(table: AnswerTable, judge: str, guideline: Guideline, question: Question) -> AnswerArrays:
    """Return all readings of a judge, with the order of labels that each showed."""
    columns = table.votes.get((judge, guideline.name, question.name))
    return answer_arrays(
        _row(judge, position, record, ShownOrder(options=labels_reversed(record.replicate)).text)
        for position, records in (columns.by_position() if columns else ())
        for record in records
    )


def _row(annotator: str, position: int, record: AnswerRecord, shown: str, annotation_no: int = 0) -> tuple[object, ...]:
    unit = (position, record.turn, record.replicate)
    return annotator, unit, position, record.value, 0.0, shown, annotation_no, record.turn or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterCondition:
    """One level of testing with one kind of tester.

    Attributes:
        level: Level of testing.
        held_by: Tester type.
        alone: Whether the application has only this setting.
    """

    level: Level
    held_by: TesterType
    alone: bool

    def limited(self, subject: EstimateSubject) -> EstimateSubject:
        """Return a subject limited to this level and tester type; unchanged if there is no other."""
        return subject if self.alone else replace(subject, level=self.level, tester_type=self.held_by)

    def holds(self, setting: Setting) -> bool:
        """Return whether a setting has this condition."""
        return (setting.level, setting.held_by) == (self.level, self.held_by)


def conditions(settings: Iterable[Setting]) -> tuple[TesterCondition, ...]:
    """Return the conditions of one application's sessions, in order of the levels.

    Numbers of different conditions answer different questions (a red teamer tries
    to break what a user only uses; a simulated user is not a person), so they
    are counted separately and never added.
    """
    met = {(setting.level, setting.held_by) for setting in settings}
    ordered = sorted(met, key=lambda at: (list(Level).index(at[0]), list(TesterType).index(at[1])))
    return tuple(TesterCondition(level=level, held_by=held_by, alone=len(met) == 1) for level, held_by in ordered)
