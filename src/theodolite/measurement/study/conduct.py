"""Conduct: how each judge went about its work, apart from what it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.annotator import Annotator, ModelJudge, PythonLabeller, Voting
from theodolite.domain.answers import AnnotationMark, AnswerRecord, AnswerTable
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.conduct import Conduct, VoteAdvice, VoteRecord
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.votes import decide_vote
from theodolite.measurement.alpha import AlphaScale
from theodolite.measurement.votes.spending import votes_or_samples
from theodolite.measurement.votes.stability import flip_rate, majority_share, retest_alpha, vote_share

DEFECT, SOUND = "defect", "sound"
"""What a vote says of a dialogue, for rates."""

Values = tuple[str | None, ...]
"""What a judge's readings of one dialogue said to the deciding question; None where one gave no label."""


def conducts(evidence: Evidence) -> Iterator[Conduct]:
    """Yield how each judge went about each application, in the order of the study."""
    study, table = evidence.study, evidence.answers
    for annotator in study.annotators:
        if isinstance(annotator.labelling, ModelJudge | PythonLabeller):
            for application in study.applications:
                conduct = _conduct(table, annotator, study.guideline(annotator.guideline), application.name)
                if conduct.verdicts:
                    yield conduct


def _conduct(table: AnswerTable, annotator: Annotator, guideline: Guideline, application: str) -> Conduct:
    marks = table.marks.get(annotator.name, ())
    places = [place for place in table.positions(application) if marks and marks[place]]

    def marked(mark: AnnotationMark) -> tuple[str, ...]:
        return tuple(table.sessions.label(place) for place in places if marks[place] & mark)

    ballots = _Ballots.of(table, annotator, guideline, places)
    return Conduct(
        annotator=annotator.name,
        application=application,
        guideline=guideline.name,
        verdicts=len(places),
        quoting=len(marked(AnnotationMark.QUOTING)),
        ungrounded=marked(AnnotationMark.UNGROUNDED),
        control_passed=len(marked(AnnotationMark.PASSED)),
        control_failed=marked(AnnotationMark.FAILED),
        control_unanswered=len(marked(AnnotationMark.UNANSWERED)),
        answered_as=table.model_names.get(annotator.name, ()),
        scripted=annotator.name in table.stubbed_annotators,
        votes=ballots.record() if ballots.places else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ballots:
    """The votes of one judge on some dialogues, on the question that its guideline's first rule decides by."""

    table: AnswerTable
    guideline: Guideline
    voting: Voting
    places: tuple[int, ...]
    cast: tuple[tuple[AnswerRecord, ...], ...]
    sides: Mapping[str, str]

    @classmethod
    def of(cls, table: AnswerTable, annotator: Annotator, guideline: Guideline, places: Sequence[int]) -> _Ballots:
        """Return the votes of a judge on the dialogues at some places; none for a judge that reads once."""
        columns = table.votes.get((annotator.name, guideline.name, guideline.question.name))
        wanted = set(places)
        found = [(place, said) for place, said in (columns.by_position() if columns else ()) if place in wanted]
        labelling = annotator.labelling
        return cls(
            table=table,
            guideline=guideline,
            voting=labelling.voting if isinstance(labelling, ModelJudge) else Voting(),
            places=tuple(place for place, _ in found),
            cast=tuple(said for _, said in found),
            sides=_sides(guideline),
        )

    def record(self) -> VoteRecord:
        """Return what the votes cost and how they fell."""
        values = [self._values(said) for said in self.cast]
        labels = [self.table.sessions.label(place) for place in self.places]
        settings = [self.table.settings[place] for place in self.places]
        clusters = [setting.cluster or label for setting, label in zip(settings, labels, strict=True)]
        sides = [tuple(self._side(value) for value in votes) for votes in values]
        return VoteRecord(
            voting=self.voting,
            dialogues=len(values),
            cast=sum(map(len, values)),
            split=tuple(label for label, votes in zip(labels, values, strict=True) if len(set(votes)) > 1),
            tied=tuple(label for label, said in zip(labels, self.cast, strict=True) if self._is_tied(said)),
            flip_rate=flip_rate(values, clusters=clusters),
            retest_alpha=self._alpha(values, clusters),
            by_single_votes=vote_share(sides, DEFECT, clusters=clusters),
            by_majorities=majority_share(sides, DEFECT, clusters=clusters),
            advice=_advice(sides),
        )

    def _values(self, said: Sequence[AnswerRecord]) -> Values:
        """Return the value of each reading: about the dialogue, or that of the turn that makes a defect of it."""
        by_reading: dict[int, list[str | None]] = {}
        for one in said:
            by_reading.setdefault(one.replicate, []).append(one.value)
        defects = {n: [value for value in own if self._side(value) == DEFECT] for n, own in by_reading.items()}
        return tuple(next(iter(defects[n] or own)) for n, own in by_reading.items())

    def _side(self, value: str | None) -> str | None:
        if value is None or value in self.sides:
            return self.sides[value] if value is not None else None
        rule, scale = self.guideline.defect_rules[0], self.guideline.question.scale
        known = scale.admits(value) and rule.is_defect(value, scale)
        return DEFECT if known else SOUND if scale.admits(value) else None

    def _is_tied(self, said: Sequence[AnswerRecord]) -> bool:
        if self.guideline.question.level is QuestionLevel.TURN:
            return False
        rules = [rule for rule in self.guideline.defect_rules if rule.question == self.guideline.question.name]
        return decide_vote([(one.outcome, one.value) for one in said], self.guideline.question.scale, rules) is None

    def _alpha(self, values: Sequence[Values], clusters: Sequence[str]) -> Estimate | Undefined:
        scale = self.guideline.question.scale
        if not scale.categories:
            return Undefined(reason="The question is answered in free text.")
        kind: AlphaScale = "ordinal" if scale.ordered else "nominal"
        return retest_alpha(values, categories=scale.categories, scale=kind, clusters=clusters)


def _sides(guideline: Guideline) -> dict[str, str]:
    """Return on which side of the first defect rule each point of the scale lies, worked out once."""
    rule, scale = guideline.defect_rules[0], guideline.question.scale
    return {point: DEFECT if rule.is_defect(point, scale) else SOUND for point in scale.categories}


def _advice(sides: Sequence[Values]) -> VoteAdvice | None:
    compared = votes_or_samples(sides, DEFECT)
    if isinstance(compared, Undefined):
        return None
    return VoteAdvice(
        error=compared.error,
        error_as_samples=compared.error_as_samples,
        samples_do_better=compared.samples_do_better,
    )
