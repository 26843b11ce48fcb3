"""Corrections: how a study wants a judge's numbers set right by what people found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What a judge got right on dialogues that are no part of the study.

    Attributes:
        rule: Name of the defect rule.
        caught: Defects that the judge called a defect; count.
        defects: Defects that people found; count, at least 1.
        passed: Sound dialogues that it passed; count.
        sound: Sound dialogues; count, at least 1.
        source: Where these were labelled, in words.
    """

    rule: str
    caught: int
    defects: int
    passed: int
    sound: int
    source: str

    def __post_init__(self) -> None:
        """Refuse counts that are no part of their whole."""
        for name, part, whole in (("caught", self.caught, self.defects), ("passed", self.passed, self.sound)):
            if not 0 <= part <= whole or whole < 1:
                message = f"`{name}` must be two counts, a part and its whole, e.g. [180, 200]; got [{part}, {whole}]"
                raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionChoice:
    """How one judge's numbers are corrected.

    Attributes:
        judge: Name of the annotator.
        rate: How its rates are.
        mean: How the means of its scores are.
        calibrations: What is known of it from elsewhere, one a defect rule.
    """

    judge: str
    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    mean: MeanCorrection = MeanCorrection.POWERED
    calibrations: tuple[Calibration, ...] = ()

    def calibration(self, rule: str) -> Calibration | None:
        """Return what is known of the judge by one defect rule from elsewhere."""
        return next((one for one in self.calibrations if one.rule == rule), None)


def choice_for(judge: str, choices: Iterable[CorrectionChoice]) -> CorrectionChoice:
    """Return how a judge's numbers are corrected; as usual where nothing is said of it."""
    return next((one for one in choices if one.judge == judge), CorrectionChoice(judge=judge))
