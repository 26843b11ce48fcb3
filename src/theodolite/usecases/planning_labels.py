"""Planning labels: which dialogues people should label next, and what that would tell."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.answer_rules import AnswerSource
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.measurement.correction.strata import LabelPlan, plan_labels
from theodolite.measurement.study.paired_labels import DEFECT, NO_VERDICT, strata_of, verdicts_of
from theodolite.usecases.label_requests import LabelRequest, guideline_for, judge_for


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """What people have found so far in dialogues that they can read.

    Attributes:
        strata: Stratum of each dialogue.
        labels: Whether people found a defect in it; None where nobody looked.
    """

    strata: tuple[str, ...]
    labels: tuple[bool | None, ...]

    @property
    def n_labelled(self) -> int:
        """Dialogues that somebody has labelled; count."""
        return sum(label is not None for label in self.labels)

    @property
    def n_open(self) -> int:
        """Dialogues that nobody has labelled; count."""
        return len(self.labels) - self.n_labelled

    def plan(self, n: int) -> LabelPlan:
        """Return which dialogues to label next, and the interval to expect then."""
        return plan_labels(self.strata, self.labels, budget=min(n, self.n_open))


def label_counts(evidence: Evidence, guideline: Guideline, judge: str) -> LabelCounts:
    """Return what people who label by hand have found so far, stratum by stratum.

    Where several people labelled a dialogue, the first in the study's order speaks.

    Args:
        evidence: All records of one run.
        guideline: What they label by.
        judge: Whose verdicts make the strata; empty for none.
    """
    held, of_place = evidence.answers.dialogues, strata_of(evidence, guideline, judge)
    places = [place for place in of_place if (one := held[place]) is not None and not one.withheld]
    found = _verdicts_by_hand(evidence, guideline, places)
    labels = tuple(None if verdict == NO_VERDICT else verdict == DEFECT for verdict in found)
    return LabelCounts(strata=tuple(of_place[place] for place in places), labels=labels)


def _verdicts_by_hand(evidence: Evidence, guideline: Guideline, places: Sequence[int]) -> list[str]:
    people = [
        AnswerSource(name=one.name, kind=one.kind, version="", by_hand=True)
        for one in evidence.study.annotators
        if one.by_hand and one.guideline == guideline.name
    ]
    by_person = [verdicts_of(evidence.answers, guideline, array("L", places), person) for person in people]
    return [
        next((verdict for verdict in verdicts if verdict != NO_VERDICT), NO_VERDICT)
        for verdicts in (zip(*by_person, strict=True) if by_person else [()] * len(places))
    ]


def planned_labels(evidence: Evidence, request: LabelRequest) -> tuple[LabelCounts, LabelPlan]:
    """Return what people have found so far, and what further labels would tell.

    Raises:
        InputError: If it is not clear what is to be labelled, or nothing is left to label.
    """
    guideline = guideline_for(evidence.study, request.guideline)
    judge = judge_for(evidence.study, guideline, request.judge)
    counts = label_counts(evidence, guideline, judge.name if judge else "")
    if not counts.n_open:
        message = (
            f"nothing is left to label by `{guideline.name}`: no dialogue of study `{evidence.study.name}` is open"
        )
        raise InputError(message)
    return counts, counts.plan(request.n)
