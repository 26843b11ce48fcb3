"""Measurement trees as entries of JSON files."""

from __future__ import annotations

from collections.abc import Iterable

from theodolite.domain.identity import Json
from theodolite.domain.tree_finding import (
    ContextValue,
    NodeFinding,
    NodeLink,
    NodeRobustness,
    NodeSplit,
    TreeComparison,
    TreeFinding,
    TreeStanding,
)
from theodolite.domain.tree_form import design_document
from theodolite.reporting.results.estimates import number_entry, outcomes_entry, short_number_entry


def tree_entries(findings: Iterable[TreeFinding], standings: Iterable[TreeStanding] = ()) -> list[Json]:
    """Return the list `trees` of the results: each design once, with its results for each application.

    Args:
        findings: Results of the trees.
        standings: Relations of the applications.
    """
    standing = {each.tree: _standing(each) for each in standings}
    entries: dict[str, dict[str, Json]] = {}
    for finding in findings:
        design = finding.design
        entry = entries.setdefault(
            design.name,
            {
                "tree": design.name,
                "edition": design.edition,
                "version": design.method_version,
                "design": design_document(design),
                "standing": standing.get(design.name),
                "applications": [],
            },
        )
        applications = entry["applications"]
        if isinstance(applications, list):
            applications.append(_application(finding))
    return list(entries.values())


def _application(finding: TreeFinding) -> Json:
    return {
        "application": finding.application,
        "scenarios": list(finding.scenarios),
        "versions": dict(finding.versions),
        "seed": finding.seed,
        "replicates": finding.replicates,
        "nodes": [node_entry(each) for each in finding.nodes],
        "views": [node_entry(view) for view in finding.views],
        "splits": [_split(each) for each in finding.splits],
        "robustness": [robustness_entry(each) for each in finding.robustness],
        "links": [_link(each) for each in finding.links],
        "without": [
            {"node": each.node, "child": each.child, "value": each.value, "change": each.change}
            for each in finding.without
        ],
    }


def node_entry(finding: NodeFinding) -> dict[str, Json]:
    """Return the result of one node."""
    return {
        "node": finding.node,
        **number_entry(finding.result),
        "outcomes": outcomes_entry(finding.outcomes),
        "n_dialogues": finding.n_dialogues,
        "conditional": finding.conditional,
        "empty": list(finding.empty),
        "worst": list(finding.worst),
        "worst_odds": dict(finding.worst_odds),
        "labels": dict(finding.labels),
        "texts": list(finding.texts),
        "spread": finding.spread,
    }


def robustness_entry(robustness: NodeRobustness) -> dict[str, Json]:
    """Return the variation of a node between contexts of one kind."""
    return {
        "node": robustness.node,
        "context": robustness.context,
        "lowest": robustness.lowest or None,
        "highest": robustness.highest or None,
        "gap": short_number_entry(robustness.gap),
        "spread": short_number_entry(robustness.spread),
        "values": [_context_entry(value) for value in robustness.values],
    }


def _context_entry(value: ContextValue) -> Json:
    return {
        "part": value.part,
        "n_dialogues": value.n_dialogues,
        "withheld": value.result is None,
        "number": short_number_entry(value.result) if value.result else None,
        "outcomes": outcomes_entry(value.outcomes) if value.outcomes else None,
    }


def comparison_entry(comparison: TreeComparison) -> dict[str, Json]:
    """Return the relation of two trees."""
    return {
        "first": comparison.first,
        "second": comparison.second,
        "order": comparison.order or None,
        "warnings": list(comparison.warnings),
        "lower": list(comparison.lower),
        "higher": list(comparison.higher),
        "n_pairs": comparison.n_pairs,
        "differences": [
            {
                "node": difference.node,
                "first": difference.first,
                "second": difference.second,
                **number_entry(difference.difference),
            }
            for difference in comparison.differences
        ],
    }


def _standing(standing: TreeStanding) -> Json:
    return {
        "dimensions": list(standing.dimensions),
        "front": list(standing.front),
        "front_odds": dict(standing.front_odds),
        "comparisons": [comparison_entry(comparison) for comparison in standing.comparisons],
    }


def _split(split: NodeSplit) -> Json:
    return {
        "node": split.node,
        "group": split.group,
        "part": split.part,
        "n_dialogues": split.n_dialogues,
        "withheld": split.finding is None,
        "p_value": split.p_value,
        **(number_entry(split.finding.result) if split.finding else {}),
    }


def _link(link: NodeLink) -> Json:
    return {
        "first": link.first,
        "second": link.second,
        **number_entry(link.rank),
        "partial": link.partial,
        "p_value": link.p_value,
        "shared": list(link.shared),
        "both": link.both,
        "first_only": link.first_only,
        "second_only": link.second_only,
        "neither": link.neither,
        "odds_ratio": link.odds_ratio,
    }
