"""Order metrics, annotator groups, judges and order effects as entries of the results file."""

from __future__ import annotations

from theodolite.domain.estimate import Undefined, ValidationReport
from theodolite.domain.findings.agreement import (
    AnnotatorGroups,
    GroupAgreement,
    GroupDefects,
    JudgeDiagnostics,
    RaterChecks,
    VoteRecord,
)
from theodolite.domain.findings.order import (
    Chance,
    OrderEffect,
    OrderFinding,
    OrderMetrics,
    OrderProfile,
    OrderSide,
    OrderValue,
    RankingAgreement,
    RankingFinding,
    RunOrder,
    ScoreSubject,
    WorstScore,
)
from theodolite.domain.identity import Json
from theodolite.reporting.results.estimates import (
    confusion_entry,
    estimate_entry,
    number_entry,
    outcomes_entry,
    short_number_entry,
)


def order_metrics_entry(metrics: OrderMetrics) -> dict[str, Json]:
    """Return the object `order_metrics`."""
    return {
        "sequences": [_sequence(finding) for finding in metrics.sequences],
        "rankings": [_ranking_finding(finding) for finding in metrics.rankings],
    }


def _subject(subject: ScoreSubject) -> dict[str, Json]:
    return {
        "application": subject.application,
        "guideline": subject.guideline,
        "question": subject.question,
        "level": subject.level or None,
        "tester_type": subject.tester_type or None,
    }


def _sequence(finding: OrderFinding) -> dict[str, Json]:
    windows = finding.windows
    return {
        **_subject(finding.subject),
        "annotator": finding.annotator,
        "scale": {
            "lowest": finding.lowest,
            "highest": finding.highest,
            "worse": "high" if finding.higher_is_worse else "low",
        },
        "outcomes": outcomes_entry(finding.outcomes),
        "mean": finding.level,
        **profile_entry(finding.profile),
        "window": finding.window,
        "windows": {
            "position": list(windows.positions),
            "mean": list(windows.level),
            "pen_normalized": list(windows.pen),
            "cin": list(windows.cin),
            "lis": list(windows.lis),
            "lnds": list(windows.lnds),
        },
        "worst": [_worst(score) for score in finding.worst],
        "runs": [_run(run) for run in finding.runs],
    }


def _worst(score: WorstScore) -> dict[str, Json]:
    return {"dialogue": score.dialogue, "value": score.value, "reason": score.reason or None}


def _run(order: RunOrder) -> dict[str, Json]:
    return {
        "run": order.run,
        "started": order.started.isoformat() if order.started else None,
        "n_missing": order.n_missing,
        "n_repeated": order.n_repeated,
        "same_annotator": order.is_same_annotator,
        "mean": order.level,
        **profile_entry(order.profile, n=order.n),
    }


def profile_entry(profile: OrderProfile | Undefined, *, n: int | None = None) -> dict[str, Json]:
    """Return a profile's numbers, or nulls and the reason."""
    if isinstance(profile, Undefined):
        empty: dict[str, Json] = dict.fromkeys(("order", "delay", "bands", "pen", "cin", "lis", "lnds"))
        reason = {"undefined_reason": profile.reason}
        return {"n": profile.n if n is None else n, **empty, "notes": [], **reason}
    return {
        "n": profile.n,
        "order": profile.order,
        "delay": profile.delay,
        "bands": profile.bands,
        "pen": {
            **_value(profile.pen),
            "unit": "nats",
            "normalized": profile.pen_normalized,
            "weak_ties": profile.pen_weak,
        },
        "cin": _value(profile.cin),
        "lis": _value(profile.lis),
        "lnds": _value(profile.lnds),
        "notes": list(profile.notes),
        "undefined_reason": None,
    }


def _value(found: OrderValue) -> dict[str, Json]:
    return {
        "value": found.value,
        "band": found.band.value if found.band else None,
        "in_gap": found.in_gap,
        "chance": chance_entry(found.chance),
    }


def chance_entry(chance: Chance | Undefined) -> dict[str, Json]:
    """Return the value for the same scores in random order, or nulls and the reason."""
    if isinstance(chance, Undefined):
        empty: dict[str, Json] = dict.fromkeys(("verdict", "mean", "sd", "p_low", "p_high", "p_value"))
        return {**empty, "method": chance.method, "undefined_reason": chance.reason}
    return {
        "verdict": chance.verdict(),
        "mean": chance.mean,
        "sd": chance.sd,
        "p_low": chance.at_most,
        "p_high": chance.at_least,
        "p_value": chance.p_value,
        "method": chance.method,
        "undefined_reason": None,
    }


def _ranking_finding(finding: RankingFinding) -> dict[str, Json]:
    return {
        **_subject(finding.subject),
        "human": finding.human,
        "annotator": finding.annotator,
        "outcomes": outcomes_entry(finding.outcomes),
        "sampled": finding.is_sampled,
        **ranking_entry(finding.ranking),
    }


