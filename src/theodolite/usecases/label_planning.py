"""Requests for labels, their plan and the samples that people label."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from theodolite.assessment.drawing import allot, draw, shuffled
from theodolite.assessment.slips import slips_of
from theodolite.domain.annotating.label_sample import LabelSample, LabelSlip, SampledDialogue, SampleStratum
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.answer_rules import AnswerSource
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.measurement.stratified_correction import LabelPlan, plan_labels
from theodolite.measurement.study.paired_labels import DEFECT, NO_VERDICT, SOUND, strata_of, verdicts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRequest:
    """What people are to label.

    Attributes:
        n: Dialogues wanted; count.
        guideline: Name of the guideline; empty where the study has one alone that is judged.
        judge: Name of the annotator whose verdicts make the strata; empty for the first judge.
        seed: Of the draw.
    """

    n: int
    guideline: str = ""
    judge: str = ""
    seed: int = 1


def guideline_for(study: Study, name: str) -> Guideline:
    """Return the guideline that people are to label by.

    Raises:
        InputError: If there is none of that name, or none is named and several could be meant.
    """
    known = {guideline.name: guideline for guideline in study.guidelines}
    if name:
        if name not in known:
            message = (
                f"study `{study.name}` has no guideline `{name}`; known: {_listed(known)}{did_you_mean(name, known)}"
            )
            raise InputError(message)
        return known[name]
    judged = {a.guideline for a in study.annotators if a.kind is AnnotatorKind.MODEL} & known.keys()
    if len(judged or known) != 1:
        several = [one for one in known if one in (judged or known)]
        begin = f"study `{study.name}` has {len(several)} guidelines to label by"
        message = f"{begin}; name one with --guideline: {_listed(several)}"
        raise InputError(message)
    return known[next(iter(judged or known))]


def judge_for(study: Study, guideline: Guideline, name: str) -> Annotator | None:
    """Return the annotator whose verdicts make the strata: the one named, else the first model, else the first rule.

    Raises:
        InputError: If the one named does not label by the guideline, or is a person.
    """
    judges = [a for a in study.annotators if a.guideline == guideline.name and a.kind is not AnnotatorKind.PERSON]
    judges.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    if not name:
        return judges[0] if judges else None
    found = next((judge for judge in judges if judge.name == name), None)
    if found is None:
        names = [judge.name for judge in judges]
        tail = did_you_mean(name, names) or (f"; its judges: {_listed(names)}" if names else "; it has no judge")
        message = f"no judge `{name}` labels by guideline `{guideline.name}`{tail}"
        raise InputError(message)
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


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


EXPECTED_SPREAD = {DEFECT: 0.45, SOUND: 0.2}
"""How much labels are expected to differ behind a judge's verdict before anybody has labelled; standard deviation.

A judge that is right in 72 of 100 defects and wrong in 4 of 100 sound ones.
"""

_UNKNOWN_SPREAD = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLabels:
    """A label sample with the slips of its file."""

    sample: LabelSample
    slips: tuple[LabelSlip, ...]


def draw_labels(evidence: Evidence, request: LabelRequest) -> DrawnLabels:
    """Draw the dialogues that people are to label.

    They come from all verdicts of the judge, those without a defect and those
    that cannot be read included, each with its probability. What a person has
    labelled before is not drawn again.

    Raises:
        InputError: If it is not clear what is to be labelled, or nothing is left to label.
    """
    guideline = guideline_for(evidence.study, request.guideline)
    judge = judge_for(evidence.study, guideline, request.judge)
    completed, find = evidence.answers.dialogues, evidence.sessions.find
    dialogues = {dialogue.key: find(dialogue.label) or 0 for dialogue in evidence.archive.dialogues()}
    readable = {key: place for key, place in dialogues.items() if not (one := completed[place]) or not one.withheld}
    strata = _open_strata(evidence, guideline, judge.name if judge else "", readable)
    shares = _shares(evidence, guideline, judge.name if judge else "", strata, request.n)
    drawn = draw(strata, shares, request.seed)
    order = shuffled([key for keys in drawn.values() for key in keys], request.seed)
    if not order:
        raise InputError(_why_nothing(evidence.study, guideline, dialogues, readable))
    sample = LabelSample(
        study=evidence.study.name,
        guideline=guideline.name,
        guideline_version=version_of(guideline),
        judge=judge.name if judge else "",
        judge_version=evidence.study.annotator_version(judge.name) if judge else "",
        seed=request.seed,
        strata=_strata_of(strata, drawn),
        dialogues=_sampled(strata, drawn, order),
        withheld=len(dialogues) - len(readable),
    )
    chosen = {one.key: one for one in evidence.archive.dialogues([dialogues[key] for key in order])}
    return DrawnLabels(sample=sample, slips=tuple(slip for key in order for slip in slips_of(guideline, chosen[key])))


def _open_strata(
    evidence: Evidence, guideline: Guideline, judge: str, readable: Mapping[str, int]
) -> dict[str, list[str]]:
    """Return stratum to the keys of its dialogues that can be read and that nobody has labelled by hand."""
    people = {annotator.name for annotator in evidence.study.annotators if annotator.by_hand}
    given = (one for one in evidence.archive.annotations() if one.annotator in people)
    labelled = {one.dialogue for one in given if one.guideline == guideline.name}
    of_session = strata_of(evidence, guideline, judge)
    found: dict[str, list[str]] = defaultdict(list)
    for key, place in readable.items():
        if place in of_session and key not in labelled:
            found[of_session[place]].append(key)
    return dict(sorted(found.items()))


def _shares(
    evidence: Evidence, guideline: Guideline, judge: str, strata: Mapping[str, list[str]], n: int
) -> dict[str, int]:
    """Return how many to draw of each stratum: by what labels told so far, else by what is expected of judges."""
    sizes = {name: len(keys) for name, keys in strata.items()}
    known = label_counts(evidence, guideline, judge)
    if not known.n_labelled or n >= sum(sizes.values()):
        return allot(sizes, _weights(strata), n)
    return known.plan(n).take


def _weights(strata: Mapping[str, object]) -> dict[str, float]:
    return {name: EXPECTED_SPREAD.get(name.rpartition(": ")[2], _UNKNOWN_SPREAD) for name in strata}


def _strata_of(strata: Mapping[str, list[str]], drawn: Mapping[str, tuple[str, ...]]) -> tuple[SampleStratum, ...]:
    return tuple(
        SampleStratum(name=name, n_dialogues=len(keys), n_drawn=len(drawn[name])) for name, keys in strata.items()
    )


def _sampled(
    strata: Mapping[str, list[str]], drawn: Mapping[str, tuple[str, ...]], order: list[str]
) -> tuple[SampledDialogue, ...]:
    by_key = {
        key: SampledDialogue(dialogue=key, stratum=name, inclusion=len(keys) / len(strata[name]))
        for name, keys in drawn.items()
        for key in keys
    }
    return tuple(by_key[key] for key in order)


def _why_nothing(study: Study, guideline: Guideline, dialogues: Mapping[str, int], readable: Mapping[str, int]) -> str:
    if not dialogues:
        return f"no dialogue of `{study.name}` was held yet. Run some:  theodolite run STUDY --stage test"
    if not readable:
        return f"the texts of all {len(dialogues):,} dialogues of `{study.name}` are withheld, so nobody can label them"
    return (
        f"people have labelled all readable dialogues of `{study.name}` by `{guideline.name}`; nothing is left to draw"
    )
