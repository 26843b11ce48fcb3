"""Validation of a tree design; each error has its location."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from theodolite.domain.choices import ImpactSide, TransformForm
from theodolite.domain.errors import Diagnostic, InputError, did_you_mean
from theodolite.domain.instrument import Orientation
from theodolite.domain.tree import (
    AnswersNode,
    CollapseNode,
    SummaryNode,
    TransformNode,
    TreeDesign,
    TreeNode,
    ValueRange,
)
from theodolite.measurement.trees.methods import BUILT_IN, Holds, Methods, RangeAfter, SummaryMethod

NODES = "nodes"
"""Key of the nodes in a tree's file, the first part of faults' paths."""

_FLIPPED = {
    Orientation.HIGHER_IS_WORSE: Orientation.LOWER_IS_WORSE,
    Orientation.LOWER_IS_WORSE: Orientation.HIGHER_IS_WORSE,
    Orientation.UNSTATED: Orientation.UNSTATED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """The kind of a node's values, derived from the design alone.

    Attributes:
        holds: Numbers, labels, texts, or its children as they are.
        many: Whether it holds one value per answer (or dialogue) rather than a single one.
        range: Range of its numbers; None if it holds none.
        labels: Its labels; None if it holds none.
        orientation: Which end is the bad one.
        sides: Kinds of impact below it.
    """

    holds: Holds
    many: bool = False
    range: ValueRange | None = None
    labels: tuple[str, ...] = ()
    orientation: Orientation = Orientation.UNSTATED
    sides: frozenset[ImpactSide] = frozenset()


Kinds = Mapping[str, NodeKind]
"""Name of a node to its value."""


def design_faults(design: TreeDesign, methods: Methods = BUILT_IN) -> tuple[Diagnostic, ...]:
    """Return all errors of a design, each once and with its path from the root."""
    structural = tuple(_structure_errors(design, methods))
    if structural:
        return structural
    diagnostics: list[Diagnostic] = []
    _kinds(design, methods, diagnostics)
    return tuple(diagnostics)


def kinds_of(design: TreeDesign, methods: Methods = BUILT_IN) -> Kinds:
    """Return the value of each node.

    Raises:
        InputError: If the design has errors; `faults` lists all of them.
    """
    diagnostics = list(_structure_errors(design, methods))
    kinds = {} if diagnostics else _kinds(design, methods, diagnostics)
    if diagnostics:
        lines = "; ".join(f"{'.'.join(map(str, diagnostic.path))}: {diagnostic.message}" for diagnostic in diagnostics)
        message = f"tree `{design.name}` cannot be used: {lines}"
        raise InputError(message, faults=diagnostics)
    return kinds


def _structure_errors(design: TreeDesign, methods: Methods) -> Iterator[Diagnostic]:
    """Yield errors for undefined names and for cycles."""
    known = tuple(design.by_name)
    for node in design.nodes:
        for child in dict.fromkeys(node.children):
            if child not in design.by_name:
                key = "beside" if isinstance(node, SummaryNode) and child in node.beside else "of"
                message = (
                    f"node `{node.name}` sums up `{child}`, which the tree does not have{did_you_mean(child, known)}"
                )
                yield Diagnostic(path=(NODES, node.name, key), message=message, words=child)
        if isinstance(node, SummaryNode | CollapseNode) and node.summary not in methods:
            near = did_you_mean(node.summary, methods) or f"; summaries are {', '.join(methods)}"
            message = f"node `{node.name}` has an unknown summary `{node.summary}`{near}"
            yield Diagnostic(path=(NODES, node.name, "summary"), message=message)
    for dimension in design.dimensions:
        if dimension.node not in design.by_name:
            near = did_you_mean(dimension.node, known)
            message = f"dimension `{dimension.node}` is about a node that the tree does not have{near}"
            yield Diagnostic(path=("dimensions", dimension.node), message=message, at_key=True)
    try:
        design.upwards()
    except InputError as error:
        yield Diagnostic(path=(NODES,), message=str(error), at_key=True)


def _kinds(design: TreeDesign, methods: Methods, diagnostics: list[Diagnostic]) -> dict[str, NodeKind]:
    kinds: dict[str, NodeKind] = {}
    for node in design.upwards():
        below = {child: kinds[child] for child in node.children if child in kinds}
        if len(below) == len(set(node.children)):  # errors that follow from a faulty node are not reported again
            kind = _kind(node, below, methods, diagnostics)
            if kind is not None:
                kinds[node.name] = kind
    return kinds


def _kind(node: TreeNode, below: Kinds, methods: Methods, diagnostics: list[Diagnostic]) -> NodeKind | None:
    before = len(diagnostics)
    match node:
        case AnswersNode():
            kind = _answers_kind(node, diagnostics)
        case TransformNode():
            kind = _transform_kind(node, below[node.of], diagnostics)
        case CollapseNode():
            kind = _collapsed_kind(node, below[node.of], methods[node.summary], diagnostics)
        case SummaryNode():
            kind = _summary_kind(node, below, methods[node.summary], diagnostics)
        case _:
            assert_never(node)
    return kind if len(diagnostics) == before else None


def _answers_kind(node: AnswersNode, diagnostics: list[Diagnostic]) -> NodeKind:
    if not node.has_scale:
        message = f"node `{node.name}` needs `scale`: nothing tells what may answer `{node.question}`"
        diagnostics.append(Diagnostic(path=(NODES, node.name), message=message, at_key=True))
    if node.free_text:
        return NodeKind(holds=Holds.TEXTS, many=True)
    holds = Holds.LABELS if node.labels else Holds.NUMBERS
    return NodeKind(holds=holds, many=True, range=node.range, labels=node.labels, orientation=node.orientation)


def _transform_kind(node: TransformNode, child: NodeKind, diagnostics: list[Diagnostic]) -> NodeKind:
    if node.form is TransformForm.RECODE:
        return _recoded_kind(node, child, diagnostics)
    if child.holds is not Holds.NUMBERS:
        diagnostics.append(
            _error(node, f"cannot {node.form.value} {child.holds.value}; recode `{node.of}` to numbers first")
        )
        return child
    if node.form is TransformForm.REVERSE:
        return replace(child, orientation=_FLIPPED[child.orientation])
    if node.range is None:
        diagnostics.append(_error(node, "needs `scale`, the range that the values are moved to, e.g. `0-1`"))
    return replace(child, range=node.range)


def _recoded_kind(node: TransformNode, child: NodeKind, diagnostics: list[Diagnostic]) -> NodeKind:
    numbers = [number for number in node.recoded.values() if number is not None]
    if child.holds is Holds.LABELS:
        diagnostics += _label_errors(node, child)
    elif child.holds is not Holds.NUMBERS or not child.many:
        diagnostics.append(_error(node, f"recodes `{node.of}`, which holds {child.holds.value} of no single answer"))
    if node.range is None and len(set(numbers)) < 2:
        diagnostics.append(_error(node, "needs two different numbers in `values`, or `scale` beside one"))
        return child
    after = node.range or ValueRange(lowest=min(numbers), highest=max(numbers))
    outside = [number for number in numbers if not after.lowest <= number <= after.highest]
    if outside:
        diagnostics.append(_error(node, f"recodes to {outside[0]:g}, which leaves its scale {after}", "values"))
    return replace(child, holds=Holds.NUMBERS, range=after, labels=(), orientation=node.orientation)


def _label_errors(node: TransformNode, child: NodeKind) -> Iterator[Diagnostic]:
    for label in child.labels:
        if label not in node.recoded:
            words = f"does not say what becomes of `{label}`; give it a number, or null to leave it out"
            yield _error(node, words)
    for label in node.recoded:
        if label not in child.labels:
            near = did_you_mean(label, child.labels) or f"; labels are {', '.join(child.labels)}"
            yield _error(node, f"recodes `{label}`, which is not an answer of `{node.of}`{near}", "values")


def _collapsed_kind(
    node: CollapseNode, child: NodeKind, method: SummaryMethod, diagnostics: list[Diagnostic]
) -> NodeKind:
    if not child.many:
        diagnostics.append(_error(node, f"collapses `{node.of}`, which holds one number already"))
    return replace(_summed(node, method, {node.of: child}, diagnostics), many=True)


def _summary_kind(node: SummaryNode, below: Kinds, method: SummaryMethod, diagnostics: list[Diagnostic]) -> NodeKind:
    summed = {edge.child: below[edge.child] for edge in node.edges}
    kind = _summed(node, method, summed, diagnostics)
    return replace(kind, sides=kind.sides | ({node.side} if node.side else set()))


def _summed(
    node: SummaryNode | CollapseNode, method: SummaryMethod, below: Kinds, diagnostics: list[Diagnostic]
) -> NodeKind:
    sides = frozenset(side for kind in below.values() for side in kind.sides)
    if method.takes is Holds.MEMBERS:
        return NodeKind(holds=Holds.MEMBERS, sides=sides)
    for name, kind in below.items():
        if kind.holds is not method.takes:
            tail = f"; recode `{name}` first" if method.takes is Holds.NUMBERS else ""
            words = (
                f"takes the {method.name} of `{name}`, which holds {kind.holds.value}, not {method.takes.value}{tail}"
            )
            diagnostics.append(_error(node, words, child=name))
    if len(sides) > 1:
        words = "nets positive against negative impacts; keep them apart, or put them side by side by `aggregation`"
        diagnostics.append(_error(node, words))
    if method.takes is not Holds.NUMBERS:
        return NodeKind(holds=method.gives, sides=sides)
    diagnostics += _order_errors(node, method, below)
    diagnostics += _range_errors(node, method, below)
    first = next((kind for kind in below.values() if kind.range), NodeKind(holds=Holds.NUMBERS))
    ranges = [kind.range for kind in below.values() if kind.range]
    orientation = Orientation.HIGHER_IS_WORSE if method.needs_order else first.orientation
    return NodeKind(holds=method.gives, range=_range_after(method, ranges), orientation=orientation, sides=sides)


def _order_errors(node: TreeNode, method: SummaryMethod, below: Kinds) -> Iterator[Diagnostic]:
    for name, kind in below.items():
        if not method.needs_order or kind.range is None:  # a node without any leaf has neither range nor direction
            continue
        if kind.orientation is Orientation.UNSTATED:
            words = f"takes the {method.name} of `{name}`, and nothing says which end of its scale is the bad one"
            yield _error(node, f"{words}; state `orientation` at its answers", child=name)
        elif kind.orientation is Orientation.LOWER_IS_WORSE:
            words = f"takes the {method.name} of `{name}`, where lower is worse: the best would pass for the worst"
            yield _error(node, f"{words}; turn it round with a `reverse` node", child=name)


def _range_errors(node: TreeNode, method: SummaryMethod, below: Kinds) -> Iterator[Diagnostic]:
    ranges = {name: kind for name, kind in below.items() if kind.range is not None}
    first = next(iter(ranges.items()), None)
    for name, kind in ranges.items():
        if first and method.needs_one_range and kind.range != first[1].range:
            both = f"`{first[0]}` runs from {first[1].range}, `{name}` from {kind.range}"
            words = f"mixes units under a {method.name}: {both}"
            yield _error(node, f"{words}; rescale one of them", child=name)
        elif (
            first and method.needs_one_range and kind.orientation is not first[1].orientation and not method.needs_order
        ):
            both = f"in `{first[0]}` {_kind_text(first[1])}, in `{name}` {_kind_text(kind)}"
            words = f"mixes orientations under a {method.name}: {both}"
            yield _error(node, f"{words}; turn one round with a `reverse` node", child=name)
        if method.needs_zero and kind.range and kind.range.lowest != 0:
            words = f"takes the {method.name} of `{name}`, whose scale runs from {kind.range} and not from 0"
            yield _error(node, f"{words}; rescale it first", child=name)


def _kind_text(kind: NodeKind) -> str:
    return {
        Orientation.HIGHER_IS_WORSE: "higher is worse",
        Orientation.LOWER_IS_WORSE: "lower is worse",
        Orientation.UNSTATED: "nothing says what is worse",
    }[kind.orientation]


def _range_after(method: SummaryMethod, ranges: Sequence[ValueRange]) -> ValueRange | None:
    if method.range_after is RangeAfter.UNIT:
        return ValueRange(lowest=0, highest=1)
    if method.range_after is RangeAfter.SAME or not ranges:
        return ranges[0] if ranges else None
    highest = 1.0
    for each in ranges:
        highest *= each.highest
    return ValueRange(lowest=0, highest=highest) if highest > 0 else None


def _error(node: TreeNode, words: str, key: str = "", *, child: str = "") -> Diagnostic:
    path = (NODES, node.name, key) if key else (NODES, node.name, "of") if child else (NODES, node.name)
    return Diagnostic(path=path, message=f"node `{node.name}` {words}", words=child, at_key=len(path) == 2)
