"""A watch as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TypeVar

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderProfile, OrderValue, RankingAgreement
from theodolite.domain.identity import Json
from theodolite.domain.monitoring import Alert, AnchorCheck, InstrumentChange, Segment, Watch

SCHEMA_VERSION = "1.0"
"""Version of the document format; the first number changes when readers break."""

POINTS = 500
"""Maximum number of points written per row; count."""

T = TypeVar("T")


def watch_document(watch: Watch, *, exit_code: int) -> dict[str, Json]:
    """Return all results of monitoring, as plain values; rows are thinned to 500 points."""
    history, rules = watch.history, watch.rules
    return {
        "schema_version": SCHEMA_VERSION,
        "history": {
            "name": history.name,
            "source": history.source,
            "n_scores": len(history.scores),
            "n_repeats": history.columns.n_repeats,
            "n_anchors": history.columns.n_anchors,
            "lowest": history.lowest,
            "highest": history.highest,
            "worse": history.worse.value,
        },
        "rules": dict(asdict(rules)),
        "exit_code": exit_code,
        "alerts": [alert_entry(alert) for alert in watch.alerts],
        "instrument_changes": [_change(change) for change in watch.changes],
        "anchors": [_anchor(check) for check in watch.anchors],
        "segments": [_segment(segment) for segment in watch.segments],
        "notes": list(watch.notes),
    }


def alert_entry(alert: Alert) -> dict[str, Json]:
    """Return one alert as plain values; `evidence` is capped where a float would be infinite."""
    return {
        "kind": alert.kind.value,
        "application": alert.application or None,
        "position": alert.position,
        "at": _moment(alert.at),
        "since": alert.since,
        "delay": alert.delay,
        "cause": alert.cause.value,
        "evidence": min(alert.evidence, 1e300),
        "threshold": alert.threshold,
        "method": alert.method,
        "detail": alert.detail,
        "n_alarms": alert.n_alarms,
        "last": alert.last,
        "last_at": _moment(alert.last_at),
    }


def thinned(row: Sequence[T], points: int = POINTS) -> list[T]:
    """Return every k-th entry of a row, including the last one, so that few enough remain."""
    step = max(1, -(-len(row) // points))
    return list(row[::-1][::step][::-1])


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _change(change: InstrumentChange) -> dict[str, Json]:
    return {
        "part": change.part,
        "before": change.before,
        "after": change.after,
        "at": _moment(change.at),
        "position": change.position,
        "n_lower": change.n_lower,
        "n_higher": change.n_higher,
        "n_equal": change.n_equal,
        "median_shift": change.median_shift,
        "p_value": change.p_value,
        "suspected": change.is_suspected,
    }


def _anchor(check: AnchorCheck) -> dict[str, Json]:
    return {
        "batch": check.batch or None,
        "position": check.position,
        "at": _moment(check.at),
        "span": check.span,
        "n": check.n,
        "n_lower": check.n_lower,
        "n_higher": check.n_higher,
        "n_nearer": check.n_nearer,
        "n_farther": check.n_farther,
        "p_shift": check.p_shift,
        "p_farther": check.p_farther,
        "drift": check.is_drift,
        "ranking": _ranking(check.ranking),
    }


def _ranking(ranking: RankingAgreement | Undefined | None) -> dict[str, Json] | None:
    if ranking is None:
        return None
    if isinstance(ranking, Undefined):
        names = ("pen", "pen_all_triples", "cin", "opposed_pairs", "lis", "common_chain", "tau", "spearman")
        empty: dict[str, Json] = dict.fromkeys(names)
        return {"n": ranking.n, **empty, "undefined_reason": ranking.reason}
    return {
        "n": ranking.n,
        "pen": ranking.pen,
        "pen_all_triples": ranking.pen_all_triples,
        "cin": ranking.cin,
        "opposed_pairs": number(ranking.opposed_pairs),
        "lis": ranking.lis,
        "common_chain": number(ranking.common_chain),
        "tau": number(ranking.tau),
        "spearman": number(ranking.spearman),
        "undefined_reason": None,
    }


def number(result: Estimate | Undefined) -> dict[str, Json]:
    """Return an estimate with its interval, or nulls and the reason."""
    if isinstance(result, Undefined):
        empty: dict[str, Json] = dict.fromkeys(("value", "low", "high", "confidence", "count"))
        return {**empty, "n": result.n, "method": result.method, "undefined_reason": result.reason}
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "confidence": result.confidence,
        "count": result.count,
        "n": result.n,
        "method": result.method,
        "undefined_reason": None,
    }


def _segment(segment: Segment) -> dict[str, Json]:
    windows = segment.windows
    rows: dict[str, Json] = {
        "positions": list(thinned(windows.positions)),
        "level": list(thinned(windows.level)),
        "defect_share": list(thinned(windows.defect_share)),
        "pen_normalized": list(thinned(windows.pen)),
        "cin": list(thinned(windows.cin)),
        "lis": list(thinned(windows.lis)),
        "lnds": list(thinned(windows.lnds)),
    }
    return {
        "application": segment.application or None,
        "instruments": dict(segment.instruments),
        "first": segment.positions[0],
        "last": segment.positions[-1],
        "n": segment.n,
        "n_missing": segment.n_missing,
        "n_sessions": segment.n_sessions,
        "level": segment.level,
        "rate": number(segment.rate),
        "over_limit": segment.over_limit,
        "baseline": segment.baseline,
        "detectable": [{"n": rise.n, "rate": rise.rate, "power": rise.power} for rise in segment.detectable],
        "latest": _profile(segment.latest),
        "worst": [
            {"score": score.dialogue, "value": score.value, "reason": score.reason or None} for score in segment.worst
        ],
        "windows": rows,
        "log_rate_detector": list(thinned(segment.rate_detector)),
        "log_level_detector": list(thinned(segment.level_detector)),
        "cusum": list(thinned(segment.cusum)),
        "ewma": list(thinned(segment.ewma)),
        "ranking": _ranking(segment.ranking),
        "notes": list(segment.notes),
    }


def _profile(profile: OrderProfile | Undefined) -> dict[str, Json]:
    if isinstance(profile, Undefined):
        empty: dict[str, Json] = dict.fromkeys(("order", "delay", "bands", "pen", "cin", "lis", "lnds", "level"))
        return {"n": profile.n, **empty, "notes": [], "undefined_reason": profile.reason}
    return {
        "n": profile.n,
        "order": profile.order,
        "delay": profile.delay,
        "bands": profile.bands,
        "pen": {**_order(profile.pen), "unit": "nats", "normalized": profile.pen_normalized, "weak": profile.pen_weak},
        "cin": _order(profile.cin),
        "lis": _order(profile.lis),
        "lnds": _order(profile.lnds),
        "level": profile.level,
        "notes": list(profile.notes),
        "undefined_reason": None,
    }


def _order(found: OrderValue) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "value": found.value,
        "band": found.band.value if found.band else None,
        "in_gap": found.in_gap,
    }
    chance = found.chance
    if isinstance(chance, Undefined):
        return {**entry, **dict.fromkeys(("chance", "chance_mean", "chance_at_most", "chance_at_least", "p_value"))}
    return {
        **entry,
        "chance": chance.verdict(),
        "chance_mean": chance.mean,
        "chance_at_most": chance.at_most,
        "chance_at_least": chance.at_least,
        "p_value": chance.p_value,
    }
