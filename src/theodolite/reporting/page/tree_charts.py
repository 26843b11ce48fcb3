"""Charts of a measurement tree: icicle, radar and dot plot as SVG, and the data of the zoomable charts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from theodolite.domain.estimate import Estimate
from theodolite.domain.identity import Json
from theodolite.domain.tree import SummaryNode, TreeDesign, ValueRange
from theodolite.domain.tree_finding import NodeFinding, TreeFinding
from theodolite.domain.undefined_reasons import NO_DATA
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.page.tree_standing import range_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.trees import kind_words, number, robustness_words

WIDTH, ROW = 1000.0, 54.0
"""Width of an icicle and height of one of its rows; units of the drawing."""

STEPS = 9
"""Number of steps of the sequence that shows values; count."""

_GAP = 3.0
_LETTER = 6.9
_DIGIT = 9.0
_NARROW = 58.0
_EMPTY_SHARE = 0.6
_MOST_ANSWERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class IcicleCell:
    """One node of an icicle.

    Attributes:
        key: Number of the cell, from 0.
        parent: Number of the cell above; -1 for a root.
        node: Name of the node; empty for several nodes without data in one cell.
        title: Title that fits the cell; empty if it is too narrow.
        full_title: The whole title.
        depth: Row, from 0.
        left: Left end as a share of the width.
        right: Right end as a share of the width.
        step: Step of the sequence, 0 to 8; -1 without a value.
        value: The value as text; empty without one.
        n: Number of dialogues as text; empty if it does not fit.
        label: Complete description.
    """

    key: int
    parent: int
    node: str
    title: str
    full_title: str
    depth: int
    left: float
    right: float
    step: int
    value: str
    n: str
    label: str

    @property
    def x(self) -> float:
        """Left end in units of the drawing."""
        return round(self.left * WIDTH + _GAP / 2, 1)

    @property
    def y(self) -> float:
        """Upper end in units of the drawing."""
        return self.depth * ROW

    @property
    def width(self) -> float:
        """Width in units of the drawing."""
        return round(max((self.right - self.left) * WIDTH - _GAP, 1.0), 1)

    @property
    def height(self) -> float:
        """Height in units of the drawing."""
        return ROW - _GAP


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One row of a dot plot: a value with its interval.

    Attributes:
        title: Name of the row; empty if the row above has the same.
        application: Name of the application.
        tint: Number of its colour.
        y: Middle of the row.
        low: Lower end of the interval; None without one.
        x: The value.
        high: Upper end of the interval; None without one.
        value: The value as text.
        n: Dialogues as text.
    """

    title: str
    application: str
    tint: int
    y: float
    low: float | None
    x: float
    high: float | None
    value: str
    n: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPlot:
    """Dimensions by application on one scale; `ticks` are positions and labels."""

    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]
    height: float
    scale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """One dimension of a radar: the end of its spoke and the position of its title."""

    title: str
    x: float
    y: float
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One application on a radar.

    Attributes:
        application: Name of the application.
        tint: Number of its colour.
        points: Its values.
        low: Lower ends of the intervals; empty if a dimension has none.
        high: Upper ends of the intervals; empty if a dimension has none.
        is_whole: Whether every dimension has a value.
    """

    application: str
    tint: int
    points: tuple[tuple[float, float], ...]
    low: tuple[tuple[float, float], ...]
    high: tuple[tuple[float, float], ...]
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Radar:
    """Dimensions as spokes; the outer end is the upper end of the scale."""

    spokes: tuple[Spoke, ...]
    outlines: tuple[Outline, ...]
    rings: tuple[tuple[float, str], ...]
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Icicle:
    """One tree for one application.

    Attributes:
        key: Identifier within the page.
        application: Name of the application.
        tint: Number of its colour.
        summary: Scale and data in a sentence.
        ends: Ends of the scale as text; empty if the roots have none.
        cells: Nodes with a position.
        height: Height of the drawing.
        data: The nodes with details as JSON, for the zoomable charts.
    """

    key: str
    application: str
    tint: int
    summary: str
    ends: tuple[str, str]
    cells: tuple[IcicleCell, ...]
    height: float
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSets:
    """Names of the sets of dialogues that a node opens, and their sizes in words."""

    basis: str
    opens: str
    raised: str
    opens_raised: str


def icicle(
    subject: Subject, finding: TreeFinding, sets: Mapping[str, NodeSets], answers: Mapping[str, Sequence[Json]]
) -> Icicle:
    """Return a tree for one application as an icicle.

    Args:
        subject: The run.
        finding: The tree for the application.
        sets: Node to the sets of dialogues that it opens.
        answers: Node of answers to its first single answers.
    """
    layout = _Layout(finding=finding)
    cells = tuple(layout.cells())
    scale = _scale(finding)
    place = [result.design.name for result in subject.findings.trees].index(finding.design.name)
    return Icicle(
        key=f"tree-{place}-{subject.tint(finding.application)}-{len(finding.application)}",
        application=finding.application,
        tint=subject.tint(finding.application),
        summary=_summary(finding, scale),
        ends=(f"{scale.lowest:g}", f"{scale.highest:g}") if scale else ("", ""),
        cells=cells,
        height=(max((cell.depth for cell in cells), default=0) + 1) * ROW,
        data=_escaped([_detail(finding, cell, sets, answers) for cell in cells]),
    )


def _summary(finding: TreeFinding, scale: ValueRange | None) -> str:
    names = [dimension.node for dimension in finding.design.dimensions]
    filled = [name for name in names if finding.node(name).value is not None]
    parts = [f"Scale {scale}, higher means more risk"] if scale else []
    parts += [f"{len(filled)} of {figures.number_of(len(names), 'dimension')} with data"] if names else []
    roots = [finding.node(root).n_dialogues for root in finding.design.roots]
    parts.append(figures.number_of(max(roots, default=0), "dialogue"))
    return f"{'; '.join(parts)}."


def _scale(finding: TreeFinding) -> ValueRange | None:
    """Return the scale of the dimensions; that of the first node with a value if there are none."""
    names = [dimension.node for dimension in finding.design.dimensions] or [node.node for node in finding.nodes]
    scales = (range_of(finding.node(name).result.unit) for name in names if finding.node(name).value is not None)
    return next((scale for scale in scales if scale is not None), None)


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Lays out the nodes of a tree: a node is as wide as the leaves below it."""

    finding: TreeFinding

    @property
    def _design(self) -> TreeDesign:
        return self.finding.design

    def cells(self) -> Iterator[IcicleCell]:
        """Yield the cells, each after the one above it."""
        roots = [name for name in self._design.roots if not self._is_empty(name)]
        total = sum(self._weight(name) for name in roots)
        left, key = 0.0, 0
        for name in roots:
            right = left + self._weight(name) / total
            for cell in self._branch(name, key, -1, 0, (left, right)):
                key = cell.key + 1
                yield cell
            left = right

    def _branch(self, name: str, key: int, parent: int, depth: int, ends: tuple[float, float]) -> Iterator[IcicleCell]:
        yield self._cell(name, key, parent, depth, ends)
        children, empty = self._children(name)
        total = sum(self._weight(child) for child in children) + (_EMPTY_SHARE if empty else 0.0)
        left, below = ends[0], key + 1
        for child in children:
            right = left + (ends[1] - ends[0]) * self._weight(child) / total
            for cell in self._branch(child, below, key, depth + 1, (left, right)):
                below = cell.key + 1
                yield cell
            left = right
        if empty:
            yield self._empty(empty, below, key, depth + 1, (left, ends[1]), name)

    def _children(self, name: str) -> tuple[list[str], list[str]]:
        """Return the summaries right below a node: those with data, and those without."""
        node = self._design.by_name[name]
        if not isinstance(node, SummaryNode):
            return [], []
        below = [child for child in node.children if isinstance(self._design.by_name[child], SummaryNode)]
        with_data = [child for child in below if not self._is_empty(child)]
        return with_data, [child for child in below if child not in with_data]

    def _is_empty(self, name: str) -> bool:
        if self._found[name].outcomes.used:
            return False
        node = self._design.by_name[name]
        return not isinstance(node, SummaryNode) or all(self._is_empty(child) for child in node.children)

    @cached_property
    def _found(self) -> Mapping[str, NodeFinding]:
        return {node.node: node for node in self.finding.nodes}

    @cached_property
    def _weights(self) -> dict[str, float]:
        return {}

    def _weight(self, name: str) -> float:
        if name not in self._weights:
            children, empty = self._children(name)
            below = sum(self._weight(child) for child in children) + (_EMPTY_SHARE if empty else 0.0)
            self._weights[name] = max(below, 1.0)
        return self._weights[name]

    def _cell(self, name: str, key: int, parent: int, depth: int, ends: tuple[float, float]) -> IcicleCell:
        result = self._found[name]
        title = self._title(name)
        value = "" if result.value is None else number(result.value)
        width = (ends[1] - ends[0]) * WIDTH
        n = f"n {figures.count(result.n_dialogues)}"
        words = f"{self._whole_title(name)}: {value or 'no single value'}, {n}"
        return IcicleCell(
            key=key,
            parent=parent,
            node=name,
            title=_fitting(title, width - (_DIGIT * len(value) + 28 if width > 2 * _NARROW else 12)),
            full_title=title,
            depth=depth,
            left=ends[0],
            right=ends[1],
            step=_step(result),
            value=value,
            n=n if width > _NARROW else "",
            label=words,
        )

    def _empty(
        self, names: Sequence[str], key: int, parent: int, depth: int, ends: tuple[float, float], above: str
    ) -> IcicleCell:
        titles = ", ".join(_without_prefix(self._whole_title(name), above) for name in names)
        width = (ends[1] - ends[0]) * WIDTH
        title = titles if len(names) == 1 else f"{len(names)} without data"
        return IcicleCell(
            key=key,
            parent=parent,
            node="",
            title=_fitting(title, width - 12),
            full_title=title,
            depth=depth,
            left=ends[0],
            right=ends[1],
            step=-1,
            value="",
            n=NO_DATA if width > _NARROW else "",
            label=f"{NO_DATA}: {titles}",
        )

    def _title(self, name: str) -> str:
        above = [parent for parent in self._design.parents[name] if name.startswith(parent)]
        title = self._whole_title(name)
        shorter = _without_prefix(title, max(above, key=len)) if above else title
        return shorter[:1].upper() + shorter[1:]

    def _whole_title(self, name: str) -> str:
        node = self._design.by_name[name]
        return node.title or name


