"""Order metrics as entries of the results file."""

from __future__ import annotations

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.order import Chance, OrderProfile, OrderValue, RankingAgreement
from theodolite.domain.findings.order_metrics import (
    OrderFinding,
    OrderMetrics,
    RankingFinding,
    RunOrder,
    ScoreSubject,
    WorstScore,
)
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry, outcomes_entry


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
        "worst": [_worst(one) for one in finding.worst],
        "runs": [_run(one) for one in finding.runs],
    }


def _worst(one: WorstScore) -> dict[str, Json]:
    return {"dialogue": one.dialogue, "value": one.value, "reason": one.reason or None}


def _run(one: RunOrder) -> dict[str, Json]:
    return {
        "run": one.run,
        "started": one.started.isoformat() if one.started else None,
        "n_missing": one.n_missing,
        "n_repeated": one.n_repeated,
        "same_annotator": one.is_same_annotator,
        "mean": one.level,
        **profile_entry(one.profile, n=one.n),
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
    """Return what the same scores in random order would give, or nulls and the reason."""
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
    """Return how far two orders agree, or nulls and the reason."""
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
