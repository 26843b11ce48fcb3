"""Certifying: everything that labels tell about one judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.estimate import Confusion, Measurement
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.measurement.confusion import confusion_matrix
from theodolite.measurement.study.ceilings import ceiling_figures
from theodolite.measurement.study.habits import habit_figures, length_figure
from theodolite.measurement.study.judge_figures import accuracy_figures, agreement_figures, manner_figures
from theodolite.measurement.study.judge_groups import group_figures
from theodolite.measurement.study.parts import parts_of
from theodolite.measurement.study.sightings import Design, Sightings, sightings

UNREADABLE = Outcome.UNPARSEABLE.value
"""Category of the judge's labels that cannot be read."""

MOST_JUDGES_BESIDE = 10
"""Other judges that a judge is compared with; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFindings:
    """What was found about a judge.

    Attributes:
        measurements: All figures.
        confusions: Who said what where another said what.
        authorities: Against whom it was held; empty where nobody has labelled.
        judged: Dialogues that the judge has looked at; count.
        labelled: Those that somebody it was held against has labelled; count.
    """

    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...]
    authorities: tuple[str, ...]
    judged: int
    labelled: int


def certify(evidence: Evidence, judge: str) -> JudgeFindings:
    """Hold a judge against everybody who has labelled what it labelled.

    The reference stands for people where the study has one; else each person
    is an authority of her own, since labels are never merged.

    Args:
        evidence: All records of one run.
        judge: Name of the judge.
    """
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    wide = _all_wide(evidence, guideline, judge)
    measurements = [one for found in wide for one in _against(evidence, found)]
    seen = wide[0].judged if wide else _alone(evidence, guideline, judge)
    manners = (*manner_figures(seen), *habit_figures(evidence, judge, guideline))
    by_group = group_figures(evidence, guideline, judge)
    others = _beside_judges(evidence, guideline, judge)
    return JudgeFindings(
        measurements=(*measurements, *_ceiling(evidence, guideline, judge), *by_group, *others, *manners),
        confusions=tuple(confusion for found in wide for confusion in _confusions(evidence, found)),
        authorities=tuple(found.authority.name for found in wide),
        judged=len(seen.seen) if seen else 0,
        labelled=len({one.place for found in wide for one in found.labelled.seen}),
    )


def authorities_of(evidence: Evidence, judge: str) -> tuple[str, ...]:
    """Return whom a judge can be held against: the reference, or else each person who labelled what it labelled."""
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    return tuple(found.authority.name for found in _all_wide(evidence, guideline, judge))


def _all_wide(evidence: Evidence, guideline: Guideline, judge: str) -> list[Sightings]:
    return [found for name in _authorities(evidence, guideline) if (found := _wide(evidence, guideline, judge, name))]


def _authorities(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    reference = evidence.study.reference
    if reference is not None and reference.guideline == guideline.name:
        return (REFERENCE,)
    return _people(evidence, guideline)


def _people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    study = evidence.study
    return tuple(a.name for a in study.annotators if a.guideline == guideline.name and a.kind is AnnotatorKind.PERSON)


def _wide(evidence: Evidence, guideline: Guideline, judge: str, authority: str) -> Sightings | None:
    """Return a judge beside an authority on the main question; None where no dialogue has labels of both."""
    found = sightings(evidence, guideline, guideline.question, (judge, authority))
    return found if found is not None and found.labelled.seen else None


def _alone(evidence: Evidence, guideline: Guideline, judge: str) -> Sightings | None:
    """Return a judge beside itself, where nobody else has labelled."""
    found = sightings(evidence, guideline, guideline.question, (judge, judge))
    return found.judged if found is not None else None


def _against(evidence: Evidence, found: Sightings) -> Iterator[Measurement]:
    """Yield all figures of a judge held against one authority."""
    for question in _questions(found.guideline):
        names = (found.judge.name, found.authority.name)
        asked = sightings(evidence, found.guideline, question, names)
        if asked is not None:
            for part in parts_of(evidence, asked):
                yield from agreement_figures(asked.among(part.places), part)
    for rule in found.guideline.defect_rules:
        question = found.guideline.instrument.question(rule.question)
        names = (found.judge.name, found.authority.name)
        ruled = sightings(evidence, found.guideline, question, names, rule=rule)
        if ruled is not None:
            for part in parts_of(evidence, ruled):
                yield from accuracy_figures(ruled.among(part.places), part)
            yield from length_figure(evidence, ruled)


def _questions(guideline: Guideline) -> Iterator[Question]:
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
            yield question


def _ceiling(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    if guideline.question in _questions(guideline):
        yield from ceiling_figures(evidence, guideline, _labelled_people(evidence, guideline), judge)


def _beside_judges(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    """Yield how far the judge's labels on the main question are those of every other judge."""
    if guideline.question not in _questions(guideline):
        return
    study = evidence.study
    others = [a.name for a in study.annotators if a.guideline == guideline.name and a.kind is not AnnotatorKind.PERSON]
    for other in [name for name in others if name != judge][:MOST_JUDGES_BESIDE]:
        found = sightings(evidence, guideline, guideline.question, (judge, other))
        if found is not None and found.labelled.seen:
            whole = next(iter(parts_of(evidence, found)))
            yield from agreement_figures(replace(found.among(whole.places), design=Design(census=True)), whole)


def _labelled_people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    """Return the people of a guideline who have labelled anything."""
    marks = evidence.answers.marks
    return tuple(name for name in _people(evidence, guideline) if any(marks.get(name, ())))


def _confusions(evidence: Evidence, found: Sightings) -> Iterator[Confusion]:
    comparable = found.question in _questions(found.guideline)
    for part in parts_of(evidence, found) if comparable else ():
        if part.subject.is_part:
            continue
        both = found.among(part.places).labelled
        judge = [one.judge.value or UNREADABLE for one in both.seen]
        scale = found.question.scale.categories
        categories = (*scale, UNREADABLE) if UNREADABLE in judge else scale
        yield Confusion(
            application=part.subject.application,
            guideline=found.guideline.name,
            question=found.question.name,
            first=found.authority.name,
            second=found.judge.name,
            matrix=confusion_matrix([one.person.value for one in both.seen], judge, categories=categories),
        )
