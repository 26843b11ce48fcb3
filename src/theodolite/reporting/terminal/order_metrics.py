"""Order metrics as lines of a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.order import RankingAgreement
from theodolite.domain.findings.order_metrics import OrderMetrics, RankingFinding, ScoreSubject
from theodolite.domain.study import Study
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.words import figures
from theodolite.reporting.words import order_metrics as words
from theodolite.reporting.words.estimates import reason_text

SHOWN: Final = 4
"""Sequences, and rankings, that a summary shows; more are counted and stand in the report. Count."""


def order_lines(study: Study, metrics: OrderMetrics) -> Iterator[tuple[str, str]]:
    """Yield labelled lines on the order of scores and on rankings; a pointer where there are many."""
    defined = [one for one in metrics.sequences if not isinstance(one.profile, Undefined)]
    texts = [
        f"{_about(one.subject)} by {title_of(study, one.annotator)}:"
        f" mean {one.level:.2f}, {words.profile_text(one.profile)}"
        for one in defined
    ]
    texts = texts if len(texts) <= SHOWN else [_pointer(len(texts))]
    texts += _undefined(metrics)
    yield from zip(["Order", *[""] * len(texts)], texts, strict=False)
    yield from zip(["Rankings", *[""] * len(metrics.rankings)], _rankings(study, metrics.rankings), strict=False)


def _rankings(study: Study, rankings: Sequence[RankingFinding]) -> list[str]:
    """Return human and model rankings side by side, and why there are none."""
    ranked = [one for one in rankings if isinstance(one.ranking, RankingAgreement)]
    texts = [
        f"{_about(one.subject)}: {title_of(study, one.annotator)} in the order of {_human(study, one.human)}:"
        f" {words.ranking_text(one.ranking, 'dialogue')}"
        for one in ranked
    ]
    if len(texts) > SHOWN:
        texts = [f"{figures.count(len(texts))} human and model rankings are compared in the report"]
    reasons = [one.ranking for one in rankings if isinstance(one.ranking, Undefined)]
    alike = Counter(reason_text(one.reason) for one in reasons)
    return [*texts, *(f"undefined for {figures.number_of(n, 'ranking')}: {text}" for text, n in alike.items())]


def _human(study: Study, name: str) -> str:
    return "people (mean)" if name == "people" else title_of(study, name)


def _about(subject: ScoreSubject) -> str:
    parts = (subject.guideline, subject.application, subject.level, subject.tester_type)
    return ", ".join(part for part in parts if part)


def _pointer(n: int) -> str:
    return f"PEN, CIN, LIS and LNDS of {figures.count(n)} sequences of scores are in the report"


def _undefined(metrics: OrderMetrics) -> list[str]:
    """Return why sequences have no metrics, once for each reason."""
    reasons = [one.profile for one in metrics.sequences if isinstance(one.profile, Undefined)]
    texts = dict.fromkeys(reason_text(one.reason) for one in reasons)
    if len(reasons) > SHOWN:
        return [f"undefined for {figures.count(len(reasons))} sequences: fewer scores than order metrics need"]
    return [f"undefined: {text}" for text in texts]
