"""Subjects in their former shape: the flat object `about` of results files 1.x and of older validation reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate_subject import (
    ALL_APPLICATIONS,
    EstimateSubject,
    GroupValue,
    Measure,
    ScoreStatistic,
    Weighting,
)
from theodolite.domain.guideline import Violation

_KAPPAS = (Measure.COHEN_KAPPA, Measure.FLEISS_KAPPA)


class FormerSubject(NamedTuple):
    """The subject that a flat object stands for, and the variant of the measure that was in it."""

    subject: EstimateSubject
    weighting: Weighting | None
    statistic: ScoreStatistic | None


def former_subject(measure: Measure, application: str, about: Mapping[str, str]) -> FormerSubject:
    """Return the typed subject of an estimate from its application and its flat object.

    Raises:
        ValueError: If a word is unknown.
    """
    transported = measure is Measure.ROGAN_GLADEN_RATE
    by = about.get("by", "")
    subject = EstimateSubject(
        application=application or ALL_APPLICATIONS,
        guideline=about.get("guideline", ""),
        question=about.get("question", ""),
        label=about.get("label", ""),
        rule=about.get("rule", ""),
        condition=about.get("condition", ""),
        violation=Violation(about["violation"]) if "violation" in about else None,
        annotators=_annotators(about),
        corrected_by="" if transported else by,
        calibrated_on=by if transported else "",
        level=Level(about["level"]) if "level" in about else None,
        tester_type=TesterType(about["held_by"]) if "held_by" in about else None,
        among=_groups(about, "among."),
        group=next(iter(_groups(about, "group.")), None),
        scenario=about.get("scenario", ""),
        annotator_group=next(iter(_groups(about, "annotators.")), None),
        n_people=int(about["people"]) if "people" in about else None,
        is_human_ceiling="ceiling" in about,
        attempt=about.get("attempt", ""),
        repetition=about.get("readings", ""),
    )
    weighting = about.get("scale") or about.get("weights") or ("identity" if measure in _KAPPAS else "")
    statistic = about.get("statistic")
    return FormerSubject(
        subject=subject,
        weighting=Weighting(weighting) if weighting else None,
        statistic=ScoreStatistic(statistic) if statistic else None,
    )


def _annotators(about: Mapping[str, str]) -> tuple[str, ...]:
    if "annotators" in about:
        return tuple(about["annotators"].split(", "))
    if "second" in about:
        return (about["first"], about["second"]) if "first" in about else (about["second"],)
    return (about["annotator"],) if "annotator" in about else ()


def _groups(about: Mapping[str, str], prefix: str) -> tuple[GroupValue, ...]:
    return tuple(
        GroupValue(name=name.removeprefix(prefix), value=value)
        for name, value in about.items()
        if name.startswith(prefix)
    )
