"""Strata: dialogues by the judge's verdict, and what people found in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.clusters import ClusterIds, cluster_codes
from theodolite.measurement.correction.chances import lattice, share_chances

Floats = NDArray[np.float64]
Verdicts = Sequence[Hashable]
"""The judge's verdict on each dialogue; None = it gave none, which is a stratum too."""
Labels = Sequence[bool | None]
"""Whether people found a defect in each dialogue; None = nobody looked."""

NOBODY_LOOKED: Final = "No person has labelled a dialogue that the judge called {}, so what is in there is unknown."
"""Why a rate is undefined where a verdict was never looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The dialogues that got one verdict.

    Attributes:
        verdict: The verdict, as text.
        kind: The verdict as it was given.
        judged: Dialogues with it; count.
        labelled: Those that people labelled; count.
        defects: Those in which they found a defect; count.
        by_cluster: Pairs (defects, labelled), one a cluster; counts.
    """

    verdict: str
    kind: Hashable
    judged: int
    labelled: int
    defects: int
    by_cluster: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """All dialogues, by verdict.

    Attributes:
        parts: One a verdict, in the order of their first appearance.
        verdicts_by_cluster: Dialogues of each cluster by verdict, shape (clusters, verdicts).
        alone: Whether dialogues are independent.
    """

    parts: tuple[Stratum, ...]
    verdicts_by_cluster: NDArray[np.int64]
    alone: bool

    @property
    def judged(self) -> int:
        """All dialogues; count."""
        return sum(part.judged for part in self.parts)

    @property
    def labelled(self) -> int:
        """Dialogues that people labelled; count."""
        return sum(part.labelled for part in self.parts)

    @property
    def defects(self) -> int:
        """Labelled dialogues with a defect; count."""
        return sum(part.defects for part in self.parts)

    @property
    def shares(self) -> Floats:
        """Share of each verdict, shape (verdicts,); fractions."""
        return np.array([part.judged for part in self.parts]) / self.judged

    @property
    def n_clusters(self) -> int | None:
        """Clusters; count, None where dialogues are independent."""
        return None if self.alone else len(self.verdicts_by_cluster)

    @property
    def never_looked_at(self) -> str | None:
        """Why there is no rate: a verdict nobody looked at; None where all were."""
        unseen = [f"`{part.verdict}`" for part in self.parts if not part.labelled]
        return NOBODY_LOOKED.format(" or ".join(unseen)) if unseen else None

    def chances(self) -> tuple[Floats, Floats]:
        """Return equally likely shares of the verdicts and of defects in each, shape (verdicts, points).

        Verdicts split the dialogues one after another, each taking a share of
        what the earlier ones left.
        """
        k = len(self.parts)
        spread = lattice(2 * k - 1)
        left, shares = np.ones(spread.shape[1]), []
        for place in range(k - 1):
            counts = self.verdicts_by_cluster[:, place:]
            pairs = list(zip(counts[:, 0].tolist(), counts.sum(axis=1).tolist(), strict=True))
            taken = share_chances(pairs, spread[place], alone=self.alone)
            shares.append(left * taken)
            left = left * (1.0 - taken)
        defects = [
            share_chances(part.by_cluster, spread[k - 1 + place], alone=self.alone)
            for place, part in enumerate(self.parts)
        ]
        return np.array([*shares, left]), np.array(defects)


def strata(verdicts: Verdicts, labels: Labels, clusters: ClusterIds | None) -> Strata:
    """Sort dialogues by the judge's verdict.

    Args:
        verdicts: The judge's verdict on each dialogue.
        labels: What people found in each.
        clusters: The cluster of each dialogue; None = dialogues are independent.

    Raises:
        InputError: If the lengths differ or a label is neither yes, no nor None.
    """
    if len(verdicts) != len(labels):
        message = f"`verdicts` and `labels` must be of the same dialogues; got {len(verdicts)} and {len(labels)}"
        raise InputError(message)
    strange = sorted({repr(label) for label in labels if label not in {None, True, False}})
    if strange:
        message = f"`labels` must say True (defect), False or None (nobody looked); got {', '.join(strange)}"
        raise InputError(message)
    _, codes = np.unique(cluster_codes(clusters, len(verdicts)), return_inverse=True)
    kinds = list(dict.fromkeys(verdicts))
    table = np.zeros((int(codes.max(initial=-1)) + 1, len(kinds)), dtype=np.int64)
    found: defaultdict[Hashable, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    place = {kind: number for number, kind in enumerate(kinds)}
    for verdict, label, code in zip(verdicts, labels, codes.tolist(), strict=True):
        table[code, place[verdict]] += 1
        if label is not None:
            found[verdict][code][0] += bool(label)
            found[verdict][code][1] += 1
    parts = tuple(_stratum(kind, int(table[:, place[kind]].sum()), found[kind]) for kind in kinds)
    return Strata(parts=parts, verdicts_by_cluster=table, alone=clusters is None)


def _stratum(kind: Hashable, judged: int, found: Mapping[int, Sequence[int]]) -> Stratum:
    pairs = tuple((defects, labelled) for defects, labelled in found.values())
    return Stratum(
        verdict=_text(kind),
        kind=kind,
        judged=judged,
        labelled=sum(labelled for _, labelled in pairs),
        defects=sum(defects for defects, _ in pairs),
        by_cluster=pairs,
    )


def _text(verdict: Hashable) -> str:
    if isinstance(verdict, tuple):
        return ", ".join(_text(part) for part in verdict)
    names: dict[Hashable, str] = {None: "no verdict", True: "defect", False: "sound"}
    return names.get(verdict, str(verdict))
