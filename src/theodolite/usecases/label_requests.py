"""Label requests: what people are to label, and by whose verdicts it is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.study import Study


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
                f"study `{study.name}` has no guideline `{name}`{did_you_mean(name, known)}; known: {_listed(known)}"
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