def _without_prefix(title: str, above: str) -> str:
    rest = title.removeprefix(above).lstrip(":, ")
    return rest or title


def _fitting(title: str, room: float) -> str:
    letters = int(room / _LETTER)
    if letters >= len(title):
        return title
    return f"{title[: letters - 1].rstrip()}…" if letters >= 5 else ""


def _step(found: NodeFinding) -> int:
    scale = range_of(found.result.unit)
    if found.value is None or scale is None:
        return -1
    share = (found.value - scale.lowest) / scale.width
    return min(max(int(share * STEPS), 0), STEPS - 1)


def _detail(
    finding: TreeFinding, cell: IcicleCell, sets: Mapping[str, NodeSets], answers: Mapping[str, Sequence[Json]]
) -> Json:
    """Return a cell with all that its card shows."""
    entry: dict[str, Json] = {
        "key": cell.key,
        "parent": cell.parent,
        "title": cell.full_title,
        "label": cell.label,
        "depth": cell.depth,
        "left": round(cell.left, 6),
        "right": round(cell.right, 6),
        "step": cell.step,
        "value": cell.value,
    }
    if not cell.node:
        return entry
    node, result = finding.design.by_name[cell.node], finding.node(cell.node)
    opened = sets.get(cell.node)
    leaves = [leaf for leaf in finding.design.leaves_below(cell.node) if leaf in answers]
    is_lowest = not any(isinstance(finding.design.by_name[child], SummaryNode) for child in node.children)
    return entry | {
        "name": node.title or cell.node,
        "about": node.about if isinstance(node, SummaryNode) else "",
        "is_highest": isinstance(node, SummaryNode) and node.summary == "max",
        "facts": [[term, text] for term, text in _facts(node, result)],
        "contexts": [robustness_words(each) for each in finding.robustness if each.node == cell.node],
        "n": result.n_dialogues,
        "opens": opened.opens if opened else "",
        "raised": opened.raised if opened else "",
        "opens_raised": opened.opens_raised if opened else "",
        "answers": [row for leaf in leaves for row in answers[leaf]][:_MOST_ANSWERS] if is_lowest else [],
        **_numbers(result),
    }


