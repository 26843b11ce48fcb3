"""Sampling labels: which dialogues people are to label, and what they are asked about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.assessment.drawing import allot, draw, shuffled
from theodolite.assessment.slips import slips_of
from theodolite.domain.annotating.label_sample import LabelSample, LabelSlip, SampledDialogue, SampleStratum
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.measurement.study.paired_labels import DEFECT, SOUND, strata_of
from theodolite.usecases.label_requests import LabelRequest, guideline_for, judge_for
from theodolite.usecases.planning_labels import label_counts

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
