"""Claims under test: what the dialogues of a claim's scripts say about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.application import Claim
from theodolite.domain.guideline import DefectRule, Guideline


class ClaimStanding(StrEnum):
    """Where a claim stands after a run."""

    SUPPORTED = "supported"
    """Its scripts' dialogues were labelled and none of them is a defect."""
    CONTRADICTED = "contradicted"
    """At least one of them is."""
    NOT_TESTED = "not tested"
    """None of them has a label, or nothing says which would count."""
    UNTESTABLE = "untestable"
    """The study says why no dialogue can test it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTest:
    """One claim held against the labels of one annotator.

    Attributes:
        application: Name of the application that makes the claim.
        claim: The claim.
        standing: Where it stands.
        guideline: Name of the guideline whose rule decides; empty where none does.
        rule: Name of the defect rule; likewise.
        annotator: Whose labels; `reference` for final labels, empty where none decide.
        planned: Planned dialogues of its scripts that the rule is about; count.
        n: Those among them with a label; count.
        contradicting: Labels of the dialogues that are a defect, e.g. `d003`.
        reason: Why it is not tested or untestable; empty where it is tested.
    """

    application: str
    claim: Claim
    standing: ClaimStanding
    guideline: str = ""
    rule: str = ""
    annotator: str = ""
    planned: int = 0
    n: int = 0
    contradicting: tuple[str, ...] = ()
    reason: str = ""


def rules_meant(claim: Claim, guidelines: Iterable[Guideline]) -> tuple[tuple[Guideline, DefectRule], ...]:
    """Return the defect rules that a claim can mean; it is clear where there is one.

    A claim names a rule, a guideline, or `guideline.rule`. A claim that names
    none means any rule, so a study with one rule in all needs no name.
    """
    return tuple(
        (guideline, rule)
        for guideline in guidelines
        for rule in guideline.defect_rules
        if claim.rule in {"", rule.name, guideline.name, f"{guideline.name}.{rule.name}"}
    )