def _numbers(found: NodeFinding) -> dict[str, Json]:
    result, scale = found.result, range_of(found.result.unit)
    if not isinstance(result, Estimate) or scale is None:
        return {}
    return {
        "at": result.value,
        "low": result.low,
        "high": result.high,
        "confidence": result.confidence,
        "scale": [scale.lowest, scale.highest],
    }


def _facts(node: object, found: NodeFinding) -> Iterator[tuple[str, str]]:
    outcomes = found.outcomes
    yield "Dialogues", figures.count(found.n_dialogues)
    yield "Answers", f"{figures.count(outcomes.used)} of {figures.count(outcomes.planned - outcomes.not_applicable)}"
    lost = {
        "missing": outcomes.missing,
        "failed": outcomes.failed,
        "refused": outcomes.refused,
        "unparseable": outcomes.unparseable,
    }
    yield "Not measured", ", ".join(f"{figures.count(n)} {name}" for name, n in lost.items() if n) or "0"
    if isinstance(found.result, Estimate) and found.result.n_clusters is not None:
        yield "Independent groups", figures.count(found.result.n_clusters)
    if isinstance(node, SummaryNode):
        yield "Summary", kind_words(node)
    if isinstance(found.result, Estimate):
        yield "Interval", found.result.method
    if found.empty:
        yield f"Left out, {NO_DATA}", ", ".join(found.empty)


