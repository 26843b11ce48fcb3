"""Materialised risks: places, frequency, and findings of combined reviews."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.domain.choices import Impact
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Estimate, Significance, Undefined
from theodolite.domain.identity import digest
from theodolite.domain.study_parts import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialisedRisk:
    """A risk that became real in one dialogue or session; a record for deeper exploration.

    Attributes:
        risk: Name of the risk.
        dialogue: Label of the dialogue; empty for a session of several.
        turn: Number of the turn; None for the dialogue as a whole.
        magnitude: Degree of consequence; scale points 1..10, None if unrated.
        impact: Direction of the impact.
        session: Key of the tester's session; empty if a single dialogue shows it.
        shown_by: The rule or the answer that shows it, or `combined review`.
        by: Annotators who reported or reviewed it; empty for a tester's answer.
        against: Annotators who labelled the same dialogue and did not report it.
    """

    risk: str
    dialogue: str
    turn: int | None = None
    magnitude: int | None = None
    impact: Impact = Impact.NEITHER
    session: str = ""
    shown_by: str = ""
    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject a magnitude outside the scale."""
        if self.magnitude is not None and not 1 <= self.magnitude <= 10:
            message = f"magnitude must lie in 1..10; got {self.magnitude}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedReview:
    """Findings of a reviewer who read a session's dialogues and its questionnaire together.

    Reviewers are not blind annotators: readers of a questionnaire annotate no dialogue of the study.

    Attributes:
        study: Name of the study.
        risk: Name of the risk.
        session: Key of the tester's session.
        materialised: Whether the risk became real.
        reviewer: Opaque key of the person.
        rationale: Reason, in their words.
        magnitude: Degree of consequence; scale points 1..10, None if unrated.
        impact: Direction of the impact.
        revision: Number of the review of this session and risk, from 1; the latest counts.
    """

    study: str
    risk: str
    session: str
    materialised: bool
    reviewer: str
    rationale: str = ""
    magnitude: int | None = None
    impact: Impact = Impact.NEITHER
    revision: int = 1

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the reviews of a study are filed."""
        return digest("combined reviews", study)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskPart:
    """Frequency of a materialised risk for one part of the people.

    Attributes:
        group: Name of the group.
        part: Its value.
        n: Dialogues or sessions with a known state of the risk; count.
        n_undecided: Dialogues or sessions without a decision; count, in no other number.
        n_people: Testers, personas or scripts behind the known ones; count.
        count: Dialogues or sessions in which it materialised; None if there are too few to report.
    """

    group: str
    part: str
    n: int
    n_undecided: int
    n_people: int
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskContrast:
    """A test whether a risk materialises more often for one part of the people than for another.

    Attributes:
        group: Name of the group.
        first: The one part.
        second: The other value.
        test: The test; each person counts once.
        adjusted_p_value: The p-value for all comparisons of all risks of the run; None if undefined.
    """

    group: str
    first: str
    second: str
    test: Significance | Undefined
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskImpact:
    """The impact of a risk: likelihood, magnitude and direction; positive and negative impacts are never netted.

    Attributes:
        likelihood: Share of the decided dialogues or sessions in which the risk materialised.
        magnitude: Mean magnitude where it materialised; points from 0 to 10.
        expected: Mean over all decided ones, with 0 for the others: likelihood times magnitude.
        impacts: Direction to the number of statements about materialised ones.
        n_real: Dialogues or sessions in which the risk materialised; count.
        n_ungraded: Materialised ones without a magnitude; count.
    """

    likelihood: Estimate | Undefined
    magnitude: Estimate | Undefined
    expected: Estimate | Undefined
    impacts: Mapping[str, int]
    n_real: int
    n_ungraded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskFinding:
    """Number of times a risk materialised with one application at one level of testing; a count, never a rate.

    Attributes:
        risk: The risk.
        application: Name of the application.
        level: Level of testing.
        n: Dialogues, or sessions with a response, that could have shown it; count.
        materialised: Dialogues in which it materialised.
        pending: Keys of the sessions that still need a review.
        n_dismissed: Sessions in which a combined review denies it; count.
        n_undecided: Of `n`, those without a decision, including pending ones; count.
        parts: Counts by group of people.
        contrasts: Comparisons of every two parts of a group.
        impact: Likelihood, magnitude and direction; None if nothing was measured.
    """

    risk: Risk
    application: str
    level: Level
    n: int
    materialised: tuple[MaterialisedRisk, ...] = ()
    pending: tuple[str, ...] = ()
    n_dismissed: int = 0
    n_undecided: int = 0
    parts: tuple[RiskPart, ...] = ()
    contrasts: tuple[RiskContrast, ...] = ()
    impact: RiskImpact | None = None

    @property
    def n_unseen(self) -> int:
        """Dialogues or sessions without any decision for which no review is due; count."""
        return self.n_undecided - len(self.pending)