def ranking_entry(ranking: RankingAgreement | Undefined) -> dict[str, Json]:
    """Return the agreement of two rankings, or nulls and the reason."""
    if isinstance(ranking, Undefined):
        names = ("kendall", "spearman", "cin", "opposed_pairs", "lis", "common_chain", "pen", "pen_all_triples")
        empty: dict[str, Json] = dict.fromkeys((*names, "chance_cin", "chance_lis"))
        return {"n": ranking.n, **empty, "undefined_reason": ranking.reason}
    return {
        "n": ranking.n,
        "kendall": number_entry(ranking.tau),
        "spearman": number_entry(ranking.spearman),
        "cin": ranking.cin,
        "opposed_pairs": number_entry(ranking.opposed_pairs),
        "lis": ranking.lis,
        "common_chain": number_entry(ranking.common_chain),
        "pen": ranking.pen,
        "pen_all_triples": ranking.pen_all_triples,
        "chance_cin": chance_entry(ranking.chance_cin),
        "chance_lis": chance_entry(ranking.chance_lis),
        "undefined_reason": None,
    }


def annotator_groups_entry(found: AnnotatorGroups) -> dict[str, Json]:
    """Return one entry of the list `annotator_groups`."""
    return {
        "application": found.application,
        "guideline": found.guideline,
        "question": found.question,
        "attribute": found.attribute,
        "people": found.n_raters,
        "unknown": found.n_unknown,
        "in_small_groups": found.n_in_small,
        "groups": [_group(group) for group in found.groups],
        "defects": [_defects(rule) for rule in found.defects],
    }


def raters_entry(found: RaterChecks) -> dict[str, Json]:
    """Return one entry of the list `raters`."""
    return {
        "application": found.application,
        "guideline": found.guideline,
        "question": found.question,
        "dialogues": found.dialogues,
        "annotators": [
            {"annotator": rater.annotator, "labels": rater.labels, "fit": rater.fit, "looks": rater.looks}
            for rater in found.raters
        ],
    }


def _defects(found: GroupDefects) -> dict[str, Json]:
    return {
        "rule": found.rule,
        "rates": [{"group": group, "rate": number_entry(rate)} for group, rate in found.rates],
        "gap": found.gap,
        "p_value": found.p_value,
        "adjusted_p_value": found.adjusted_p_value,
    }


def _group(group: GroupAgreement) -> dict[str, Json]:
    return {
        "group": group.group,
        "people": group.n_raters,
        "within": number_entry(group.within),
        "across": number_entry(group.across),
        "ratio": group.ratio,
        "p_value": group.p_value,
        "adjusted_p_value": group.adjusted_p_value,
    }


def validation_report_entry(report: ValidationReport) -> dict[str, Json]:
    """Return one entry of the list `judge_validations`."""
    return {
        "judge": report.judge,
        "version": report.judge_version,
        "guideline": report.guideline,
        "guideline_version": report.guideline_version,
        "issued": report.issued.isoformat(),
        "run": report.run,
        "judged": report.judged,
        "labelled": report.labelled,
        "authorities": list(report.authorities),
        "estimates": [estimate_entry(measurement) for measurement in report.measurements],
        "confusions": [confusion_entry(confusion) for confusion in report.confusions],
        "limitations": list(report.lacking),
    }


def diagnostics_entry(diagnostics: JudgeDiagnostics) -> dict[str, Json]:
    """Return one entry of the list `conduct` of the results file."""
    return {
        "annotator": diagnostics.annotator,
        "application": diagnostics.application,
        "guideline": diagnostics.guideline,
        "verdicts": diagnostics.verdicts,
        "quoting": diagnostics.quoting,
        "ungrounded": list(diagnostics.ungrounded),
        "control": {
            "passed": diagnostics.control_passed,
            "failed": list(diagnostics.control_failed),
            "unanswered": diagnostics.control_unanswered,
        },
        "answered_as": list(diagnostics.answered_as),
        "stubbed": diagnostics.scripted,
        "votes": _votes_entry(diagnostics.votes) if diagnostics.votes else None,
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


def order_effect_entry(effect: OrderEffect) -> dict[str, Json]:
    """Return one entry of the list `order_effects`."""
    return {
        "guideline": effect.guideline,
        "question": effect.question,
        "annotator": effect.annotator or None,
        "factor": effect.factor.value,
        "measured": effect.measured,
        "first": _side_entry(effect.first),
        "second": _side_entry(effect.second),
        "shift": number_entry(effect.shift),
        "annotators": effect.n_annotators,
        "dialogues": effect.n_dialogues,
        "between": effect.n_between,
    }


def _side_entry(side: OrderSide) -> dict[str, Json]:
    return {"shown": side.shown, "n": side.n, "without_value": side.n_without_value, "answers": dict(side.given)}
