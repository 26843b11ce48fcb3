"""Estimates with interval and counts, and related numbers: significance, task and schema tallies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The outcomes of all planned units; none may be missing.

    All are counts. `planned` is the sum of the others by construction;
    a record that violates this is rejected.
    """

    planned: int
    used: int
    missing: int = 0
    failed: int = 0
    refused: int = 0
    unparseable: int = 0
    not_applicable: int = 0

    def __post_init__(self) -> None:
        """Reject outcomes that do not add up."""
        parts = (self.used, self.missing, self.failed, self.refused, self.unparseable, self.not_applicable)
        if min(parts) < 0 or sum(parts) != self.planned:
            message = (
                f"`planned` must be the sum of the other counts, none below 0; planned={self.planned}, parts={parts}"
            )
            raise InputError(message)

    @property
    def unmeasured(self) -> int:
        """Units without a label that should have one; count."""
        return self.planned - self.used - self.not_applicable


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: The point estimate, in `unit`.
        low: Lower end of the interval; None if the method gives no interval.
        high: Upper end of the interval; None if the method gives no interval.
        confidence: Coverage of the interval; fraction in (0, 1).
        n: Units behind the value; count.
        unit: Unit of the value, e.g. "fraction of dialogues".
        method: Name of the interval method.
        n_clusters: Clusters of similar units; None if units were taken as independent.
        design_effect: Variance relative to independent units; None if units were taken as independent.
        chance: Value expected of unrelated annotators, for agreement.
        count: Units with the property, if the value is a share of units.
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
        """Reject numbers that cannot be reported honestly."""
        numbers = [self.value, self.confidence]
        numbers += [end for end in (self.low, self.high, self.chance) if end is not None]
        if not all(math.isfinite(number) for number in numbers):
            message = f"an estimate needs finite numbers; use `Undefined` instead of {numbers}"
            raise InputError(message)

    @property
    def effective_n(self) -> float:
        """Effective sample size: n over the design effect; count."""
        return self.n if self.design_effect is None else self.n / self.design_effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A statistic without a value, with the reason: neither 0 nor perfect nor poor."""

    reason: str
    n: int = 0
    unit: str = ""
    method: str = ""
    n_clusters: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Significance:
    """The outcome of a test of a null hypothesis of no difference.

    Attributes:
        p_value: Probability of data at least as extreme under the null hypothesis; fraction.
        statistic: Test statistic; the method defines its meaning.
        method: Name of the test.
        n: Units behind it; count.
        degrees: Degrees of freedom, if the statistic has them.
        effect: Size of the effect of the statistic, if there is one.
        effect_name: Kind of effect size.
        n_clusters: Clusters; None if units were taken as independent.
    """

    p_value: float
    statistic: float
    method: str
    n: int
    degrees: float | None = None
    effect: float | None = None
    effect_name: str = ""
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        """Reject a value that is not a probability."""
        if not 0.0 <= self.p_value <= 1.0 or not math.isfinite(self.statistic):
            message = f"a test needs a p-value of 0..1 and a finite statistic; got {self.p_value}, {self.statistic}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginMeasurement:
    """The value of a plugin's measure on the labels of one annotator.

    Attributes:
        name: Name of the measure.
        title: Its short description; may be empty.
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        annotator: Name of the annotator; `reference` for final labels.
        result: The number, or the reason why there is none.
        outcomes: Outcomes of all planned dialogues.
    """

    name: str
    title: str
    application: str
    guideline: str
    question: str
    annotator: str
    result: Estimate | Undefined
    outcomes: Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTally:
    """Task completion with one application at one level, according to the testers.

    Attributes:
        application: Name of the application.
        level: Level of testing.
        n_sessions: Ended sessions; count.
        n_unsaid: Sessions without a statement of the tester; count, not in the share.
        done: Share of the others in which the task was completed.
    """

    application: str
    level: Level
    n_sessions: int
    n_unsaid: int
    done: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTally:
    """Use of answer schemas in an annotator's requests, if they had one.

    Attributes:
        annotator: Name of the annotator.
        sent: Replies whose endpoint accepted the schema; count.
        refused: Replies whose endpoint accepts no schema and received it as text; count.
        off: Replies for which the study disables schemas; count.
    """

    annotator: str
    sent: int = 0
    refused: int = 0
    off: int = 0
