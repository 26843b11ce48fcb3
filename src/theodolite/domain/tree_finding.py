"""Findings of measurement trees: a number, or labels and texts, at each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.findings.number import Estimate, Outcomes, Undefined
from theodolite.domain.tree import Leaf, TreeDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinding:
    """Result of one node.

    Attributes:
        node: Name of the node.
        result: The number, or the reason why there is none.
        outcomes: Outcomes of the answers below it, each counted once; counts.
        n_dialogues: Dialogues with an answer below it; count.
        dialogues: Labels of these dialogues; empty if not requested.
        raised: Labels of the dialogues that raise it: each alone would raise the node above the lowest value.
        answers: The first single answers of a leaf; empty for other nodes.
        conditional: Whether some questions below were not asked of all dialogues,
            so that the value describes only those that were asked.
        empty: Names of the children without data; they are omitted, not counted as 0.
        worst: For `max`: names of the children that reach it.
        worst_odds: For `max`: child to the share of replicates in which it is the highest.
        labels: For sets: label to the number of answers with it.
        texts: For free text: the answers, each once.
        spread: Standard deviation of several annotators' answers on one dialogue; None without repeated annotation.
    """

    node: str
    result: Estimate | Undefined
    outcomes: Outcomes
    n_dialogues: int = 0
    dialogues: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    answers: tuple[Leaf, ...] = ()
    conditional: bool = False
    empty: tuple[str, ...] = ()
    worst: tuple[str, ...] = ()
    worst_odds: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    spread: float | None = None

    @property
    def value(self) -> float | None:
        """The number; None if there is none."""
        return self.result.value if isinstance(self.result, Estimate) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSplit:
    """One node for one part of the dialogues.

    Attributes:
        node: Name of the node.
        group: Name of the attribute to split by.
        part: The part, e.g. a type of user.
        n_dialogues: Dialogues of this part with an answer below the node; count.
        finding: Result of the node; None if the dialogues are so few that they would identify people.
        p_value: Probability of parts at least this different if they were drawn at random, corrected
            for all split nodes; None if it was not tested.
    """

    node: str
    group: str
    part: str
    n_dialogues: int
    finding: NodeFinding | None = None
    p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextValue:
    """The value of a node in one context of use.

    Attributes:
        part: Name of the context, e.g. a scenario, a level of testing or a type of user.
        n_dialogues: Dialogues of this context with an answer below the node; count.
        result: The value with its interval; None if it is withheld because the dialogues are too few.
        outcomes: Outcomes of the answers below the node in this context; None if they are withheld.
    """

    part: str
    n_dialogues: int
    result: Estimate | Undefined | None = None
    outcomes: Outcomes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRobustness:
    """Contextual robustness of a node: how far its value varies between contexts of one kind.

    Attributes:
        node: Name of the node.
        context: Kind of context: `scenario`, `level`, `tester type` or the name of a group.
        values: The node in each context.
        lowest: Name of the context with the lowest value; empty if fewer than two contexts have a value.
        highest: Name of the context with the highest value; empty if fewer than two contexts have a value.
        gap: Highest minus lowest value.
        spread: Standard deviation of the true values between contexts, without sampling error.
    """

    node: str
    context: str
    values: tuple[ContextValue, ...]
    lowest: str
    highest: str
    gap: Estimate | Undefined
    spread: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLink:
    """Association of two dimensions across dialogues.

    Attributes:
        first: Name of one node.
        second: Name of the other.
        rank: Spearman's correlation across dialogues that have both.
        partial: Partial correlation given the other dimensions; None if it cannot be computed.
        p_value: Probability of a correlation at least this strong if there is none, corrected for all pairs.
        shared: Questions of both; they alone cause a correlation.
        both: Dialogues in which both are above their lowest value; count.
        first_only: Dialogues in which only the first is; count.
        second_only: Dialogues in which only the second is; count.
        neither: Dialogues in which none is; count.
        odds_ratio: Odds of one if the other is above its lowest value, relative to the odds if it is not.
    """

    first: str
    second: str
    rank: Estimate | Undefined
    partial: float | None = None
    p_value: float | None = None
    shared: tuple[str, ...] = ()
    both: int = 0
    first_only: int = 0
    second_only: int = 0
    neither: int = 0
    odds_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWithout:
    """Value of a node without one of its children: the influence of one child.

    Attributes:
        node: Name of the node.
        child: Name of the child that is left out.
        value: Resulting value; None if nothing is left.
        change: That value minus the node's own; None if nothing is left.
    """

    node: str
    child: str
    value: float | None
    change: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFinding:
    """Result of one tree for one application.

    Attributes:
        design: The tree.
        application: Name of the application.
        nodes: Result of each node, in the order of the design.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
        splits: Nodes by group.
        robustness: Contextual robustness of nodes, by kind of context.
        links: Associations of dimensions.
        without: Values of nodes without one child.
        views: Value of each view of the design; the node is the name of the view.
        seed: Of the replicates.
        replicates: Replicates behind the intervals; count.
    """

    design: TreeDesign
    application: str
    nodes: tuple[NodeFinding, ...]
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    splits: tuple[NodeSplit, ...] = ()
    robustness: tuple[NodeRobustness, ...] = ()
    links: tuple[NodeLink, ...] = ()
    without: tuple[NodeWithout, ...] = ()
    views: tuple[NodeFinding, ...] = ()
    seed: int = 1
    replicates: int = 0

    def node(self, name: str) -> NodeFinding:
        """Return the result of a node."""
        return next(finding for finding in self.nodes if finding.node == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDifference:
    """One node of two trees.

    Attributes:
        node: Name of the node.
        first: Value in the first tree; None without data.
        second: Value in the second; None without data.
        difference: The second minus the first, with its interval.
    """

    node: str
    first: float | None
    second: float | None
    difference: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeComparison:
    """Two measured trees, node by node; there is no overall winner unless every node agrees.

    Attributes:
        first: Name of the subject of the first tree.
        second: Name of the subject of the second.
        order: `equal`, `lower` (the first is nowhere higher), `higher` or `incomparable`;
            empty if they may not be ordered.
        differences: Node by node.
        lower: Nodes at which the first is lower.
        higher: Nodes at which the first is higher.
        warnings: Why they are only shown side by side; empty if they may be compared.
        n_pairs: Clusters of dialogues that both trees share and that are resampled together; count.
    """

    first: str
    second: str
    order: str
    differences: tuple[NodeDifference, ...]
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    n_pairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeStanding:
    """Relations of a study's applications on one tree: a partial order and views, no ranking.

    Attributes:
        tree: Name of the tree.
        dimensions: Dimensions on which every application has data.
        comparisons: Every two applications, node by node.
        front: Applications that no other dominates.
        front_odds: Application to the share of replicates in which no other dominates it.
    """

    tree: str
    dimensions: tuple[str, ...]
    comparisons: tuple[TreeComparison, ...]
    front: tuple[str, ...] = ()
    front_odds: Mapping[str, float] = field(default_factory=dict)
