"""Small trees and leaves for tests."""

from __future__ import annotations

from theodolite.domain.annotation import Outcome
from theodolite.domain.tree import Leaf, TreeDesign
from theodolite.domain.tree_form import design_of
from theodolite.measurement.trees.measuring import Draws, measure_tree

FEW = Draws(replicates=60, seed=3)
"""Replicates enough to see whether something happens at all."""


def answers(question: str, scale: str | list[str] = "0-1", orientation: str = "higher_is_worse", **more) -> dict:
    return {"answers": question, "scale": scale, "orientation": orientation, **more}


def design(nodes: dict[str, dict], **more) -> TreeDesign:
    return design_of({"tree": "small", "nodes": nodes, **more})


def leaf(question: str, session: str, value: float | str | None, **more) -> Leaf:
    if value is None:
        return Leaf(question=question, session=session, outcome=more.pop("outcome", Outcome.MISSING), **more)
    return Leaf(question=question, session=session, value=f"{value}", **more)


def leaves(question: str, *values: float | str | None, **more) -> list[Leaf]:
    """Return one leaf a dialogue: `d1`, `d2`, ..."""
    return [leaf(question, f"d{number}", value, **more) for number, value in enumerate(values, 1)]


def measured(nodes: dict[str, dict], given: list[Leaf], draws: Draws = FEW, **more):
    return measure_tree(design(nodes), given, draws=draws, **more)


def value(nodes: dict[str, dict], given: list[Leaf], node: str = "top", **more) -> float | None:
    return measured(nodes, given, **more).node(node).value
