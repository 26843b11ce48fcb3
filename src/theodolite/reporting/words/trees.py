"""Nodes of measurement trees as text: value, basis and operation."""

from __future__ import annotations

from theodolite.domain.choices import Per
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.tree import AnswersNode, CollapseNode, SummaryNode, TransformNode, TreeNode
from theodolite.domain.tree_finding import NodeFinding, NodeRobustness, TreeFinding
from theodolite.domain.undefined_reasons import NO_DATA, UNDEFINED
from theodolite.reporting.words import figures

SIDE_BY_SIDE = "side by side"
"""Text of a node that does not change its children."""


def value_words(finding: NodeFinding) -> str:
    """Return the result of a node on one line: value, interval and counts, or "no data"."""
    result = finding.result
    if finding.labels:
        return ", ".join(f"{label}: {figures.count(n)}" for label, n in finding.labels.items())
    if finding.texts:
        return f"{figures.number_of(len(finding.texts), 'answer')} in words"
    if not isinstance(result, Estimate):
        return NO_DATA if not result.n else SIDE_BY_SIDE if result.method else figures.number_of(result.n, "answer")
    return span_words(result)


def number(value: float | None) -> str:
    """Return a number of a node with two decimals; `-` if there is none."""
    return "-" if value is None else f"{value:.2f}"


def basis_words(finding: NodeFinding) -> str:
    """Return the data of a node, and its missing data."""
    outcomes = finding.outcomes
    parts = [figures.number_of(finding.n_dialogues, "dialogue"), figures.number_of(outcomes.used, "answer")]
    if outcomes.unmeasured:
        parts.append(f"{figures.count(outcomes.unmeasured)} missing")
    if finding.conditional:
        parts.append(f"{figures.count(outcomes.not_applicable)} not asked")
    return ", ".join(parts)


def kind_words(node: TreeNode) -> str:
    """Return the operation of a node, in a word or two."""
    match node:
        case AnswersNode():
            return f"answers to {node.question}"
        case TransformNode():
            return node.form.value
        case CollapseNode():
            part = "dialogue, by annotator" if node.per is Per.ANNOTATOR else node.per.value
            return f"{node.summary} of each {part}"
        case SummaryNode():
            return node.summary


def shown_robustness(finding: TreeFinding) -> tuple[NodeRobustness, ...]:
    """Return the robustness of nodes without those that are the only child of another and repeat its values."""
    shown = {each.node for each in finding.robustness}
    dialogues = {node.node: node.n_dialogues for node in finding.nodes}
    repeated: set[str] = set()
    for node in finding.design.nodes:
        if isinstance(node, SummaryNode) and node.name in shown:
            with_data = [edge.child for edge in node.edges if edge.weight > 0 and dialogues.get(edge.child)]
            repeated.update(with_data if len(with_data) == 1 else ())
    return tuple(each for each in finding.robustness if each.node not in repeated)


def robustness_words(robustness: NodeRobustness) -> str:
    """Return the gap and the spread of a node between contexts, in a line."""
    if not isinstance(robustness.gap, Estimate):
        return f"by {robustness.context}: too few dialogues in a context to compare"
    values = {value.part: value.result for value in robustness.values}
    lowest, highest = (
        f"{number(value.value) if isinstance(value := values[part], Estimate) else NO_DATA} ({part})"
        for part in (robustness.lowest, robustness.highest)
    )
    return (
        f"by {robustness.context}: {lowest} to {highest}, gap {span_words(robustness.gap)}, "
        f"spread {span_words(robustness.spread)}, {figures.number_of(robustness.gap.n, 'dialogue')}"
    )


def span_words(result: Estimate | Undefined) -> str:
    """Return a number with its interval; `undefined` without a number."""
    if not isinstance(result, Estimate):
        return UNDEFINED
    interval = f" ({number(result.low)} to {number(result.high)})" if result.low is not None else " (no interval)"
    return f"{number(result.value)}{interval}"


def view_words(finding: TreeFinding) -> tuple[str, ...]:
    """Return each view of a tree in a line: its weights and its value; no view is an overall result."""
    weights = {view.name: view.weights for view in finding.design.views}
    return tuple(
        f"{view.node} ({', '.join(f'{name} {weight:g}' for name, weight in weights[view.node].items())}): "
        f"{value_words(view)}{f'; without data: {_listed(view.empty)}' if view.empty else ''}"
        for view in finding.views
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
