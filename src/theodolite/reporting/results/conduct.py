"""Judge behaviour, as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.judge_diagnostics import JudgeDiagnostics, VoteRecord
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import short_number_entry


def conduct_entry(conduct: JudgeDiagnostics) -> dict[str, Json]:
    """Return one entry of the list `conduct` of the results file."""
    return {
        "annotator": conduct.annotator,
        "application": conduct.application,
        "guideline": conduct.guideline,
        "verdicts": conduct.verdicts,
        "quoting": conduct.quoting,
        "ungrounded": list(conduct.ungrounded),
        "control": {
            "passed": conduct.control_passed,
            "failed": list(conduct.control_failed),
            "unanswered": conduct.control_unanswered,
        },
        "answered_as": list(conduct.answered_as),
        "stubbed": conduct.scripted,
        "votes": _votes_entry(conduct.votes) if conduct.votes else None,
    }


def _votes_entry(votes: VoteRecord) -> dict[str, Json]:
    advice = votes.advice
    return {
        "rule": votes.voting.rule.value,
        "most": votes.voting.most,
        "dialogues": votes.dialogues,
        "cast": votes.cast,
        "split": list(votes.split),
        "tied": list(votes.tied),
        "flip_rate": short_number_entry(votes.flip_rate),
        "retest_alpha": short_number_entry(votes.retest_alpha),
        "rate_by_single_votes": short_number_entry(votes.by_single_votes),
        "rate_by_majorities": short_number_entry(votes.by_majorities),
        "standard_error": advice.error if advice else None,
        "standard_error_as_samples": advice.error_as_samples if advice else None,
        "samples_do_better": advice.samples_do_better if advice else None,
    }
