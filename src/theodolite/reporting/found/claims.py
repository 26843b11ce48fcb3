"""How claims stand, in words."""

from __future__ import annotations

from theodolite.domain.claim import ClaimStanding, ClaimTest
from theodolite.domain.study import Study
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.words import figures


def claim_words(study: Study, test: ClaimTest) -> str:
    """Return how a claim stands and on what that rests, e.g. `supported: no defect in 4 of 5 dialogues (judge)`."""
    if test.standing in {ClaimStanding.NOT_TESTED, ClaimStanding.UNTESTABLE}:
        return f"{test.standing.value}: {test.reason}"
    n = figures.number_of(test.n, "labelled dialogue")
    missing = test.planned - test.n
    rest = f", {figures.count(missing)} more without a label" if missing else ""
    by = title_of(study, test.annotator)
    verb = "show" if len(test.contradicting) > 1 else "shows"
    defects = figures.count(len(test.contradicting)) if test.contradicting else "none"
    return f"{test.standing.value}: {defects} of {n} {verb} a defect by {test.guideline}.{test.rule} ({by}){rest}"


def claims_text(tests: tuple[ClaimTest, ...]) -> str:
    """Return how many claims stand how, and what contradicts the others; empty where nobody claims anything."""
    if not tests:
        return ""
    counts = {standing: sum(test.standing is standing for test in tests) for standing in ClaimStanding}
    text = ", ".join(f"{figures.count(n)} {standing.value}" for standing, n in counts.items() if n)
    against = [
        f'{test.application} "{test.claim.text}" by {", ".join(test.contradicting[:3])}'
        for test in tests
        if test.contradicting
    ]
    return f"{text}. Contradicted: {'; '.join(against)}." if against else f"{text}."
