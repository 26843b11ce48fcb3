"""Measurement trees as lines of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from theodolite.domain.estimate import Estimate
from theodolite.domain.tree import SummaryNode, TreeDesign
from theodolite.domain.tree_finding import NodeDifference, NodeFinding, TreeComparison, TreeFinding
from theodolite.domain.undefined_reasons import NO_DATA
from theodolite.reporting.words import figures
from theodolite.reporting.words.trees import (
    basis_words,
    kind_words,
    number,
    robustness_words,
    shown_robustness,
    value_words,
    view_words,
)

_INDENT = 2
_DEEPEST = 14


def tree_lines(finding: TreeFinding, *, depth: int = _DEEPEST, width: int = 80) -> list[str]:
    """Return a measured tree as lines, from its roots down.

    Args:
        finding: Result of the tree.
        depth: Number of levels that are shown; count.
        width: Columns of the terminal; count.
    """
    lines = [f"{finding.design.name}{f', {finding.application}' if finding.application else ''}"]
    for root in finding.design.roots:
        lines += _branch(finding, root, 0, depth, width)
    for words in view_words(finding):
        lines += textwrap.wrap(f"view {words}", width, subsequent_indent="    ", break_long_words=False)
    return lines


def _branch(finding: TreeFinding, name: str, level: int, depth: int, width: int) -> Iterator[str]:
    if level >= depth:
        return
    node, result = finding.design.by_name[name], finding.node(name)
    margin = " " * (_INDENT * level)
    words = f"{margin}{name}: {value_words(result)}  [{kind_words(node)}; {basis_words(result)}]"
    yield from textwrap.wrap(words, width, subsequent_indent=f"{margin}    ", break_long_words=False)
    if result.worst and len(result.worst_odds) > 1:
        odds = ", ".join(f"{child} {share:.2f}" for child, share in result.worst_odds.items())
        yield from textwrap.wrap(f"highest with odds: {odds}", width, initial_indent=f"{margin}    ")
    for child in node.children:
        yield from _branch(finding, child, level + 1, depth, width)


def robustness_lines(finding: TreeFinding, *, width: int = 80) -> list[str]:
    """Return the variation of a tree's nodes between contexts; one sentence if no node has two contexts."""
    name = f"{finding.design.name}{f', {finding.application}' if finding.application else ''}"
    if not finding.robustness:
        return textwrap.wrap(f"{name}: contextual robustness needs dialogues in two contexts of a kind.", width)
    lines = [f"{name}: contextual robustness (gap and spread between contexts)"]
    for each in shown_robustness(finding):
        words = f"{each.node}, {robustness_words(each)}"
        lines += textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
    return lines


def design_lines(design: TreeDesign, *, depth: int = _DEEPEST) -> list[str]:
    """Return a design as lines, from its roots down: the operation of each node, and weights that are not 1."""
    lines = [f"{design.name} {design.edition}".rstrip()]
    for root in design.roots:
        lines += _design_branch(design, root, 0, depth, "")
    return lines


def _design_branch(design: TreeDesign, name: str, level: int, depth: int, mark: str) -> Iterator[str]:
    if level >= depth:
        return
    node = design.by_name[name]
    yield f"{' ' * (_INDENT * level)}{name}{mark}  [{kind_words(node)}]"
    weights = {edge.child: edge.weight for edge in node.edges} if isinstance(node, SummaryNode) else {}
    for child in node.children:
        weight = weights.get(child, 1.0)
        mark = f", weight {weight:g}" if weight != 1 else ""
        yield from _design_branch(design, child, level + 1, depth, mark)


def comparison_lines(comparison: TreeComparison, *, width: int = 80) -> list[str]:
    """Return the relation of two trees: node by node, then as text."""
    first, second = comparison.first or "first", comparison.second or "second"
    lines = [f"{first}  against  {second}"]
    lines += [
        f"  {_difference_words(difference)}" for difference in comparison.differences if not _is_empty(difference)
    ]
    return lines + [line for text in _verdict(comparison, first, second) for line in textwrap.wrap(text, width)]


