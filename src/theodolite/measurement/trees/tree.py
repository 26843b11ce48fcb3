"""A measurement tree: a design with its leaves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from theodolite.domain.errors import InputError
from theodolite.domain.identity import Json
from theodolite.domain.trees.file import LeafSet, TreeFile, tree_file_document, tree_file_of
from theodolite.domain.trees.finding import TreeComparison, TreeFinding
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import TreeDesign
from theodolite.measurement.trees.checks import kinds_of
from theodolite.measurement.trees.comparing import compare_trees, same_tree
from theodolite.measurement.trees.leaves import LeafTable, table_of
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import BUILT_IN, Methods
from theodolite.measurement.trees.replicates import compiled, point_values


@dataclass(frozen=True, kw_only=True)
class MeasurementTree:
    """A tree or directed graph of summaries over single answers.

    Attributes:
        design: Topology, summaries, weights and transforms.
        leaves: The answers of one application, or their columns.
        application: Name of the application.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
        methods: The available summaries.

    Example:
        >>> tree = MeasurementTree.from_text('''
        ... tree: small
        ... nodes:
        ...   risk: {summary: max, of: [first, second]}
        ...   first: {summary: scale-normalised median, of: a}
        ...   second: {summary: scale-normalised median, of: b}
        ...   a: {answers: a, scale: 0-5, orientation: higher_is_worse}
        ...   b: {answers: b, scale: 0-5, orientation: higher_is_worse}
        ... ''')
        >>> leaves = [Leaf(question="a", session=f"d{value}", value=value) for value in "135"]
        >>> tree.with_leaves(leaves).evaluate()
        {'first': 0.6, 'second': None, 'risk': 0.6}

    Source:
        Greenberg, Hall, Jensen, Greene, Amironesei (2025), "Branching Out: Broadening AI
        Measurement and Evaluation with Measurement Trees", arXiv:2509.26632.
    """

    design: TreeDesign
    leaves: tuple[Leaf, ...] | LeafTable = ()
    application: str = ""
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    methods: Methods = field(default_factory=lambda: BUILT_IN, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Reject a design with faults; says all of them."""
        kinds_of(self.design, self.methods)

    @classmethod
    def from_text(cls, text: str, *, application: str = "", methods: Methods = BUILT_IN) -> MeasurementTree:
        """Return the tree of a YAML or JSON text.

        Args:
            text: A design, or a tree file with leaves.
            application: Whose leaves; may be left out where there is one alone.
            methods: The available summaries.

        Raises:
            InputError: If the text is neither, or the design holds faults.
        """
        return cls.from_dict(plain_of(text), application=application, methods=methods)

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], *, application: str = "", methods: Methods = BUILT_IN
    ) -> MeasurementTree:
        """Return the tree of a plain form; see `from_text`."""
        file = tree_file_of(plain)
        chosen = file.of(application) if file.sets else LeafSet(application=application, leaves=())
        return cls(
            design=file.design,
            leaves=chosen.leaves,
            application=chosen.application,
            scenarios=chosen.scenarios,
            versions=chosen.versions,
            methods=methods,
        )

    def to_dict(self) -> dict[str, Json]:
        """Return the plain form; `from_dict` reads it back to an equal tree."""
        return tree_file_document(TreeFile(design=self.design, sets=(self._leaf_set(),)))

    def with_leaves(self, leaves: Iterable[Leaf]) -> MeasurementTree:
        """Return the same design over other answers."""
        return replace(self, leaves=tuple(leaves))

    def evaluate(self) -> dict[str, float | None]:
        """Return the number of each node that holds one; None without data."""
        values = self._values()
        return {name: None if np.isnan(value) else value for name, value in values.items()}

    def bootstrap(self, *, replicates: int = 1_000, seed: int = 1, confidence: float = 0.95) -> TreeFinding:
        """Return the finding of every node; see `measure_tree`."""
        draws = Draws(replicates=replicates, seed=seed, confidence=confidence)
        return measure_tree(self.design, self.leaves, application=self.application, draws=draws, methods=self.methods)

    def compare(self, other: MeasurementTree, *, replicates: int = 1_000, seed: int = 1) -> TreeComparison:
        """Return how this tree stands to another, node by node; see `compare_trees`."""
        draws = Draws(replicates=replicates, seed=seed)
        first, second = (self.design, self._leaf_set()), (other.design, other._leaf_set())
        return compare_trees(first, second, draws=draws, methods=self.methods)

    def equals(self, other: MeasurementTree) -> bool:
        """Tell whether topology, summaries and all values above the leaves are the same."""
        return same_tree(self._values(), other._values(), (self.design, other.design))

    def _values(self) -> dict[str, float]:
        table = self.leaves if isinstance(self.leaves, LeafTable) else table_of(self.leaves)
        return point_values(compiled(self.design, table, self.methods))

    def _leaf_set(self) -> LeafSet:
        if isinstance(self.leaves, LeafTable):
            message = "leaves in columns cannot be written or compared; give them as records"
            raise InputError(message)
        return LeafSet(
            application=self.application, leaves=self.leaves, scenarios=self.scenarios, versions=self.versions
        )


def plain_of(text: str) -> Mapping[str, Any]:
    """Return the mapping that a YAML or JSON text holds.

    Raises:
        InputError: If it is neither, or no mapping.
    """
    try:
        is_json = text.lstrip().startswith("{")
        plain = json.loads(text) if is_json else YAML(typ="safe", pure=True).load(text)
    except (json.JSONDecodeError, YAMLError, RecursionError) as error:
        message = f"expected a tree in YAML or JSON, but it cannot be read: {' '.join(str(error).split())}"
        raise InputError(message) from error
    if not isinstance(plain, Mapping):
        message = f"expected a tree: a mapping with `tree` and `nodes`; got {type(plain).__name__}"
        raise InputError(message)
    return plain
