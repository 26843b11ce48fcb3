"""Certifying: a judge is held against people, and what was found stays with this version of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Measurement
from theodolite.domain.evidence import Evidence
from theodolite.domain.fault import did_you_mean
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.domain.validation_report import ValidationReport
from theodolite.measurement.study.judge_validation import JudgeFindings, authorities_of, validate_judge


def judges_named(study: Study, name: str) -> tuple[Annotator, ...]:
    """Return the judge of a name, or all models of a study, or all rules where it has no model.

    Raises:
        InputError: If there is no such judge, or none at all.
    """
    judges = [annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON]
    names = [judge.name for judge in judges]
    if name and name not in names:
        known = did_you_mean(name, names) or f"; its judges: {', '.join(f'`{one}`' for one in names) or 'none'}"
        message = f"study `{study.name}` has no judge `{name}`{known}"
        raise InputError(message)
    if not judges:
        message = f"study `{study.name}` has no judge: nobody but people labels its dialogues"
        raise InputError(message)
    models = [judge for judge in judges if judge.kind is AnnotatorKind.MODEL] or judges
    return tuple(judge for judge in judges if judge.name == name) if name else tuple(models)


def has_judge(study: Study, guidelines: Collection[str] = ()) -> bool:
    """Tell whether a study has a judge that labels can be held against.

    Args:
        study: The study.
        guidelines: Names of the guidelines of the labels; empty for all of the study.
    """
    judges = (annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON)
    return any(not guidelines or judge.guideline in guidelines for judge in judges)


def check_labelled(evidence: Evidence, judges: Iterable[Annotator], place: str = "STUDY") -> None:
    """Refuse judges that nobody can be held against.

    Args:
        evidence: Everything that the run holds.
        judges: The judges.
        place: What the user types to name the study.

    Raises:
        InputError: If nobody has labelled a dialogue that one of them has labelled.
    """
    for judge in judges:
        if not authorities_of(evidence, judge.name):
            message = (
                f"no person has labelled a dialogue that `{judge.name}` has labelled, so there is nothing to hold it"
                f" against. Draw some:  theodolite label {place} --sample 100"
            )
            raise InputError(message)


def validation_report_of(
    evidence: Evidence, judge: Annotator, issued: datetime, *, probes: Sequence[Measurement] = (), probed: bool = False
) -> ValidationReport:
    """Return everything that labels and probes tell about a judge.

    Args:
        evidence: Everything that the run holds.
        judge: The judge.
        issued: Now; UTC.
        probes: What attacks and repeated readings found.
        probed: Whether there were any.

    Raises:
        InputError: If nobody has labelled a dialogue that the judge has labelled.
    """
    study = evidence.study
    check_labelled(evidence, [judge])
    found = validate_judge(evidence, judge.name)
    guideline = study.guideline(judge.guideline)
    return ValidationReport(
        study=study.name,
        run=evidence.run.number,
        judge=judge.name,
        judge_version=study.annotator_version(judge.name),
        guideline=guideline.name,
        guideline_version=version_of(guideline),
        issued=issued,
        judged=found.judged,
        labelled=found.labelled,
        authorities=found.authorities,
        measurements=(*found.measurements, *probes),
        confusions=found.confusions,
        lacking=tuple(_lacking(judge, found, probed=probed)),
    )


def _lacking(judge: Annotator, found: JudgeFindings, *, probed: bool) -> list[str]:
    """Return what this certificate does not tell, and why."""
    said = []
    if not any(one.subject.is_human_ceiling for one in found.measurements):
        said.append("How far people agree with each other is unknown: no two people have labelled the same dialogue.")
    if not isinstance(judge.labelling, ModelJudge):
        said.append("Attacks and repeated readings were not tried: no model of this study gives these labels.")
    elif not probed:
        said.append("Attacks and repeated readings were left out, so nobody knows what text can make of this judge.")
    return said