def method_change_lines(
    application: str,
    differences: Sequence[NodeDifference],
    only: Mapping[str, Sequence[str]],
    *,
    unanswered: Sequence[str],
    same_method: bool,
    width: int = 80,
) -> list[str]:
    """Return the values of the same leaves under an old and a new tree.

    Args:
        application: Name of the application.
        differences: Nodes that both trees have, old value first.
        only: Nodes that only one tree has, by description.
        unanswered: Questions of the new tree without a leaf.
        same_method: Whether both trees compute all values in the same way.
        width: Columns of the terminal; count.
    """
    shown = [each for each in differences if not _is_empty(each)]
    changed = [each for each in shown if each.first != each.second]
    lines = [f"{application or 'leaves'}: old method -> new method, same leaves"]
    lines += [f"  {_difference_words(each, significance=False)}" for each in changed]
    texts = [f"Unchanged: {figures.count(len(shown) - len(changed))} of {figures.count(len(shown))} shared nodes."]
    texts += [f"{words}: {_some(names)}." for words, names in only.items() if names]
    if unanswered:
        texts.append(f"Without a leaf in this file: {', '.join(unanswered)}. The new tree has no data there.")
    if same_method:
        texts.append("Both trees compute all values in the same way; they are comparable.")
    else:
        texts.append(
            "The methods differ: compare results of the new tree with these rescored values, not with the old ones."
        )
    return lines + [line for text in texts for line in textwrap.wrap(text, width)]


_MOST_NAMED = 5
"""Maximum number of nodes that are named; the rest is counted. Count."""


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return f"{', '.join(names[:_MOST_NAMED])}{f' and {figures.count(rest)} more' if rest > 0 else ''}"


def _is_empty(each: NodeDifference) -> bool:
    return each.first is None and each.second is None


def _difference_words(each: NodeDifference, *, significance: bool = True) -> str:
    if not isinstance(each.difference, Estimate):
        return f"{each.node}: {number(each.first)} and {number(each.second)}: {NO_DATA} in one of them"
    sign = f"{each.difference.value:+.2f}"
    low, high = each.difference.low, each.difference.high
    interval = f", {low:+.2f} to {high:+.2f}" if low is not None and high is not None else ""
    significance_note = (
        " (not statistically significant)"
        if significance and low is not None and high is not None and low <= 0 <= high
        else ""
    )
    return f"{each.node}: {number(each.first)} -> {number(each.second)}  {sign}{interval}{significance_note}"


def _verdict(comparison: TreeComparison, first: str, second: str) -> Sequence[str]:
    if comparison.warnings:
        return ["Side by side only, in no order:", *comparison.warnings]
    words = {
        "equal": f"{first} and {second} are equal at every node.",
        "lower": f"{first} is nowhere higher, and lower at {figures.number_of(len(comparison.lower), 'node')}.",
        "higher": f"{second} is nowhere higher, and lower at {figures.number_of(len(comparison.higher), 'node')}.",
        "incomparable": "Neither is ahead, and no overall score is made.",
    }
    texts = [words[comparison.order]]
    if comparison.lower and comparison.higher:
        texts.append(f"{first} is lower at {', '.join(comparison.lower)}.")
        texts.append(f"{second} is lower at {', '.join(comparison.higher)}.")
    return texts


def summary_words(findings: Sequence[TreeFinding]) -> str:
    """Return one paragraph about the trees of a study: each application's highest branch; no overall score."""
    texts = []
    for name in dict.fromkeys(finding.design.name for finding in findings):
        own = [finding for finding in findings if finding.design.name == name]
        tops = [(finding.application, _highest(finding)) for finding in own]
        summaries = [f"{application} {_top_words(result)}" for application, result in tops]
        texts.append(f"{name}, the highest branch of each: {'; '.join(summaries)}.{_widest_words(own)}")
    return " ".join(texts)


def _widest_words(findings: Sequence[TreeFinding]) -> str:
    """Return the largest gap of a branch between contexts that chance does not explain; empty for none."""
    gaps = [
        (each.gap.value, finding.application, each)
        for finding in findings
        for each in finding.robustness
        if each.node in _tops(finding) and isinstance(each.gap, Estimate) and (each.gap.low or 0) > 0
    ]
    if not gaps:
        return ""
    _, application, widest = max(gaps, key=lambda item: item[0])
    return f" Largest gap between contexts: {application} {widest.node} {robustness_words(widest)}."


def _tops(finding: TreeFinding) -> tuple[str, ...]:
    return tuple(dimension.node for dimension in finding.design.dimensions) or finding.design.roots


def _highest(finding: TreeFinding) -> NodeFinding | None:
    """Return the dimension with the highest value; None if none has data."""
    names = [dimension.node for dimension in finding.design.dimensions] or list(finding.design.roots)
    shown = [name for name in names for name in (name, f"{name}, simulated sessions") if name in finding.design.by_name]
    result = [finding.node(name) for name in shown]
    return max((each for each in result if each.value is not None), key=lambda each: each.value or 0.0, default=None)


def _top_words(found: NodeFinding | None) -> str:
    if found is None:
        return NO_DATA
    return f"{found.node} {value_words(found)} of {figures.number_of(found.n_dialogues, 'dialogue')}"
