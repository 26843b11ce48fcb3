"""Comparisons: the same test applied to two applications, or to two versions of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.number import Estimate, Outcomes, Significance, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """One annotator's label of one dialogue under one rule, as a verdict.

    Attributes:
        dialogue: Label of the dialogue.
        is_defect: Whether it is a defect; None if it was not measured.
        cluster: Common property of similar dialogues; empty if unknown.
    """

    dialogue: str
    is_defect: bool | None
    cluster: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """All verdicts on one application by one annotator under one rule.

    Attributes:
        subject: Application, guideline, rule and annotator, with level and tester type if there are several.
        instruments: Guideline and annotator to their versions.
        verdicts: Pair key to verdict.
        is_single: Whether it belongs to a single person of a pool, whose pooled rate leads.
    """

    subject: EstimateSubject
    instruments: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, RuleVerdict] = field(default_factory=dict)
    is_single: bool = False

    @property
    def key(self) -> EstimateSubject:
        """Key of comparable labels: all but the application and the wording of the rule."""
        among = tuple(sorted(self.subject.among, key=lambda group: group.name))
        return replace(self.subject, application="", condition="", violation=None, among=among)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One side of a comparison: an application as measured by one run.

    Attributes:
        name: Displayed name of this side.
        application: Name of the application.
        study: Name of the study.
        run: Number of the run.
        plan: Version of the plan.
        mitigations: Names of the mitigations of the application.
        family: Name of the application that it is a variant of, or its own; empty if the
            study declares no variants, so that all of its applications may be variants of one.
        rulings: By rule and annotator, in the order of the study.
        people: Names of the human annotators, sorted for reproducible output.
        titles: Titles of annotators in reports; those without a title are omitted.
    """

    name: str
    application: str
    study: str
    run: int
    plan: str
    mitigations: tuple[str, ...] = ()
    family: str = ""
    rulings: tuple[Ruling, ...] = ()
    people: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A pair of dialogues of which exactly one is a defect.

    Attributes:
        pair: Pair key.
        first: Label of the dialogue on the first side.
        second: Label of the dialogue on the second side.
        is_fixed: Whether only the first side is a defect.
    """

    pair: str
    first: str
    second: str
    is_fixed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRate:
    """A defect rate on both sides, pair by pair.

    Attributes:
        ruling: Rule of the rate; its verdicts are the first side's.
        n: Pairs measured on both sides; count.
        n_first: Of these, defects on the first side; count.
        n_second: Of these, defects on the second side; count.
        n_unmeasured: Pairs that were not measured on one side or both; count.
        n_unpaired: Dialogues of either side without a pair; count.
        flips: Pairs with a defect on only one side.
        difference: Second rate minus first; `Undefined` if the two cannot be compared.
        test: Test whether flips go in one direction; None if there is no difference to test.
        adjusted: The test's p-value, adjusted for all rates of the comparison by the same annotator.
        n_wanted: Pairs required to detect a difference of this size; None if it is already detected.
        changed: Differences that make the two incomparable, as text; empty if none.
    """

    ruling: Ruling
    n: int
    n_first: int
    n_second: int
    n_unmeasured: int
    n_unpaired: int
    flips: tuple[Flip, ...]
    difference: Estimate | Undefined
    test: Significance | None = None
    adjusted: float | None = None
    n_wanted: int | None = None
    changed: str = ""

    @property
    def fixed(self) -> tuple[Flip, ...]:
        """Defects of the first side that the second side lacks."""
        return tuple(flip for flip in self.flips if flip.is_fixed)

    @property
    def regressed(self) -> tuple[Flip, ...]:
        """Defects of the second side that the first side lacks."""
        return tuple(flip for flip in self.flips if not flip.is_fixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides of a comparison, rate by rate.

    Attributes:
        first: The baseline side.
        second: The side compared with it.
        rates: Rates of both sides.
        mitigation: Name of the mitigation that the second side adds; empty if the sides differ otherwise.
    """

    first: ComparedSide
    second: ComparedSide
    rates: tuple[PairedRate, ...]
    mitigation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRate:
    """A defect rate in one group of dialogues.

    Attributes:
        value: Value of the group, e.g. a type of user.
        n: Dialogues of the group with a label; count.
        rate: The rate; None if fewer than ten dialogues have a label.
    """

    value: str
    n: int
    rate: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypologyRate:
    """A defect rate of one type of user with one type of application.

    Attributes:
        subject: Rule and annotator, with level and tester type if there are several.
        user_type: Type of user; `not stated` where a dialogue has none.
        application_type: Type of application.
        applications: Names of the applications of this type.
        n_users: Testers, personas or scripts with a labelled dialogue; count.
        outcomes: Outcomes of the planned sessions.
        rate: The rate; None if it rests on fewer than five people.
    """

    subject: EstimateSubject
    user_type: str
    application_type: str
    applications: tuple[str, ...]
    n_users: int
    outcomes: Outcomes
    rate: Estimate | Undefined | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGap:
    """Differences of one defect rate of an application between groups of dialogues.

    Attributes:
        subject: Application, rule and annotator of the rate, with level and tester type if there are several.
        group: Name of the group.
        rates: The rate in each group, in order of the study.
        lowest: Value of the group with the lowest rate; empty if fewer than two groups have a rate.
        highest: Value of the group with the highest rate; empty if fewer than two groups have a rate.
        gap: Highest minus lowest rate.
    """

    subject: EstimateSubject
    group: str
    rates: tuple[GroupRate, ...]
    lowest: str
    highest: str
    gap: Estimate | Undefined
