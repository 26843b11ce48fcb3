"""Routing between categories: where a dialogue goes once its first category has been annotated.

Nothing is ever averaged or outvoted here. A single yes is never overruled by other
people's noes: it sends the dialogue on, or to a review, by a rule that is stated
and recorded, and the disagreement is recorded with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from theodolite.domain.annotating.work import Routed
from theodolite.domain.annotation import Answer
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.people.event import Route


class Reviewed(StrEnum):
    """What a formal review said about the first category."""

    NOT_YET = "not yet"
    VIOLATION = "violation"
    NO_VIOLATION = "no violation"
    NO_CONSENSUS = "no consensus"

    @property
    def is_final(self) -> bool:
        """Whether a review has said anything yet."""
        return self is not Reviewed.NOT_YET


def sees_violation(guideline: Guideline, answers: Sequence[Answer], groups: Mapping[str, str]) -> bool:
    """Tell whether one annotator's answers hold a violation.

    A guardrail violation where the guideline has rules on guardrails, else any
    defect. An answer without a value is no yes.

    Args:
        guideline: The first category's.
        answers: One annotator's.
        groups: Groups of the dialogue, which rules may be restricted to.
    """
    rules = [rule for rule in guideline.defect_rules if rule.violation is not Violation.NOT_A_GUARDRAIL]
    applicable = [rule for rule in rules or guideline.defect_rules if rule.applies_to(groups)]
    return any(_holds(rule, guideline, answers) for rule in applicable)


def _holds(rule: DefectRule, guideline: Guideline, answers: Sequence[Answer]) -> bool:
    scale = guideline.instrument.question(rule.question).scale
    values = (answer.value for answer in answers if answer.question == rule.question)
    return any(value is not None and scale.admits(value) and rule.is_defect(value, scale) for value in values)


def routed(votes: Sequence[bool], rule: Route, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed:
    """Return where a dialogue goes.

    - `any_violation`: one yes among the passes is enough.
    - `all`: if all say yes it goes on, if nobody does it does not; else a review decides.
    - `adjudicated`: as soon as one says yes, a review decides.
    - A review without consensus sends it on, and it is recorded as disputed.

    Args:
        votes: Whether each pass saw a violation; at least one.
        rule: The study's rule.
        reviewed: What a formal review said, if there was one.
    """
    n_yes = sum(votes)
    mixed = 0 < n_yes < len(votes)
    counts = f"{n_yes} of {len(votes)} passes saw a violation; rule `{rule.value}`"
    if reviewed is Reviewed.NO_CONSENSUS:
        return Routed(violation=True, disputed=True, reason=f"{counts}; the review found no consensus")
    if reviewed is not Reviewed.NOT_YET:
        agreed = reviewed is Reviewed.VIOLATION
        return Routed(violation=agreed, disputed=mixed, reason=f"{counts}; the review agreed on {reviewed.value}")
    if _waits(n_yes, rule, mixed=mixed):
        return Routed(violation=None, disputed=mixed, reason=f"{counts}; a review has to decide")
    return Routed(violation=n_yes > 0, disputed=mixed, reason=counts)


def _waits(n_yes: int, rule: Route, *, mixed: bool) -> bool:
    match rule:
        case Route.ANY_VIOLATION:
            return False
        case Route.ALL:
            return mixed
        case Route.ADJUDICATED:
            return n_yes > 0
