"""Pseudonyms: numbers that stand for people, the same in all that a run gives out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import digest


def pseudonyms(evidence: Evidence) -> Mapping[str, str]:
    """Return a number for each person who labelled."""
    return numbered(evidence, (annotator.name for annotator in evidence.study.annotators if annotator.by_hand), "P")


def numbered(evidence: Evidence, people: Iterable[str], letter: str) -> Mapping[str, str]:
    """Return a number for each person, in an order that hangs on the run's opaque key.

    Args:
        evidence: All records of one run.
        people: Their names; each may come several times.
        letter: What stands before the numbers.
    """
    order = sorted(set(people), key=lambda name: digest("pseudonym", evidence.run.key, name))
    return {name: f"{letter}{number:03}" for number, name in enumerate(order, 1)}
