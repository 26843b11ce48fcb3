"""Testers' responses as entries of the results file; what they wrote in their own words is not in it."""

from __future__ import annotations

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.responses import AnswerContrast, AnswerSpread, ResponseFinding
from theodolite.domain.findings.significance import Significance
from theodolite.domain.identity import Json
from theodolite.domain.instrument import Question
from theodolite.reporting.results.number_entries import number_entry


def response_entry(finding: ResponseFinding) -> dict[str, Json]:
    """Return one entry of the list `responses`."""
    return {
        "questionnaire": finding.questionnaire,
        "version": finding.version,
        "level": finding.level.value,
        "responses": finding.n,
        "testers": finding.n_people,
        "drafts": finding.n_drafts,
        "other_versions": finding.n_other,
        "questions": [_question(question) for question in finding.questions],
        "answers": [_spread(spread) for spread in finding.spreads],
        "contrasts": [_contrast(contrast) for contrast in finding.contrasts],
    }


def _question(question: Question) -> dict[str, Json]:
    return {
        "name": question.name,
        "text": question.text,
        "topic": question.topic.value if question.topic else None,
        "orientation": question.scale.orientation.value,
        "asked_when": question.when.text if question.when else None,
    }


def _spread(spread: AnswerSpread) -> dict[str, Json]:
    return {
        "question": spread.question,
        "application": spread.application,
        "group": {spread.group[0]: spread.group[1]} if spread.group else {},
        "n": spread.n,
        "counts": dict(spread.counts),
        "outcomes": {outcome.value: n for outcome, n in spread.outcomes.items()},
        "quartiles": list(spread.quartiles) if spread.quartiles else None,
        "top_labels": list(spread.top_labels),
        "top": number_entry(spread.top) if spread.top is not None else None,
    }


def _contrast(contrast: AnswerContrast) -> dict[str, Json]:
    return {
        "question": contrast.question,
        "by": contrast.by,
        "first": contrast.first,
        "second": contrast.second,
        **comparison_fields(contrast.test),
        "adjusted_p_value": contrast.adjusted_p_value,
    }


def comparison_fields(test: Significance | Undefined) -> dict[str, Json]:
    """Return a test in which each tester counts once, as fields."""
    common: dict[str, Json] = {"n": test.n, "testers": test.n_clusters, "method": test.method}
    if isinstance(test, Undefined):
        return {**dict.fromkeys(("p_value", "effect", "effect_name")), **common, "undefined_reason": test.reason}
    effect: dict[str, Json] = {"p_value": test.p_value, "effect": test.effect, "effect_name": test.effect_name}
    return {**effect, **common, "undefined_reason": None}
