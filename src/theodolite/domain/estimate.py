"""Estimates: numbers that carry what one must know to believe them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.claim import ClaimTest
from theodolite.domain.errors import InputError
from theodolite.domain.lapse import LapseCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The account of all planned units; nothing may be missing from it.

    All are counts. `planned` is the sum of the others, by construction of every
    study run; a record where it is not is refused.
    """

    planned: int
    used: int
    missing: int = 0
    failed: int = 0
    refused: int = 0
    unparseable: int = 0
    not_applicable: int = 0

    def __post_init__(self) -> None:
        """Refuse an account that does not add up."""
        parts = (self.used, self.missing, self.failed, self.refused, self.unparseable, self.not_applicable)
        if min(parts) < 0 or sum(parts) != self.planned:
            message = (
                f"`planned` must be the sum of the other counts, none below 0; planned={self.planned}, parts={parts}"
            )
            raise InputError(message)

    @property
    def unmeasured(self) -> int:
        """Units that should have a label and have none; count."""
        return self.planned - self.used - self.not_applicable


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: The point estimate, in `unit`.
        low: Lower end of the interval; None where the method gives no interval.
        high: Upper end of the interval; None where the method gives no interval.
        confidence: Coverage of the interval; fraction in (0, 1).
        n: Units that the value rests on; count.
        unit: What the value is a number of, e.g. "fraction of dialogues".
        method: Name of the method that gave the interval.
        n_clusters: Groups of units that resemble each other; None where units
            were taken as independent.
        design_effect: Variance relative to independent units; None likewise.
        chance: What unrelated annotators would reach, for agreement.
        count: Units with the property, where the value is a share of units.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    n: int
    unit: str
    method: str
    n_clusters: int | None = None
    design_effect: float | None = None
    chance: float | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be printed honestly."""
        numbers = [self.value, self.confidence]
        numbers += [end for end in (self.low, self.high, self.chance) if end is not None]
        if not all(math.isfinite(number) for number in numbers):
            message = f"an estimate needs finite numbers; use `Undefined` instead of {numbers}"
            raise InputError(message)

    @property
    def effective_n(self) -> float:
        """Independent units that would tell as much: n over the design effect; count."""
        return self.n if self.design_effect is None else self.n / self.design_effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A statistic that has no value here, and why: neither 0 nor perfect nor poor."""

    reason: str
    n: int = 0
    unit: str = ""
    method: str = ""
    n_clusters: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One result of a study: an estimate, what it is about and where it came from.

    Attributes:
        measure: Name of the function that made it, e.g. `defect_rate`.
        application: Name of the application that it is about.
        about: What else it is about: guideline, rule, annotators, group.
        result: The number, or why there is none.
        outcomes: Account of all units that were planned for it.
        versions: Content hashes of the instruments by name.
        bounds: For rates with unmeasured units: the rate if all of them were
            sound, and if all were defects; fractions.
        dialogues: Labels of the dialogues that count as the numerator, e.g. `d001`.
    """

    measure: str
    application: str
    about: Mapping[str, str]
    result: Estimate | Undefined
    outcomes: Outcomes
    versions: Mapping[str, str] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    dialogues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix:
    """How often two annotators gave which pair of labels.

    Attributes:
        categories: All labels of the scale, used or not, in scale order.
        counts: counts[i][j] units got label i from the first and j from the second.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Units in the matrix; count."""
        return sum(sum(row) for row in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """The confusion matrix of two annotators on one application.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        first: Name of the annotator in the rows; `reference` for final labels.
        second: Name of the annotator in the columns.
        matrix: The counts; `unparseable` is a category of its own where it occurs.
    """

    application: str
    guideline: str
    question: str
    first: str
    second: str
    matrix: ConfusionMatrix


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyTally:
    """How one strategy fared against one application in one scenario.

    Attributes:
        scenario: Name of the scenario.
        strategy: Name of the strategy.
        application: Name of the application.
        level: Level of testing, in words.
        held_by: Who held the tester's side, in words.
        planned: Dialogues planned with it; count.
        tries: Dialogues held with it; count.
        attempts: Attempts in them; count.
        refinements: Attempts that build on an earlier one; count.
        success: Share of dialogues in which the red teamer saw something released.
        dialogues: Labels of these dialogues.
        confirmed: Annotator to the dialogues of this strategy that it labels as
            a release of prohibited content; count.
    """

    scenario: str
    strategy: str
    application: str
    level: str
    held_by: str
    planned: int
    tries: int
    attempts: int
    refinements: int
    success: Estimate | Undefined
    dialogues: tuple[str, ...] = ()
    confirmed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that was measured in a run.

    Attributes:
        measurements: Rates and agreements.
        confusions: Confusion matrices.
        lapses: What the checks of simulated users found; empty where none were asked for.
        strategies: What red teamers tried, and how it went.
    """

    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...] = ()
    lapses: tuple[LapseCheck, ...] = ()
    claims: tuple[ClaimTest, ...] = ()
    strategies: tuple[StrategyTally, ...] = ()
