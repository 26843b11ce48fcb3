"""The `corrections` section: how rates of judges are corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from theodolite.config.load_context import Entry, LoadContext, dropped, section
from theodolite.config.spec import Filled, Spec
from theodolite.config.study_parts import StudyParts
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.correction import Calibration, CorrectionChoice

Share = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""Two counts: a part and its whole."""


class CalibrationSpec(Spec):
    """What a judge got right on labelled dialogues that are no part of the study."""

    caught: Share
    """Defects that the judge detected, and all defects: `[180, 200]`."""
    passed: Share
    """Non-defects that the judge passed, and all non-defects: `[140, 200]`."""
    source: Filled = Field(alias="from")
    """Description of the validation, shown in the report."""

    @model_validator(mode="after")
    def _parts_of_their_whole(self) -> CalibrationSpec:
        wrong = [name for name in ("caught", "passed") if getattr(self, name)[0] > getattr(self, name)[1]]
        if wrong:
            message = f"`{wrong[0]}` holds a part and its whole, e.g. [180, 200]; got {list(getattr(self, wrong[0]))}"
            raise ValueError(message)
        return self


class CorrectionSpec(Spec):
    """How one judge's numbers are corrected by what people found."""

    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    """Its rates: `verdict-stratified` by labels of a drawn sample, `rogan-gladen` by `calibrations`, or `none`."""
    mean: MeanCorrection = MeanCorrection.POWERED
    """Means of its scores: `ppi++` by labels of a drawn sample, or `none`."""
    calibrations: dict[str, CalibrationSpec] = Field(default_factory=dict)
    """With `rogan-gladen`: results of a validation elsewhere, by defect rule; `defect` if there is one rule."""


def corrections_to_domain(
    parts: StudyParts, guidelines: Sequence[Guideline], context: LoadContext
) -> tuple[CorrectionChoice, ...]:
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
    from theodolite.domain.correction import CorrectionChoice

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
    from theodolite.domain.correction import Calibration

    for rule, spec in specs.items():
        (caught, defects), (passed, sound) = spec.caught, spec.passed
        yield Calibration(rule=rule, caught=caught, defects=defects, passed=passed, sound=sound, source=spec.source)


def corrections_from_domain(study: Study) -> dict[str, Any]:
    """Return how judges' numbers are corrected, where the study says it."""
    return {
        one.judge: {
            "rate": one.rate.value,
            "mean": one.mean.value,
            "calibrations": {
                known.rule: {
                    "caught": [known.caught, known.defects],
                    "passed": [known.passed, known.sound],
                    "from": known.source,
                }
                for known in one.calibrations
            },
        }
        for one in study.corrections
    }
