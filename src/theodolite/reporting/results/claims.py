"""Claims as entries of the results file."""

from __future__ import annotations

from theodolite.domain.claim import ClaimTest
from theodolite.domain.identity import Json


def claim_entry(test: ClaimTest) -> dict[str, Json]:
    """Return a claim as the results file has it."""
    return {
        "text": test.claim.text,
        "kind": test.claim.kind.value,
        "scripts": list(test.claim.scripts),
        "status": test.standing.value,
        "guideline": test.guideline or None,
        "rule": test.rule or None,
        "annotator": test.annotator or None,
        "planned": test.planned,
        "n": test.n,
        "contradicting": list(test.contradicting),
        "reason": test.reason or None,
    }
