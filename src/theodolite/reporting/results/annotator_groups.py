"""Annotators' groups and what models of raters make of annotators, as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.agreeing import AnnotatorGroups, GroupAgreement, GroupDefects, RaterChecks
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry


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
            {"annotator": one.annotator, "labels": one.labels, "fit": one.fit, "looks": one.looks}
            for one in found.raters
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
