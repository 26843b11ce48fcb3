"""Measurement trees as designed: answers, transforms, summaries and leaves (CoRIx)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from theodolite.domain.annotation import Outcome
from theodolite.domain.choices import ImpactSide, Per, TransformForm, Weighing
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Orientation

TESTER = "tester"
"""Respondents of a questionnaire in addition to the kinds of annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One answer of one annotator or tester to one question about one dialogue.

    Attributes:
        question: The question, as `instrument.question`.
        session: Label of the dialogue.
        value: The answer; None unless the outcome is `ANSWERED`.
        outcome: Outcome of the answer.
        by: Name of the annotator, or opaque key of the tester.
        kind: `person`, `model`, `rule`, `tester`, or `reference` for a final label.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
        cluster: Common property of similar dialogues; the dialogue itself if empty.
        level: Level of testing.
        held_by: Tester type.
        groups: Group name to value.
    """

    question: str
    session: str
    value: str | None = None
    outcome: Outcome = Outcome.ANSWERED
    by: str = ""
    kind: str = ""
    turn: int | None = None
    replicate: int = 1
    cluster: str = ""
    level: str = ""
    held_by: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject a value without an answered outcome, and an answered outcome without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = (
                f"leaf `{self.question}` of `{self.session}`: only an `answered` one carries a value;"
                f" outcome={self.outcome.value!r}, value={self.value!r}"
            )
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRange:
    """The values that numbers of a node can take.

    Attributes:
        lowest: Lower end of the scale.
        highest: Upper end of the scale, whether or not a value reaches it.
    """

    lowest: float
    highest: float

    def __post_init__(self) -> None:
        """Reject a range without length."""
        if not (math.isfinite(self.lowest) and math.isfinite(self.highest) and self.lowest < self.highest):
            message = f"a range needs its lower end below its upper end; got {self.lowest:g} to {self.highest:g}"
            raise InputError(message)

    @property
    def width(self) -> float:
        """Distance of the ends."""
        return self.highest - self.lowest

    def __str__(self) -> str:
        return f"{self.lowest:g} to {self.highest:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Edge from a node to one of its children.

    Attributes:
        child: Name of the node below.
        weight: Relative weight, 0 or more. A weight of 0 means that the child
            does not count here; it is neither missing nor a value of 0.
    """

    child: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Reject a weight that is below 0 or not a number."""
        if not (math.isfinite(self.weight) and self.weight >= 0):
            message = f"the weight of `{self.child}` must be a number of 0 or more; got {self.weight}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersNode:
    """Leaves: the single answers to one question, unchanged.

    Attributes:
        name: Name of the node.
        question: The question, as `instrument.question`.
        levels: Only dialogues of these levels of testing; all if empty.
        held_by: Only dialogues of these tester types; all if empty.
        by: Only answers of these: names of annotators, or `person`, `model`, `rule`, `reference`, `tester`; all if
            empty. If it is empty or names `person`, a final label replaces the other labels of its dialogue.
        among: Only dialogues of these groups; group name to value.
        range: Range of the scale, for numbers; None if the study's instrument defines it.
        labels: Labels of the scale, for categories; None if the study's instrument defines them.
        free_text: Whether the question is answered in free text.
        orientation: Which end of the scale is the bad one.
        title: Displayed title.
    """

    name: str
    question: str
    levels: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    among: Mapping[str, str] = field(default_factory=dict)
    range: ValueRange | None = None
    labels: tuple[str, ...] = ()
    free_text: bool = False
    orientation: Orientation = Orientation.UNSTATED
    title: str = ""

    @property
    def has_scale(self) -> bool:
        """Whether the possible answers are known."""
        return self.range is not None or bool(self.labels) or self.free_text

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the child nodes: none, because its children are answers."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformNode:
    """A change of each value, shown as a separate node.

    Attributes:
        name: Name of the node.
        of: Name of the node with the input values.
        form: Form of the action.
        range: Range that the values have afterwards; None if they keep theirs.
        recoded: For `recode`: value as text to its replacement; None
            omits the answer, and the counts show it.
        orientation: For `recode`: bad end of the scale afterwards.
        title: Displayed title.
    """

    name: str
    of: str
    form: TransformForm
    range: ValueRange | None = None
    recoded: Mapping[str, float | None] = field(default_factory=dict)
    orientation: Orientation = Orientation.UNSTATED
    title: str = ""

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the nodes below."""
        return (self.of,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseNode:
    """One value per dialogue or turn in place of several answers: of its turns, or of its annotators.

    Attributes:
        name: Name of the node.
        of: Name of the node with the collapsed answers.
        summary: Name of the summary function.
        per: Whether one value is left for each dialogue, for each turn, or for each annotator of a dialogue.
        title: Displayed title.
    """

    name: str
    of: str
    summary: str
    per: Per = Per.DIALOGUE
    title: str = ""

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the nodes below."""
        return (self.of,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryNode:
    """A summary of its children.

    Attributes:
        name: Name of the node.
        summary: Name of the summary function.
        edges: The edges to children, with their weights.
        weigh: Above single answers: whether each dialogue or each answer has weight one.
        side: Kind of impact that it concerns; None if it concerns none.
        beside: Names of nodes that are shown with it and do not affect its value.
        title: Displayed title.
        about: Its meaning, in a sentence.
    """

    name: str
    summary: str
    edges: tuple[Edge, ...]
    weigh: Weighing = Weighing.DIALOGUE
    side: ImpactSide | None = None
    beside: tuple[str, ...] = ()
    title: str = ""
    about: str = ""

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the nodes below; those beside it come last."""
        return (*(edge.child for edge in self.edges), *self.beside)


TreeNode: TypeAlias = AnswersNode | TransformNode | CollapseNode | SummaryNode
"""Any node of a design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """Subject of one branch of a tree; data, so that one can be added or removed without changing the rest.

    Attributes:
        node: Name of the node that carries it.
        definition: Its definition.
        risks: Names of the risks that belong to it.
        metrics: Metrics measured for it, as text.
        criteria: Thresholds for its values, as text.
        crosswalk: Questions about it, as `instrument.question`, with their weight.
        unasked: Entries of its crosswalk that the study does not ask.
    """

    node: str
    definition: str = ""
    risks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    crosswalk: Mapping[str, float] = field(default_factory=dict)
    unasked: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedView:
    """A named weighting across dimensions: one view of a tree among several, and never its overall result.

    Attributes:
        name: Name of the view.
        weights: Name of a dimension, or of another node, to its weight of 0 or more.
    """

    name: str
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        """Reject a view without a weight above 0, and weights that are not numbers of 0 or more."""
        values = tuple(self.weights.values())
        if not all(math.isfinite(weight) and weight >= 0 for weight in values) or not any(values):
            message = f"view `{self.name}` needs weights of 0 or more, at least one above 0; got {dict(self.weights)}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOutline:
    """The outline of a tree, which is constructed over the guidelines and questionnaires of a study.

    Attributes:
        name: Name of the tree.
        topology: Name of the topology, e.g. `six-levels`.
        dimensions: Subjects of its branches; each guideline is one if there are none.
        edition: Edition that its author gave it.
        about: Its content and source.
        views: Named weightings across dimensions.
    """

    name: str
    topology: str
    dimensions: tuple[Dimension, ...] = ()
    edition: str = ""
    about: str = ""
    views: tuple[WeightedView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDesign:
    """A measurement tree without its values: topology, summaries, weights and transforms.

    Attributes:
        name: Name of the tree.
        nodes: The nodes, in the author's order.
        dimensions: Subjects of its branches.
        edition: Edition that its author gave it; identity is the content hash.
        about: Its content and source.
        views: Named weightings across dimensions; they change no node.
        by_name: Name to node; derived from the nodes.
    """

    name: str
    nodes: tuple[TreeNode, ...]
    dimensions: tuple[Dimension, ...] = ()
    edition: str = ""
    about: str = ""
    views: tuple[WeightedView, ...] = ()
    by_name: Mapping[str, TreeNode] = field(init=False, compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Reject two nodes with the same name."""
        names = [node.name for node in self.nodes]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            message = f"tree `{self.name}` has two nodes of one name: {', '.join(twice)}"
            raise InputError(message)
        object.__setattr__(self, "by_name", {node.name: node for node in self.nodes})
        for view in self.views:
            unknown = [name for name in view.weights if name not in self.by_name]
            if unknown:
                near = did_you_mean(unknown[0], names)
                message = f"view `{view.name}` weighs `{unknown[0]}`, which is not a node of tree `{self.name}`{near}"
                raise InputError(message)

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each node to the nodes that it is below; empty for roots."""
        above_by_node: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for child in node.children:
                if child in above_by_node:
                    above_by_node[child].append(node.name)
        return {name: tuple(dict.fromkeys(above)) for name, above in above_by_node.items()}

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the nodes that are below no other."""
        return tuple(name for name, above in self.parents.items() if not above)

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions of its leaves, each once, in order."""
        return tuple(dict.fromkeys(node.question for node in self.nodes if isinstance(node, AnswersNode)))

    @property
    def method_version(self) -> str:
        """Content hash of all that decides values: titles and other words are not in it."""
        nodes = tuple(_without_words(node) for node in sorted(self.nodes, key=lambda node: node.name))
        return version_of(replace(self, name="", nodes=nodes, dimensions=(), edition="", about="", views=()))

    def upwards(self) -> tuple[TreeNode, ...]:
        """Return the nodes in an order in which each follows all nodes below it.

        Raises:
            InputError: If the design has a cycle.
        """
        ordered: dict[str, TreeNode] = {}
        for name in self.by_name:
            for node in _below_first(self, name, ordered):
                ordered[node.name] = node
        return tuple(ordered.values())

    def expanded(self) -> TreeDesign:
        """Return the same tree with one parent for each node: nodes with several parents are repeated.

        The first copy of a node keeps its name; later ones carry the name of their parent.
        Every node keeps its value, because a value depends only on its children.

        Raises:
            InputError: If the design has a cycle, or the expanded tree has more than `MOST_NODES` nodes.
        """
        self.upwards()
        nodes: dict[str, TreeNode] = {}
        for root in self.roots:
            self._expand(root, root, nodes)
        return replace(self, nodes=tuple(nodes.values()))

    def _expand(self, name: str, new_name: str, nodes: dict[str, TreeNode]) -> None:
        if len(nodes) >= MOST_NODES:
            message = f"tree `{self.name}` expands to more than {MOST_NODES:,} nodes; use the tree as it is"
            raise InputError(message)
        node = self.by_name[name]
        nodes[new_name] = node  # reserves the name and the position
        names: dict[str, str] = {}
        for child in dict.fromkeys(node.children):
            names[child] = _free_name(child, new_name, {*nodes, *self.by_name} if child in nodes else {*nodes})
            self._expand(child, names[child], nodes)
        nodes[new_name] = _renamed(node, new_name, names)

    def leaves_below(self, name: str) -> tuple[str, ...]:
        """Return the names of the answers nodes below a node, each once."""
        seen: dict[str, None] = {}
        below: dict[str, None] = {}
        waiting = [name]
        while waiting:
            node = self.by_name[waiting.pop()]
            if node.name in seen:
                continue
            seen[node.name] = None
            if isinstance(node, AnswersNode):
                below[node.name] = None
            waiting += reversed(node.children)
        return tuple(below)


MOST_NODES = 5_000
"""Maximum number of nodes of an expanded tree; count."""


def _free_name(child: str, parent: str, taken: set[str]) -> str:
    if child not in taken:
        return child
    name, number = f"{child} [{parent}]", 2
    while name in taken:
        name, number = f"{child} [{parent}, {number}]", number + 1
    return name


def _renamed(node: TreeNode, name: str, names: Mapping[str, str]) -> TreeNode:
    """Return a node under another name, with the names of the nodes below it changed."""
    if isinstance(node, SummaryNode):
        edges = tuple(replace(edge, child=names[edge.child]) for edge in node.edges)
        return replace(node, name=name, edges=edges, beside=tuple(names[each] for each in node.beside))
    if isinstance(node, AnswersNode):
        return replace(node, name=name)
    return replace(node, name=name, of=names[node.of])


def _without_words(node: TreeNode) -> TreeNode:
    plain = replace(node, title="")
    return replace(plain, about="") if isinstance(plain, SummaryNode) else plain


def _below_first(design: TreeDesign, start: str, done: Mapping[str, TreeNode]) -> Iterator[TreeNode]:
    """Yield a node after all nodes below it, without recursion, because trees may be deep."""
    path: dict[str, Iterator[str]] = {}
    yielded: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting[-1]
        if name in done or name in yielded:
            waiting.pop()
            continue
        rest = path.setdefault(name, iter(design.by_name[name].children))
        child = next((c for c in rest if c in design.by_name and c not in done and c not in yielded), None)
        if child is None:
            yielded.add(waiting.pop())
            del path[name]
            yield design.by_name[name]
        elif child in path:
            message = f"tree `{design.name}` has a cycle through `{child}`; no node may lie below itself"
            raise InputError(message)
        else:
            waiting.append(child)
