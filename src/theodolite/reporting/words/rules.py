"""Rules in words: what a defect is, and what its rule is called."""

from __future__ import annotations

from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting.words import figures


def phrase_of(rule: DefectRule, n: int) -> str:
    """Return what a defect is, with the number of dialogues filled in."""
    words = rule.phrase or f"defect ({rule.condition}), of {{n}}"
    return words.replace("{n}", figures.count(n))


def heading_of(guideline: Guideline, rule: DefectRule) -> str:
    """Return what a rule is called: its title, or its guideline where that has no other rule."""
    return rule.title or (guideline.name if len(guideline.defect_rules) == 1 else f"{guideline.name}: {rule.name}")


def short_phrase(rule: DefectRule) -> str:
    """Return what a defect is without the number of dialogues, e.g. `fully refused`."""
    return rule.phrase.split(", of {n}")[0] if rule.phrase else "defects"
