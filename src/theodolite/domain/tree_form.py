"""Files of measurement trees: the plain form of designs, and tree files with leaves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeVar

from theodolite.domain.annotation import Outcome
from theodolite.domain.choices import ImpactSide, Per, TransformForm, Weighing
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import Diagnostic, InputError, did_you_mean
from theodolite.domain.identity import Json
from theodolite.domain.instrument import Orientation
from theodolite.domain.tree import (
    AnswersNode,
    CollapseNode,
    Dimension,
    Edge,
    Leaf,
    SummaryNode,
    TransformNode,
    TreeDesign,
    TreeNode,
    TreeOutline,
    ValueRange,
    WeightedView,
)

E = TypeVar("E", bound=StrEnum)

T = TypeVar("T")


FREE_TEXT = "text"
"""Placeholder for the scale of a free-text question."""


_NUMBER = r"-?\d+(?:\.\d+)?"

_RANGE = re.compile(rf"\s*({_NUMBER})\s*(?:-|\u2013|\.\.|to)\s*({_NUMBER})\s*")


KEYS: Mapping[str, tuple[str, ...]] = {
    "answers": ("answers", "levels", "held_by", "by", "among", "scale", "orientation", "title"),
    "transform": ("transform", "of", "scale", "values", "orientation", "title"),
    "per": ("per", "of", "summary", "title"),
    "summary": ("summary", "of", "weigh", "side", "beside", "title", "about"),
}
"""Key that identifies the kind of node, to the keys that such a node may have."""


DIMENSION_KEYS = ("definition", "risks", "metrics", "criteria", "crosswalk")

OUTLINE_KEYS = ("tree", "topology", "edition", "about", "dimensions", "views")

DESIGN_KEYS = ("tree", "edition", "about", "nodes", "dimensions", "views")


def design_of(plain: Mapping[str, Any]) -> TreeDesign:
    """Return the design of a plain form; its meaning is checked elsewhere.

    Args:
        plain: The content of a file; see `docs/reference/tree-file.md`.

    Raises:
        InputError: If it is not a design; `faults` lists all errors.
    """
    reader = _FormReader()
    reader.known(plain, DESIGN_KEYS, ())
    nodes = reader.each(plain, "nodes", _node)
    dimensions = reader.each(plain, "dimensions", _dimension)
    views = reader.each(plain, "views", _view)
    named = [reader.guarded(partial(reader.text, plain.get(key), key), (key,)) for key in ("tree", "edition", "about")]
    make = partial(
        TreeDesign,
        name=named[0] or "",
        nodes=nodes,
        dimensions=dimensions,
        edition=named[1] or "",
        about=named[2] or "",
        views=views,
    )
    design = reader.guarded(make, ())
    if reader.faults or design is None:
        raise InputError(_all_words(reader.faults), faults=reader.faults)
    return design


def outline_of(plain: Mapping[str, Any]) -> TreeOutline:
    """Return the outline that a plain form describes: a topology and its dimensions.

    Raises:
        InputError: If it is not an outline; `faults` lists all errors.
    """
    reader = _FormReader()
    reader.known(plain, OUTLINE_KEYS, ())
    dimensions = reader.each(plain, "dimensions", _dimension)
    views = reader.each(plain, "views", _view)
    keys = ("tree", "topology", "edition", "about")
    named = [reader.guarded(partial(reader.text, plain.get(key), key), (key,)) or "" for key in keys]
    if reader.faults:
        raise InputError(_all_words(reader.faults), faults=reader.faults)
    return TreeOutline(
        name=named[0], topology=named[1], dimensions=dimensions, edition=named[2], about=named[3], views=views
    )


def _all_words(diagnostics: Sequence[Diagnostic]) -> str:
    return "; ".join(
        f"{'.'.join(map(str, diagnostic.path))}: {diagnostic.message}" if diagnostic.path else diagnostic.message
        for diagnostic in diagnostics
    )


def design_document(design: TreeDesign) -> dict[str, Json]:
    """Return the plain form of a design; `design_of` reads it back to an equal one."""
    return _filled(
        tree=design.name,
        edition=design.edition,
        about=design.about,
        nodes={node.name: _node_form(node) for node in design.nodes},
        dimensions={dimension.node: _dimension_form(dimension) for dimension in design.dimensions},
        views={view.name: dict(view.weights) for view in design.views},
    )


def range_of(text: str) -> ValueRange | None:
    """Return the range of a text like `0-10` or `0..1`; None if it is not a range.

    Raises:
        InputError: If the ends are in the wrong order.
    """
    match = _RANGE.fullmatch(text)
    return ValueRange(lowest=float(match[1]), highest=float(match[2])) if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _FormReader:
    """Reads plain values and records every error with its path."""

    faults: list[Diagnostic] = field(default_factory=list)

    def each(self, plain: Mapping[str, Any], section: str, make: Callable[[_FormReader, str, Any], T]) -> tuple[T, ...]:
        """Return the parsed entries of a section; invalid entries are reported."""
        entries = self.guarded(partial(self.mapping, plain.get(section), section), (section,)) or {}
        made = (
            self.guarded(partial(make, self, str(name), form), (section, str(name))) for name, form in entries.items()
        )
        return tuple(node for node in made if node is not None)

    def guarded(self, make: Callable[[], T], path: tuple[str | int, ...]) -> T | None:
        """Return the constructed object; None and an error if the constructor refuses."""
        try:
            return make()
        except InputError as error:
            self.faults.append(Diagnostic(path=path, message=str(error), at_key=True))
            return None

    def known(self, plain: Mapping[str, Any], keys: Sequence[str], path: tuple[str | int, ...]) -> None:
        """Report unknown keys."""
        for key in plain:
            if key not in keys:
                tail = did_you_mean(str(key), keys) or f"; known here: {', '.join(keys)}"
                self.faults.append(Diagnostic(path=(*path, key), message=f"unknown key `{key}`{tail}", at_key=True))

    def mapping(self, value: Any, what: str) -> Mapping[str, Any]:
        if value is None or isinstance(value, Mapping):
            return value or {}
        message = f"`{what}` must be a mapping (`name: value` lines); got {value!r}"
        raise InputError(message)

    def text(self, value: Any, what: str) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:.15g}"
        message = f"`{what}` must be a text; got {value!r}"
        raise InputError(message)

    def texts(self, value: Any, what: str) -> tuple[str, ...]:
        """Return one text or a list of texts."""
        if value is None:
            return ()
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(self.text(entry, what) for entry in values)

    def choices(self, value: Any, kind: type[StrEnum], what: str) -> tuple[str, ...]:
        """Return the words of a choice; `red_teaming` is `red teaming`, as in study files."""
        values = (word.replace("_", " ") for word in self.texts(value, what))
        return tuple(str(self.choice(word, kind, None, what)) for word in values)

    def number(self, value: Any, what: str) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        message = f"`{what}` must be a number; got {value!r}"
        raise InputError(message)

    def choice(self, value: Any, kind: type[E], default: E | None, what: str) -> Any:
        values = [member.value for member in kind]
        if value is None or value == "":
            return default
        if value in values:
            return kind(value)
        tail = did_you_mean(str(value), values) or f"; expected one of {', '.join(values)}"
        message = f"`{what}` is `{value}`{tail}"
        raise InputError(message)


def _node(reader: _FormReader, name: str, form: Any) -> TreeNode:
    plain = reader.mapping(form, f"node {name}")
    kind = next((key for key in ("answers", "transform", "per", "summary") if key in plain), None)
    if kind is None:
        message = f"node `{name}` needs one of `answers`, `transform`, `per` or `summary`, which tell what it is"
        raise InputError(message)
    reader.known(plain, KEYS[kind], ("nodes", name))
    makers = {"answers": _answers, "transform": _transform, "per": _collapse, "summary": _summary}
    return makers[kind](reader, name, plain)


def _answers(reader: _FormReader, name: str, plain: Mapping[str, Any]) -> TreeNode:
    scale = plain.get("scale")
    labels = reader.texts(scale, "scale") if isinstance(scale, list | tuple) else ()
    text = "" if labels else reader.text(scale, "scale")
    value_range = range_of(text)
    if text not in ("", FREE_TEXT) and value_range is None:
        message = f"node `{name}`: scale `{text}` is not understood; write `1-5`, a list of labels, or `{FREE_TEXT}`"
        raise InputError(message)
    return AnswersNode(
        name=name,
        question=reader.text(plain["answers"], "answers"),
        levels=reader.choices(plain.get("levels"), Level, "levels"),
        held_by=reader.choices(plain.get("held_by"), TesterType, "held_by"),
        by=reader.texts(plain.get("by"), "by"),
        among={
            str(group): reader.text(part, f"among {group}")
            for group, part in reader.mapping(plain.get("among"), "among").items()
        },
        range=value_range,
        labels=labels,
        free_text=text == FREE_TEXT,
        orientation=reader.choice(plain.get("orientation"), Orientation, Orientation.UNSTATED, "orientation"),
        title=reader.text(plain.get("title"), "title"),
    )


def _transform(reader: _FormReader, name: str, plain: Mapping[str, Any]) -> TreeNode:
    scale = reader.text(plain.get("scale"), "scale")
    value_range = range_of(scale)
    if scale and value_range is None:
        message = f"node `{name}`: scale `{scale}` is not a range; write it like `0-1`"
        raise InputError(message)
    values = reader.mapping(plain.get("values"), "values")
    return TransformNode(
        name=name,
        of=reader.text(plain.get("of"), "of"),
        form=reader.choice(plain["transform"], TransformForm, None, "transform"),
        range=value_range,
        recoded={
            _key(label): None if number is None else reader.number(number, f"values of {label}")
            for label, number in values.items()
        },
        orientation=reader.choice(plain.get("orientation"), Orientation, Orientation.UNSTATED, "orientation"),
        title=reader.text(plain.get("title"), "title"),
    )


def _key(label: Any) -> str:
    """Return a key as text, because files may write `0` and `yes` without quotes."""
    if isinstance(label, bool):
        return "yes" if label else "no"
    return label if isinstance(label, str) else f"{label:.15g}"


def _collapse(reader: _FormReader, name: str, plain: Mapping[str, Any]) -> TreeNode:
    return CollapseNode(
        name=name,
        of=reader.text(plain.get("of"), "of"),
        summary=reader.text(plain.get("summary"), "summary"),
        per=reader.choice(plain["per"], Per, Per.DIALOGUE, "per"),
        title=reader.text(plain.get("title"), "title"),
    )


def _summary(reader: _FormReader, name: str, plain: Mapping[str, Any]) -> TreeNode:
    return SummaryNode(
        name=name,
        summary=reader.text(plain["summary"], "summary"),
        edges=tuple(_edges(reader, plain.get("of"))),
        weigh=reader.choice(plain.get("weigh"), Weighing, Weighing.DIALOGUE, "weigh"),
        side=reader.choice(plain.get("side"), ImpactSide, None, "side"),
        beside=reader.texts(plain.get("beside"), "beside"),
        title=reader.text(plain.get("title"), "title"),
        about=reader.text(plain.get("about"), "about"),
    )


def _edges(reader: _FormReader, form: Any) -> Iterator[Edge]:
    if isinstance(form, Mapping):
        for child, weight in form.items():
            yield Edge(child=str(child), weight=reader.number(weight, f"weight of {child}"))
        return
    children = reader.texts(form, "of")
    twice = sorted({child for child in children if children.count(child) > 1})
    if twice:
        message = f"`of` names {', '.join(f'`{child}`' for child in twice)} twice; give a weight instead"
        raise InputError(message)
    yield from (Edge(child=child) for child in children)


def _dimension(reader: _FormReader, name: str, form: Any) -> Dimension:
    """Return the subject of a branch."""
    plain = reader.mapping(form, f"dimension {name}")
    reader.known(plain, DIMENSION_KEYS, ("dimensions", name))
    crosswalk = plain.get("crosswalk")
    listed = crosswalk if isinstance(crosswalk, Mapping) else dict.fromkeys(reader.texts(crosswalk, "crosswalk"), 1)
    return Dimension(
        node=name,
        definition=reader.text(plain.get("definition"), "definition"),
        risks=reader.texts(plain.get("risks"), "risks"),
        metrics=reader.texts(plain.get("metrics"), "metrics"),
        criteria=reader.texts(plain.get("criteria"), "criteria"),
        crosswalk={str(name): reader.number(weight, f"weight of {name}") for name, weight in listed.items()},
    )


def _view(reader: _FormReader, name: str, form: Any) -> WeightedView:
    """Return a named weighting."""
    plain = reader.mapping(form, f"view {name}")
    return WeightedView(
        name=name, weights={str(node): reader.number(weight, f"weight of {node}") for node, weight in plain.items()}
    )


def _filled(**values: Any) -> dict[str, Json]:
    """Return the values that exist."""
    return {key: value for key, value in values.items() if value not in (None, "", {}, [], ())}


def _node_form(node: TreeNode) -> dict[str, Json]:
    match node:
        case AnswersNode():
            scale = list(node.labels) or (FREE_TEXT if node.free_text else "")
            return _filled(
                answers=node.question,
                levels=list(node.levels),
                held_by=list(node.held_by),
                by=list(node.by),
                among=dict(node.among),
                scale=scale or (_range_form(node.range) if node.range else ""),
                orientation=_stated(node.orientation),
                title=node.title,
            )
        case TransformNode():
            return _filled(
                transform=node.form.value,
                of=node.of,
                scale=_range_form(node.range) if node.range else "",
                values=dict(node.recoded),
                orientation=_stated(node.orientation),
                title=node.title,
            )
        case CollapseNode():
            return _filled(per=node.per.value, of=node.of, summary=node.summary, title=node.title)
        case _:
            return _summary_form(node)


def _summary_form(node: SummaryNode) -> dict[str, Json]:
    even = all(edge.weight == 1 for edge in node.edges)
    children = [edge.child for edge in node.edges] if even else {edge.child: edge.weight for edge in node.edges}
    return _filled(
        summary=node.summary,
        of=children,
        weigh="" if node.weigh is Weighing.DIALOGUE else node.weigh.value,
        side=node.side.value if node.side else "",
        beside=list(node.beside),
        title=node.title,
        about=node.about,
    )


def _dimension_form(dimension: Dimension) -> dict[str, Json]:
    even = all(weight == 1 for weight in dimension.crosswalk.values())
    return _filled(
        definition=dimension.definition,
        risks=list(dimension.risks),
        metrics=list(dimension.metrics),
        criteria=list(dimension.criteria),
        crosswalk=list(dimension.crosswalk) if even else dict(dimension.crosswalk),
    )


def _range_form(value_range: ValueRange) -> str:
    return f"{value_range.lowest:.15g}..{value_range.highest:.15g}"


def _stated(orientation: Orientation) -> str:
    return "" if orientation is Orientation.UNSTATED else orientation.value


FORMAT: Final = "theodolite-tree/1"
"""Name and version of the file's format; the version is incremented when readers break."""


