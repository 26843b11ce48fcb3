"""Diagnostics of judges: votes, evidence, control items, and bias by position and length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import Annotation
from theodolite.domain.annotator import Annotator, ModelJudge, PythonLabeller, Voting, decide_vote
from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, cluster_of
from theodolite.domain.answers import AnnotationMark, AnswerRecord, AnswerTable, DialogueLabel
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure, Weighting
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreement import JudgeDiagnostics, VoteAdvice, VoteRecord
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.undefined_reasons import FREE_TEXT
from theodolite.measurement.alpha import AlphaScale
from theodolite.measurement.probes import length_bias, position_bias
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.paired_labels import PairedLabels
from theodolite.measurement.study.rates import defects_of, rate_of
from theodolite.measurement.votes import flip_rate, retest_alpha, vote_share, votes_or_samples

DEFECT, NO_DEFECT = "defect", "no defect"
"""The meaning of a vote for rates."""

Values = tuple[str | None, ...]
"""A judge's readings of one dialogue for the deciding question; None for a reading without a label."""


def judge_diagnostics(evidence: Evidence) -> Iterator[JudgeDiagnostics]:
    """Yield the diagnostics of each judge on each application, in the order of the study."""
    study, table = evidence.study, evidence.answers
    for annotator in study.annotators:
        if isinstance(annotator.labelling, ModelJudge | PythonLabeller):
            for application in study.applications:
                diagnostics = _diagnostics_of(table, annotator, study.guideline(annotator.guideline), application.name)
                if diagnostics.verdicts:
                    yield diagnostics


