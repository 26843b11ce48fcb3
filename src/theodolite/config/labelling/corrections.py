"""How a study wants judges' numbers corrected, checked against its annotators and their rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.parts import Parts, dropped, section
from theodolite.config.specs.study import CalibrationSpec, CorrectionSpec
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.choices import RateCorrection
from theodolite.domain.correction import Calibration, CorrectionChoice
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline


def corrections_of(parts: Parts, guidelines: Sequence[Guideline], context: LoadContext) -> tuple[CorrectionChoice, ...]:
    """Return how the judges' numbers are to be corrected; faults where a judge or a rule is not there.

    Args:
        parts: What has been read of the study; its annotators are.
        guidelines: All guidelines of the study.
        context: Takes the faults.
    """
    known = {annotator.name: annotator for annotator in parts.annotators}
    by_name = {guideline.name: guideline for guideline in guidelines}
    lost = {*dropped(parts.entry, "judges"), *dropped(parts.entry, "annotators")}
    found = []
    for entry in section(parts.entry, "corrections"):
        judge = known.get(entry.name)
        guideline = by_name.get(judge.guideline) if judge else None
        if judge is None or guideline is None:
            _complain_unknown(entry, known, lost, context)
            continue
        found.append(_choice(entry, judge, guideline, context))
    return tuple(found)


def _complain_unknown(
    entry: Entry[CorrectionSpec], known: Mapping[str, Annotator], lost: set[str], context: LoadContext
) -> None:
    if entry.name in lost or entry.name in known:
        return
    near = did_you_mean(entry.name, known) or f"; the study has {', '.join(known) or 'none'}"
    message = f"`corrections` names a judge `{entry.name}` that the study does not have{near}"
    context.diagnostics.add(entry.fault(message=message, at_key=True))


def _choice(
    entry: Entry[CorrectionSpec], judge: Annotator, guideline: Guideline, context: LoadContext
) -> CorrectionChoice:
    spec = entry.spec
    rules = [rule.name for rule in guideline.defect_rules]
    if judge.kind is AnnotatorKind.PERSON:
        message = f"`{judge.name}` is a person; people's numbers are what judges' are corrected by"
        context.diagnostics.add(entry.fault(message=message, at_key=True))
    for name in spec.calibrations:
        if name not in rules:
            near = did_you_mean(name, rules) or f"; it has {', '.join(rules)}"
            message = f"guideline `{guideline.name}` has no defect rule `{name}`{near}"
            context.diagnostics.add(entry.fault("calibrations", name, message=message))
    missing = [name for name in rules if name not in spec.calibrations]
    if spec.rate is RateCorrection.ROGAN_GLADEN and missing:
        message = (
            f"`rogan-gladen` needs what `{judge.name}` got right elsewhere; add under `calibrations`:"
            f" {{{missing[0]}: {{caught: [180, 200], passed: [140, 200], from: where}}}}"
        )
        context.diagnostics.add(entry.fault("rate", message=message))
    return CorrectionChoice(
        judge=judge.name,
        rate=spec.rate,
        mean=spec.mean,
        calibrations=tuple(_calibrations(spec.calibrations)),
    )


def _calibrations(specs: Mapping[str, CalibrationSpec]) -> Iterator[Calibration]:
    for rule, spec in specs.items():
        (caught, defects), (passed, sound) = spec.caught, spec.passed
        yield Calibration(rule=rule, caught=caught, defects=defects, passed=passed, sound=sound, source=spec.source)
