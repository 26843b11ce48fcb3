"""How a run came about, in words: what it spent, and what of that nobody told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.run import Spending
from theodolite.reporting.page.report import method_view
from theodolite.reporting.page.subject import subject_of


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        (Spending(), "none"),
        (Spending(calls=3, attempts=4), "3 (4 attempts), 0 tokens read, 0 written, $0.00"),
        (
            Spending(calls=3, attempts=3, unpriced_calls=3),
            "3 (3 attempts), tokens unknown, cost unknown (no price for 3 calls)",
        ),
        (
            Spending(calls=3, attempts=3, tokens_in=90, tokens_out=10, unpriced_calls=1),
            "3 (3 attempts), 90 tokens read, 10 written, cost unknown (no price for 1 of 3 calls)",
        ),
    ],
)
def test_unreported_tokens_are_unknown_and_not_zero(spent, said):
    evidence = replace(evidence_named("live"), spending=spent)
    subject = subject_of(evidence, findings_named("live"), facts(), words())

    assert dict(method_view(subject).facts)["Calls"] == said