def _diagnostics_of(
    table: AnswerTable, annotator: Annotator, guideline: Guideline, application: str
) -> JudgeDiagnostics:
    marks = table.marks.get(annotator.name, ())
    positions = [index for index in table.positions(application) if marks and marks[index]]

    def marked(mark: AnnotationMark) -> tuple[str, ...]:
        return tuple(table.sessions.label(index) for index in positions if marks[index] & mark)

    votes = _JudgeVotes.of(table, annotator, guideline, positions)
    return JudgeDiagnostics(
        annotator=annotator.name,
        application=application,
        guideline=guideline.name,
        verdicts=len(positions),
        quoting=len(marked(AnnotationMark.QUOTING)),
        ungrounded=marked(AnnotationMark.UNGROUNDED),
        control_passed=len(marked(AnnotationMark.PASSED)),
        control_failed=marked(AnnotationMark.FAILED),
        control_unanswered=len(marked(AnnotationMark.UNANSWERED)),
        answered_as=table.model_names.get(annotator.name, ()),
        scripted=annotator.name in table.stubbed_annotators,
        votes=votes.record() if votes.positions else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeVotes:
    """The votes of one judge on some dialogues, on the question of its guideline's first rule."""

    table: AnswerTable
    guideline: Guideline
    annotator: Annotator
    positions: tuple[int, ...]
    readings: tuple[tuple[AnswerRecord, ...], ...]

    @classmethod
    def of(
        cls, table: AnswerTable, annotator: Annotator, guideline: Guideline, positions: Sequence[int]
    ) -> _JudgeVotes:
        """Return the votes of a judge on the dialogues at some positions; None for a judge that reads once."""
        columns = table.votes.get((annotator.name, guideline.name, guideline.question.name))
        selected = set(positions)
        voted = [
            (position, rows) for position, rows in (columns.by_position() if columns else ()) if position in selected
        ]
        return cls(
            table=table,
            guideline=guideline,
            annotator=annotator,
            positions=tuple(position for position, _ in voted),
            readings=tuple(rows for _, rows in voted),
        )

    @property
    def rule(self) -> DefectRule:
        """The guideline's first rule."""
        return self.guideline.defect_rules[0]

    def record(self) -> VoteRecord:
        """Return the number and the outcomes of the votes; rates concern the dialogues to which the rule applies."""
        values = [self._values(rows) for rows in self.readings]
        labels = [self.table.sessions.label(position) for position in self.positions]
        clusters = [cluster_of(self.table, position) for position in self.positions]
        groups = [self.table.settings[position].groups for position in self.positions]
        applies = [index for index, own in enumerate(groups) if self.rule.applies_to(own)]
        sides = [tuple(self._side(value) for value in values[index]) for index in applies]
        labelling = self.annotator.labelling
        return VoteRecord(
            voting=labelling.voting if isinstance(labelling, ModelJudge) else Voting(),
            dialogues=len(values),
            cast=sum(map(len, values)),
            split=tuple(label for label, votes in zip(labels, values, strict=True) if len(set(votes)) > 1),
            tied=tuple(
                label
                for label, rows, own in zip(labels, self.readings, groups, strict=True)
                if self._is_tied(rows, own)
            ),
            flip_rate=flip_rate(values, clusters=clusters),
            retest_alpha=self._alpha(values, clusters),
            by_single_votes=vote_share(sides, DEFECT, clusters=[clusters[index] for index in applies]),
            by_majorities=self._decided_rate([self.positions[index] for index in applies]),
            advice=_advice(sides),
        )

    def _decided_rate(self, positions: Sequence[int]) -> Estimate | Undefined:
        """Return the rate of the labels from the votes, which are the judge's reported labels."""
        labels = QuestionLabels(
            table=self.table,
            guideline=self.guideline,
            question=self.guideline.question,
            positions=positions,
            rule=self.rule,
        )
        source = AnswerSource(name=self.annotator.name, kind=self.annotator.kind, version="")
        return rate_of(defects_of(labels, self.rule, labels.labels(source)))

    def _values(self, rows: Sequence[AnswerRecord]) -> Values:
        """Return the value of each reading: about the dialogue, or of the turn that makes it a defect."""
        by_reading: dict[int, list[str | None]] = {}
        for row in rows:
            is_label = row.value is not None and self.guideline.question.scale.admits(row.value)
            by_reading.setdefault(row.replicate, []).append(row.value if is_label else None)
        defects = {n: [value for value in own if self._side(value) == DEFECT] for n, own in by_reading.items()}
        return tuple(next(iter(defects[n] or own)) for n, own in by_reading.items())

    def _side(self, value: str | None) -> str | None:
        if value is None:
            return None
        return DEFECT if self.rule.is_defect(value, self.guideline.question.scale) else NO_DEFECT

    def _is_tied(self, rows: Sequence[AnswerRecord], groups: Mapping[str, str]) -> bool:
        question = self.guideline.question
        if question.level is QuestionLevel.TURN:
            return False
        own = [rule for rule in self.guideline.defect_rules if rule.question == question.name]
        rules = [rule for rule in own if rule.applies_to(groups)]
        return decide_vote([(row.outcome, row.value) for row in rows], question.scale, rules) is None

    def _alpha(self, values: Sequence[Values], clusters: Sequence[str]) -> Estimate | Undefined:
        scale = self.guideline.question.scale
        if not scale.categories:
            return Undefined(reason=FREE_TEXT)
        kind: AlphaScale = "ordinal" if scale.ordered else "nominal"
        return retest_alpha(values, categories=scale.categories, scale=kind, clusters=clusters)


def _advice(sides: Sequence[Values]) -> VoteAdvice | None:
    compared = votes_or_samples(sides, DEFECT)
    if isinstance(compared, Undefined):
        return None
    return VoteAdvice(
        error=compared.error,
        error_as_samples=compared.error_as_samples,
        samples_do_better=compared.samples_do_better,
    )


def behaviour_figures(evidence: Evidence, judge: str, guideline: Guideline) -> Iterator[Measurement]:
    """Yield shares of ungrounded evidence and failed control items, and stability, over all applications of a run."""
    diagnostics = [judge_run for judge_run in judge_diagnostics(evidence) if judge_run.annotator == judge]
    failed = sum(len(judge_run.control_failed) + judge_run.control_unanswered for judge_run in diagnostics)
    shares = {
        Measure.UNGROUNDED_SHARE: (
            sum(len(judge_run.ungrounded) for judge_run in diagnostics),
            sum(judge_run.quoting for judge_run in diagnostics),
        ),
        Measure.CONTROL_FAILED_SHARE: (failed, failed + sum(judge_run.control_passed for judge_run in diagnostics)),
    }
    planned = sum(judge_run.verdicts for judge_run in diagnostics)
    subject = _subject(judge, guideline)
    for measure, (count, n) in shares.items():
        if n:
            yield _figure(measure, subject, defect_rate(count, n), planned=planned, used=n)
    columns = evidence.answers.votes.get((judge, guideline.name, guideline.question.name))
    votes = [_by_replicate(records) for _, records in (columns.by_position() if columns else ())]
    if votes:
        yield from stability_figures(votes, judge, guideline)


def _by_replicate(records: Sequence[AnswerRecord]) -> tuple[str | None, ...]:
    """Return the label of each reading; None for a question about turns, which has no single label."""
    values = {record.replicate: record.value if record.turn is None else None for record in records}
    return tuple(values[number] for number in sorted(values))


def votes_of(annotation: Annotation, question: str) -> tuple[str | None, ...]:
    """Return a judge's votes on a question of the whole dialogue, in order; None if it gave no label."""
    return tuple(
        next((answer.value for answer in vote.answers if answer.question == question and answer.turn is None), None)
        for vote in annotation.votes
    )


def stability_figures(
    votes: Sequence[Sequence[str | None]], judge: str, guideline: Guideline, *, repetition: str = ""
) -> Iterator[Measurement]:
    """Yield the agreement of a judge with itself when it reads the same dialogue again."""
    question = guideline.question
    subject = replace(_subject(judge, guideline), repetition=repetition)
    n = sum(sum(vote is not None for vote in unit) >= 2 for unit in votes)
    flips = flip_rate(votes)
    yield _figure(Measure.FLIP_RATE, subject, flips, planned=len(votes), used=n)
    if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
        scale: AlphaScale = "ordinal" if _is_ordered(question) else "nominal"
        alpha = retest_alpha(votes, categories=question.scale.categories, scale=scale)
        figure = _figure(Measure.RETEST_ALPHA, subject, alpha, planned=len(votes), used=n)
        yield replace(figure, weighting=Weighting(scale))


def position_figures(
    readings: Sequence[tuple[str | None, str | None]], judge: str, guideline: Guideline
) -> Iterator[Measurement]:
    """Yield the effect of the order of the labels on a judge.

    Args:
        readings: The label of each dialogue with the labels in order, and in reverse order.
        judge: Name of the judge.
        guideline: The guideline.
    """
    points = guideline.question.scale.categories
    if len(points) < 2:
        return
    shown = points[::-1]
    halves = [(_half(one, points), _half(other, shown)) for one, other in readings]
    bias = position_bias([one for one, _ in halves], [other for _, other in halves])
    n = sum(one is not None and other is not None for one, other in readings)
    results = {Measure.ORDER_CONSISTENT: bias.consistent, Measure.PREFERS_FIRST: bias.prefers_first}
    for measure, result in results.items():
        yield _figure(measure, _subject(judge, guideline), result, planned=len(readings), used=n)


def length_figure(evidence: Evidence, paired: PairedLabels) -> Iterator[Measurement]:
    """Yield whether the judge errs more on long dialogues, if people's labels show it."""
    both = paired.labelled
    lengths = {
        position: sum(len(turn.response) for turn in dialogue.turns)
        for position, dialogue in _dialogues_at(evidence, [pair.position for pair in both.pairs if pair.readable])
    }
    pairs = replace(both, pairs=tuple(pair for pair in both.pairs if pair.position in lengths))
    judge = [_score(paired, pair.judge) for pair in pairs.pairs]
    people = [_score(paired, pair.person) for pair in pairs.pairs]
    result = length_bias(
        judge, people, [float(lengths[pair.position]) for pair in pairs.pairs], clusters=pairs.clusters
    )
    subject = replace(
        _subject(paired.judge.name, paired.guideline),
        annotators=(paired.authority.name, paired.judge.name),
        rule=paired.rule.name if paired.rule else "",
    )
    yield _figure(Measure.LENGTH_BIAS, subject, result, planned=len(both.pairs), used=len(pairs.pairs))


def _dialogues_at(evidence: Evidence, positions: Sequence[int]) -> Iterator[tuple[int, Dialogue]]:
    for dialogue in evidence.archive.dialogues(positions):
        position = evidence.sessions.find(dialogue.label)
        if position is not None:
            yield position, dialogue


def _score(paired: PairedLabels, reading: DialogueLabel) -> float | None:
    verdict = paired.verdict(reading)
    return None if verdict is None else float(verdict)


def _half(label: str | None, order: Sequence[str]) -> str | None:
    """Return in which half of an order a label is: `first`, `second`, or `middle`; None without one."""
    if label is None or label not in order:
        return None
    twice = 2 * order.index(label) + 1
    return "middle" if twice == len(order) else "first" if twice < len(order) else "second"


def _is_ordered(question: Question) -> bool:
    return question.scale.ordered or question.scale.is_numeric


def _subject(judge: str, guideline: Guideline) -> EstimateSubject:
    return EstimateSubject(
        application=ALL_APPLICATIONS,
        guideline=guideline.name,
        question=guideline.question.name,
        annotators=(judge,),
    )


def _figure(
    measure: Measure, subject: EstimateSubject, result: Estimate | Undefined, *, planned: int, used: int
) -> Measurement:
    return Measurement(
        measure=measure,
        subject=subject,
        result=result,
        outcomes=Outcomes(planned=planned, used=used, missing=planned - used),
    )
