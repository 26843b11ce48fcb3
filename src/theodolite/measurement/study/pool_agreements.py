"""How far judges agree with a pool of people who share the dialogues."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, pool_labels_of, versions_of
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.estimate import Measurement, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.measurement.pooled_rate import TWO_WAY, pooled_defect_rate
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.study.agreements import NO_READABLE_PAIR, clusters_of, explained, subject_of


def pool_agreements(application: str, sheet: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield how far each judge agrees with the guideline's pool of people; nothing where it has none.

    Each dialogue counts once, with the share of its labels by people that equal the
    judge's label. Dialogues and people are clusters of the variance (ADR-0065).

    Args:
        application: Name of the application.
        sheet: The question and the planned sessions.
        by: Who labels.

    Source:
        `pooled_defect_rate`, with equal labels in place of defects.
    """
    pool = by.pool
    if pool is None or by.reference is not None:
        return
    labels = list(pool_labels_of(sheet.table, sheet.guideline, sheet.question, positions=sheet.positions))
    for judge in (source for source in by.annotators if not source.is_person):
        own = dict(zip(sheet.positions, sheet.labels(judge), strict=True))
        met = [(one, own[one.position].value) for one in labels if own[one.position].value is not None]
        clusters = clusters_of(sheet)
        cluster_at = dict(zip(sheet.positions, clusters, strict=True)) if clusters else None
        result = pooled_defect_rate(
            [one.position for one, _ in met],
            [one.annotator for one, _ in met],
            [one.value == value for one, value in met],
            clusters=[cluster_at[one.position] for one, _ in met] if cluster_at else None,
        )
        if isinstance(result, Undefined):
            result = Undefined(reason=NO_READABLE_PAIR, unit=DIALOGUES, method=TWO_WAY)
        outcomes = outcomes_of(
            _outcome(judged, people) for judged, people in zip(own.values(), sheet.labels(pool), strict=True)
        )
        yield Measurement(
            measure=Measure.EXACT_AGREEMENT,
            subject=subject_of(application, sheet, (pool, judge)),
            result=explained(result, outcomes),
            outcomes=outcomes,
            versions=_versions(sheet, by, judge),
        )


def _versions(sheet: QuestionLabels, by: AnswerSources, judge: AnswerSource) -> dict[str, str]:
    return versions_of(sheet.guideline, [judge, *by.pool_members])


def _outcome(judged: DialogueLabel, people: DialogueLabel) -> Outcome:
    """Return what became of one comparison: the judge's failure to answer, else that of people."""
    return people.outcome if judged.value is not None else judged.outcome