def _escaped(value: Json) -> str:
    """Return JSON that may be inside a script element: no text of a study ends it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


_FEWEST_SPOKES = 3

_RADIUS = 100.0

_RINGS = 5


def radar(subject: Subject, findings: Sequence[TreeFinding]) -> Radar | None:
    """Return the dimensions with data as a radar; None for fewer than three, or for different scales."""
    design = findings[0].design
    shown = _dimensions_with_data(findings)
    scale = _one_scale(findings, shown)
    if len(shown) < _FEWEST_SPOKES or scale is None:
        return None
    angles = [2 * math.pi * index / len(shown) for index in range(len(shown))]
    return Radar(
        spokes=tuple(
            _spoke(design.by_name[name].title or name, angle) for name, angle in zip(shown, angles, strict=True)
        ),
        outlines=tuple(_outline(subject, finding, shown, angles) for finding in findings),
        rings=tuple(
            (round(_RADIUS * step / _RINGS, 1), f"{scale.lowest + scale.width * step / _RINGS:g}")
            for step in range(1, _RINGS + 1)
        ),
        direction="outer = higher risk",
    )


def _dimensions_with_data(findings: Sequence[TreeFinding]) -> list[str]:
    names = [dimension.node for dimension in findings[0].design.dimensions]
    return [name for name in names if any(finding.node(name).value is not None for finding in findings)]


def _one_scale(findings: Sequence[TreeFinding], names: Sequence[str]) -> ValueRange | None:
    scales = {
        range_of(finding.node(name).result.unit)
        for finding in findings
        for name in names
        if finding.node(name).value is not None
    }
    return scales.pop() if len(scales) == 1 else None


def _spoke(title: str, angle: float) -> Spoke:
    side = math.sin(angle)
    return Spoke(
        title=title,
        x=_x(angle, 1.0),
        y=_y(angle, 1.0),
        text_x=_x(angle, 1.1),
        text_y=_y(angle, 1.13),
        anchor="middle" if abs(side) < 0.3 else "start" if side > 0 else "end",
    )


def _outline(subject: Subject, finding: TreeFinding, names: Sequence[str], angles: Sequence[float]) -> Outline:
    points, low, high = [], [], []
    for name, angle in zip(names, angles, strict=True):
        result = finding.node(name).result
        scale = range_of(result.unit)
        if not isinstance(result, Estimate) or scale is None:
            continue
        points.append(_point(angle, result.value, scale))
        if result.low is not None and result.high is not None:
            low.append(_point(angle, result.low, scale))
            high.append(_point(angle, result.high, scale))
    has_band = len(low) == len(names)
    return Outline(
        application=finding.application,
        tint=subject.tint(finding.application),
        points=tuple(points),
        low=tuple(low) if has_band else (),
        high=tuple(high) if has_band else (),
        is_whole=len(points) == len(names),
    )


def _point(angle: float, value: float, scale: ValueRange) -> tuple[float, float]:
    share = min(max((value - scale.lowest) / scale.width, 0.0), 1.0)
    return _x(angle, share), _y(angle, share)


def _x(angle: float, share: float) -> float:
    return round(_RADIUS * share * math.sin(angle), 1)


def _y(angle: float, share: float) -> float:
    return round(-_RADIUS * share * math.cos(angle), 1)


PLOT_LEFT, PLOT_WIDTH, _DOT_ROW, _TICKS = 190.0, 250.0, 24.0, 5


def dot_plot(subject: Subject, findings: Sequence[TreeFinding]) -> DotPlot | None:
    """Return dimensions by application on one scale; None without a dimension with data, or for different scales."""
    shown = _dimensions_with_data(findings)
    scale = _one_scale(findings, shown)
    if not shown or scale is None:
        return None
    dots = tuple(_dots(subject, findings, shown, scale))
    return DotPlot(
        dots=dots,
        ticks=tuple(
            (PLOT_LEFT + PLOT_WIDTH * step / _TICKS, f"{scale.lowest + scale.width * step / _TICKS:g}")
            for step in range(_TICKS + 1)
        ),
        height=_DOT_ROW * len(dots) + 24.0,
        scale=str(scale),
    )


def _dots(subject: Subject, findings: Sequence[TreeFinding], names: Sequence[str], scale: ValueRange) -> Iterator[Dot]:
    row = 0
    for name in names:
        title = findings[0].design.by_name[name].title or name
        for finding in findings:
            result = finding.node(name)
            if not isinstance(result.result, Estimate):
                continue
            yield Dot(
                title=title,
                application=finding.application,
                tint=subject.tint(finding.application),
                y=_DOT_ROW * (row + 0.5),
                low=_dot_x(result.result.low, scale),
                x=_dot_x(result.result.value, scale) or 0.0,
                high=_dot_x(result.result.high, scale),
                value=number(result.value),
                n=figures.count(result.n_dialogues),
            )
            title, row = "", row + 1


def _dot_x(value: float | None, scale: ValueRange) -> float | None:
    if value is None:
        return None
    share = min(max((value - scale.lowest) / scale.width, 0.0), 1.0)
    return round(PLOT_LEFT + PLOT_WIDTH * share, 1)