LEAF_KEYS = (
    "question",
    "session",
    "value",
    "outcome",
    "by",
    "kind",
    "turn",
    "replicate",
    "cluster",
    "level",
    "held_by",
    "groups",
)
"""Keys of a leaf, in the order of the file."""


_TEXTS = ("question", "session", "by", "kind", "cluster", "level", "held_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafSet:
    """The leaves of one application.

    Attributes:
        application: Name of the application.
        leaves: Its leaves.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
    """

    application: str
    leaves: tuple[Leaf, ...]
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """A design with the data for its computation.

    Attributes:
        design: The tree.
        sets: Leaves by application, in the order of the file.
    """

    design: TreeDesign
    sets: tuple[LeafSet, ...] = ()

    def of(self, application: str = "") -> LeafSet:
        """Return the leaves of an application; of the only one if none is named.

        Raises:
            InputError: If the file has no such application, or several and none is named.
        """
        names = [leaf_set.application for leaf_set in self.sets]
        if not application and len(self.sets) == 1:
            return self.sets[0]
        if application in names:
            return self.sets[names.index(application)]
        near = did_you_mean(application, names) if application else ""
        came = f"got `{application}`" if application else "none is named"
        message = f"expected one of the file's applications ({', '.join(names) or 'it has none'}); {came}{near}"
        raise InputError(message)


def tree_file_of(plain: Mapping[str, Any]) -> TreeFile:
    """Return the content of a tree file: a design alone, or one with leaves.

    Raises:
        InputError: If it is not a tree file; lists all errors.
    """
    if "nodes" in plain:  # a design by itself
        return TreeFile(design=design_of(plain))
    form = plain.get("format")
    if form != FORMAT or not isinstance(plain.get("tree"), Mapping):
        message = (
            f"expected a tree (`tree`, `nodes`) or a tree file (`format: {FORMAT}`, `tree`, `applications`);"
            f" got the keys {', '.join(map(str, plain)) or 'none'}"
        )
        raise InputError(message)
    sets = plain.get("applications")
    if not isinstance(sets, list):
        message = f"`applications` must be a list; got {sets!r}"
        raise InputError(message)
    return TreeFile(design=design_of(plain["tree"]), sets=tuple(_leaf_set(each, at) for at, each in enumerate(sets)))


def tree_file_document(file: TreeFile, nodes: Mapping[str, Sequence[Json]] | None = None) -> dict[str, Json]:
    """Return the plain form of a tree file; `tree_file_of` reads it back to an equal one.

    Args:
        file: The design and the leaves.
        nodes: Application to results of its nodes, for display beside the leaves; readers compute them again.
    """
    sets: list[Json] = []
    for leaf_set in file.sets:
        entry: dict[str, Json] = {"application": leaf_set.application, "scenarios": list(leaf_set.scenarios)}
        entry["versions"] = dict(leaf_set.versions)
        if nodes and leaf_set.application in nodes:
            entry["nodes"] = list(nodes[leaf_set.application])
        entry["leaves"] = [leaf_document(leaf) for leaf in leaf_set.leaves]
        sets.append(entry)
    tree = design_document(file.design)
    return {"format": FORMAT, "tree": {key: tree[key] for key in DESIGN_KEYS if key in tree}, "applications": sets}


def leaf_document(leaf: Leaf) -> dict[str, Json]:
    """Return the plain form of a leaf, without default values."""
    plain: dict[str, Json] = {
        "question": leaf.question,
        "session": leaf.session,
        "value": leaf.value,
        "outcome": "" if leaf.outcome is Outcome.ANSWERED else leaf.outcome.value,
        "by": leaf.by,
        "kind": leaf.kind,
        "turn": leaf.turn,
        "replicate": None if leaf.replicate == 1 else leaf.replicate,
        "cluster": leaf.cluster,
        "level": leaf.level,
        "held_by": leaf.held_by,
        "groups": dict(leaf.groups),
    }
    return {key: value for key, value in plain.items() if value not in (None, "", {})}


def _leaf_set(plain: Any, at: int) -> LeafSet:
    where = f"applications[{at}]"
    if not isinstance(plain, Mapping) or not isinstance(plain.get("leaves"), list):
        message = f"`{where}` must be a mapping with a list `leaves`"
        raise InputError(message)
    return LeafSet(
        application=str(plain.get("application", "")),
        leaves=leaves_of(plain["leaves"], where),
        scenarios=tuple(str(name) for name in plain.get("scenarios") or ()),
        versions={str(name): str(version) for name, version in (plain.get("versions") or {}).items()},
    )


def leaves_of(rows: Iterable[Any], where: str = "leaves") -> tuple[Leaf, ...]:
    """Return the leaves that plain rows describe.

    Raises:
        InputError: If rows are invalid; lists the first ten of them.
    """
    leaves: list[Leaf] = []
    wrong: list[str] = []
    for at, row in enumerate(rows):
        try:
            leaves.append(_leaf(row))
        except InputError as error:
            wrong.append(f"{where}.leaves[{at}]: {error}")
    if wrong:
        more = f"; and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        raise InputError("; ".join(wrong[:10]) + more)
    return tuple(leaves)


def _leaf(row: Any) -> Leaf:
    if not isinstance(row, Mapping):
        message = f"a leaf must be a mapping; got {row!r}"
        raise InputError(message)
    unknown = [key for key in row if key not in LEAF_KEYS]
    if unknown:
        message = f"unknown key `{unknown[0]}`{did_you_mean(str(unknown[0]), LEAF_KEYS)}"
        raise InputError(message)
    outcome = row.get("outcome", Outcome.ANSWERED.value if row.get("value") is not None else Outcome.MISSING.value)
    outcomes = [outcome.value for outcome in Outcome]
    if outcome not in outcomes:
        message = f"`outcome` is `{outcome}`{did_you_mean(str(outcome), outcomes) or '; one of ' + ', '.join(outcomes)}"
        raise InputError(message)
    missing = [key for key in ("question", "session") if not row.get(key)]
    if missing:
        message = f"a leaf needs `{'` and `'.join(missing)}`"
        raise InputError(message)
    texts = {key: str(row[key]) for key in _TEXTS if row.get(key) is not None}
    groups = row.get("groups") or {}
    return Leaf(
        **texts,
        value=_value(row.get("value")),
        outcome=Outcome(outcome),
        turn=_count(row.get("turn"), "turn"),
        replicate=_count(row.get("replicate"), "replicate") or 1,
        groups={str(name): str(part) for name, part in dict(groups).items()},
    )


def _value(value: Any) -> str | None:
    """Return an answer as text; 4 and 4.0 are both `4`."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.15g}"
    message = f"`value` must be a text or a number; got {value!r}"
    raise InputError(message)


def _count(value: Any, name: str) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    message = f"`{name}` must be a whole number from 1; got {value!r}"
    raise InputError(message)
