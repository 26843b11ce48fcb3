"""Accounts: which answers a node rests on, and what became of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import OUTCOMES
from theodolite.domain.estimate import Outcomes
from theodolite.domain.trees.tree import AnswersNode, SummaryNode
from theodolite.measurement.trees.leaves import ANSWERED, Ints
from theodolite.measurement.trees.replicates import Compiled

_UNREADABLE = OUTCOMES.index(Outcome.UNPARSEABLE)
_LEFT_OUT = OUTCOMES.index(Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """The accounts of one tree's nodes.

    A leaf that a node reaches by two ways is one leaf. Children with a weight of
    0 do not matter to a node, and their leaves are not in its account.

    Attributes:
        tree: The tree with its leaves.
    """

    tree: Compiled

    def outcomes(self, name: str) -> Outcomes:
        """Return what became of the leaves below a node; counts.

        Answers that the scale does not have are unparseable; answers that a
        recoding leaves out are not applicable.
        """
        counts = np.zeros(len(OUTCOMES), dtype=np.int64)
        for bundles in self._by_question(name).values():
            counts += self._counted(bundles)
        by_outcome = dict(zip(OUTCOMES, (int(n) for n in counts), strict=True))
        return Outcomes(
            planned=sum(by_outcome.values()),
            used=by_outcome[Outcome.ANSWERED],
            missing=by_outcome[Outcome.MISSING],
            failed=by_outcome[Outcome.FAILED],
            refused=by_outcome[Outcome.REFUSED],
            unparseable=by_outcome[Outcome.UNPARSEABLE],
            not_applicable=by_outcome[Outcome.NOT_APPLICABLE],
        )

    def _counted(self, bundles: tuple[str, ...]) -> np.ndarray:
        held = [self.tree.bundles[name] for name in bundles]
        if len(held) > 1:
            planned = np.unique(np.concatenate([bundle.planned for bundle in held]))
            used = np.unique(np.concatenate([bundle.rows for bundle in held]))
            unreadable = np.unique(np.concatenate([bundle.unreadable for bundle in held]))
        else:
            planned, used, unreadable = held[0].planned, held[0].rows, held[0].unreadable
        codes = self.tree.table.outcome[planned]
        counts = np.bincount(codes, minlength=len(OUTCOMES))
        left_out = counts[ANSWERED] - len(used) - len(unreadable)
        counts[ANSWERED] = len(used)
        counts[_UNREADABLE] += len(unreadable)
        counts[_LEFT_OUT] += left_out
        return counts

    def _by_question(self, name: str) -> Mapping[str, tuple[str, ...]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for bundle in self._lowest[name]:
            leaf = self.tree.design.leaves_below(bundle)[0]
            node = self.tree.design.by_name[leaf]
            if isinstance(node, AnswersNode):
                found[node.question].append(bundle)
        return {question: tuple(dict.fromkeys(bundles)) for question, bundles in found.items()}

    @cached_property
    def _lowest(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each node to the bundles that enter it, each once."""
        found: dict[str, tuple[str, ...]] = {}
        for node in self.tree.order:
            if node.name in self.tree.bundles:
                found[node.name] = (node.name,)
            elif isinstance(node, SummaryNode):
                below = [name for edge in node.edges if edge.weight > 0 for name in found[edge.child]]
                found[node.name] = tuple(dict.fromkeys(below))
            else:
                found[node.name] = found[node.children[0]]
        return found

    def bundles(self, name: str) -> tuple[str, ...]:
        """Return the names of the nodes of several values that enter a node, each once."""
        return self._lowest[name]

    def rows(self, name: str) -> Ints:
        """Return the leaves that a node's value rests on; rows of the table, each once."""
        parts = [self.tree.bundles[bundle].rows for bundle in self._lowest[name]]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))

    def spread(self, name: str) -> float | None:
        """Return how far several annotators' answers on one dialogue or turn lie apart.

        The pooled standard deviation of answers to one question about one
        dialogue or turn, in points of the node's scale; None where nobody met twice.
        """
        parts = [self._deviations(bundle) for bundle in self._lowest[name] if self._is_single(bundle)]
        squares, degrees = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return float(np.sqrt(squares / degrees)) if degrees else None

    def _is_single(self, name: str) -> bool:
        bundle = self.tree.bundles[name]
        return not bundle.words and len(bundle.rows) == len(bundle.value)

    def _deviations(self, name: str) -> tuple[float, int]:
        if name not in self._known:
            self._known[name] = self._squares(name)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, tuple[float, int]]:
        return {}

    def _squares(self, name: str) -> tuple[float, int]:
        bundle, table = self.tree.bundles[name], self.tree.table
        turns = table.turn[bundle.rows] + 1
        cells = bundle.session * (int(turns.max(initial=0)) + 1) + turns
        counts = np.bincount(cells) if len(cells) else np.zeros(1, dtype=np.int64)
        if counts.max() < 2:
            return 0.0, 0
        _, place, sizes = np.unique(cells, return_inverse=True, return_counts=True)
        means = np.bincount(place, weights=bundle.value) / sizes
        squares = float(((bundle.value - means[place]) ** 2).sum())
        return squares, int((sizes - 1).sum())
