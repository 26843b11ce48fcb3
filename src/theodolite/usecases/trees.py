"""Trees without a study: recomputed from a file, shown, and compared with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from theodolite.domain.errors import InputError
from theodolite.domain.tree import TreeDesign
from theodolite.domain.tree_finding import NodeRobustness, TreeComparison, TreeFinding
from theodolite.domain.tree_form import LeafSet, TreeFile
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import Methods
from theodolite.measurement.trees.robustness import contexts_of, node_robustness
from theodolite.measurement.trees.tree import compare_trees, rescored


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One application of a tree file.

    Attributes:
        file: The file.
        leaves: The leaves of the application.
    """

    file: TreeFile
    leaves: LeafSet


def score_file(
    file: TreeFile, *, application: str, draws: Draws, methods: Methods, contexts: bool = False
) -> tuple[TreeFinding, ...]:
    """Return the value of a file's tree, for one application or all.

    Args:
        file: The tree file.
        application: Name of the application; empty for all.
        draws: How replicates are drawn.
        methods: The available summary methods.
        contexts: Whether to measure the contextual robustness of the nodes as well.

    Raises:
        InputError: If the file has no leaves, or no such application.
    """
    if not file.sets:
        message = f"tree `{file.design.name}` has no leaves to compute it from; `theodolite tree show` shows its design"
        raise InputError(message)
    sets = [file.of(application)] if application else list(file.sets)
    findings = (
        measure_tree(file.design, item.leaves, application=item.application, draws=draws, methods=methods)
        for item in sets
    )
    if not contexts:
        return tuple(findings)
    return tuple(
        replace(finding, robustness=_robustness(file, item, draws, methods))
        for finding, item in zip(findings, sets, strict=True)
    )


def _robustness(file: TreeFile, leaves: LeafSet, draws: Draws, methods: Methods) -> tuple[NodeRobustness, ...]:
    groups = sorted({name for leaf in leaves.leaves for name in leaf.groups})
    return node_robustness(file.design, table_of(leaves.leaves), contexts_of(groups), draws=draws, methods=methods)


def chosen_of(file: TreeFile, application: str) -> Chosen:
    """Return one application of a file; the only one if none is named."""
    return Chosen(file=file, leaves=file.of(application))


def compare_chosen(first: Chosen, second: Chosen, *, draws: Draws, methods: Methods) -> TreeComparison:
    """Return the relation of two applications, node by node."""
    item, other = (first.file.design, first.leaves), (second.file.design, second.leaves)
    return compare_trees(item, other, draws=draws, methods=methods)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodChange:
    """The same leaves under two methods: the effect of a tree's change on the values of one application.

    Attributes:
        comparison: The shared nodes, old method and new method.
        only_old: Nodes that only the old tree has.
        only_new: Nodes that only the new tree has.
        unanswered: Questions of the new tree without a leaf in the file.
        same_method: Whether both trees compute all values in the same way.
    """

    comparison: TreeComparison
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    unanswered: tuple[str, ...]
    same_method: bool


def rescore(
    file: TreeFile, design: TreeDesign, *, application: str, draws: Draws, methods: Methods
) -> tuple[MethodChange, ...]:
    """Return the effect of a new tree on the leaves of an old one, for one application or all.

    Dialogues are resampled together for both trees, so a difference comes only from the method.

    Args:
        file: The old tree with its leaves.
        design: The new tree.
        application: Name of the application; empty for all.
        draws: How replicates are drawn.
        methods: The available summary methods.

    Raises:
        InputError: If the file has no leaves, or no such application.
    """
    if not file.sets:
        message = f"tree `{file.design.name}` has no leaves to score again; expected the `tree-NAME.json` of a run"
        raise InputError(message)
    sets = [file.of(application)] if application else list(file.sets)
    return tuple(_method_change(file.design, design, item, draws, methods) for item in sets)


def _method_change(old: TreeDesign, new: TreeDesign, leaves: LeafSet, draws: Draws, methods: Methods) -> MethodChange:
    result = rescored(old, new, leaves, draws=draws, methods=methods)
    answered = {leaf.question for leaf in leaves.leaves}
    return MethodChange(
        comparison=result,
        only_old=tuple(name for name in old.by_name if name not in new.by_name),
        only_new=tuple(name for name in new.by_name if name not in old.by_name),
        unanswered=tuple(question for question in new.questions if question not in answered),
        same_method=old.method_version == new.method_version,
    )
