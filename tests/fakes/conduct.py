"""How a judge of the live study went about its work."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.annotator import StopRule, Voting
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.judge_diagnostics import JudgeDiagnostics, VoteAdvice, VoteRecord

NUMBER = Estimate(value=0.1, low=0.05, high=0.2, confidence=0.95, n=60, unit="fraction", method="m")
VOTES = VoteRecord(
    voting=Voting(rule=StopRule.LEAD, most=5),
    dialogues=60,
    cast=138,
    split=("d001", "d002", "d003"),
    tied=("d003",),
    flip_rate=NUMBER,
    retest_alpha=Undefined(reason="All gave the same answer."),
    by_single_votes=NUMBER,
    by_majorities=NUMBER,
    advice=VoteAdvice(error=0.034, error_as_samples=0.02, samples_do_better=True),
)
PLAIN = JudgeDiagnostics(annotator="grounded", application="bot-1.4", guideline="groundedness", verdicts=60)
DOUBTFUL = replace(
    PLAIN, quoting=40, ungrounded=("d001", "d003"), control_passed=50, control_failed=("d005",), votes=VOTES
)
