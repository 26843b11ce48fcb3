"""Means over single answers as shares: what each cluster brings to them."""

from __future__ import annotations

import numpy as np

from theodolite.domain.choices import Weighing
from theodolite.domain.trees.tree import SummaryNode
from theodolite.measurement.trees.footing import Footing
from theodolite.measurement.trees.summaries import Floats


def tallies(footing: Footing, node: SummaryNode) -> tuple[Floats, Floats]:
    """Return what each cluster brings to a mean on a scale of 0 to 1: sum of values, and number of dialogues.

    Values between the ends count as parts of a defect. Their variance is at
    most that of a share, so that the bounds are wide rather than narrow.
    """
    scale = footing.tree.kinds[node.name].range
    content = np.zeros((footing.tree.n_sessions, 2))
    for each in footing.tree.elements[node.name]:
        content += each.content * each.edge.weight
    total, n_dialogues = float(content[:, 1].sum()), footing.n_sessions(node.name)
    if total > n_dialogues:  # several questions about one dialogue are no further dialogues
        content *= n_dialogues / total
    clusters = footing.tree.table.clusters
    sizes = np.bincount(clusters, weights=content[:, 1]).astype(np.float64)
    hits = np.bincount(clusters, weights=content[:, 0]).astype(np.float64)
    if scale is not None:
        hits = (hits - scale.lowest * sizes) / scale.width
    used = sizes > 0
    return np.maximum(hits[used], 0.0), sizes[used]


def is_share(footing: Footing, node: SummaryNode) -> bool:
    """Tell whether every dialogue brings one of the scale's two ends and nothing between."""
    scale = footing.tree.kinds[node.name].range
    elements = footing.tree.elements.get(node.name, ())
    if scale is None or len(elements) != 1 or node.weigh is not Weighing.DIALOGUE:
        return False
    sums = elements[0].content
    held = sums[sums[:, 1] > 0]
    means = held[:, 0] / held[:, 1]
    return bool(np.isin(means, (scale.lowest, scale.highest)).all())
