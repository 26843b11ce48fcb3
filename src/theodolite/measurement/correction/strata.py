"""Strata: dialogues by the judge's verdict, and what people found in each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.beta_binomial import BISECTIONS, zero_count_bound
from theodolite.measurement.clusters import ClusterIds, cluster_codes
from theodolite.measurement.correction.chances import lattice, share_chances
from theodolite.measurement.score_columns import sizes_of

Floats = NDArray[np.float64]
Verdicts = Sequence[Hashable]
"""The judge's verdict on each dialogue; None = it gave none, which is a stratum too."""
Labels = Sequence[bool | None]
"""Whether people found a defect in each dialogue; None = nobody looked."""

TINY: Final = 1e-300
"""Shares below this are 0; it keeps their logarithm finite."""

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
        labels_by_cluster: Those that people labelled, shape likewise.
        defects_by_cluster: Those in which they found a defect, shape likewise.
        alone: Whether dialogues are independent.
    """

    parts: tuple[Stratum, ...]
    verdicts_by_cluster: NDArray[np.int64]
    labels_by_cluster: NDArray[np.int64]
    defects_by_cluster: NDArray[np.int64]
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

    def robust_error(self) -> float:
        """Return the standard error of the corrected rate over clusters.

        It sees what shares of verdicts and of defects have in common: a persona
        that provokes defects raises all of them at once. sqrt(G/(G-1) sum e_g^2),
        e_g the cluster's part in the rate, linearised; 0 for a single cluster.
        """
        n_clusters = len(self.verdicts_by_cluster)
        if n_clusters < 2:
            return 0.0
        labelled = np.array([part.labelled for part in self.parts], dtype=np.float64)
        rates = np.array([part.defects for part in self.parts]) / labelled
        found = self.defects_by_cluster - self.labels_by_cluster * rates
        parts = self.verdicts_by_cluster @ (rates - self.shares @ rates) / self.judged + found @ (
            self.shares / labelled
        )
        return math.sqrt(float(parts @ parts) * n_clusters / (n_clusters - 1))

    def zero_defect_bound(self, tail: float) -> float:
        """Return the highest rate at which the labels show no defect with a probability of `tail`.

        A rate may be spread over the verdicts in any way; the bound is the highest
        over all ways. With d_h the share of defects of a verdict, w_h its share of
        the dialogues and n_h its labels, sum w_h d_h is largest under sum n_h
        ln(1 - d_h) = ln(tail) where 1 - d_h = min(1, c n_h / w_h), c the same for
        all. Clusters weaken the labels by as much as they raise `zero_count_bound`.

        Args:
            tail: Probability to see none; fraction in (0, 1).

        Source:
            `zero_count_bound`; the highest over nuisance parameters: Buehler (1957), Confidence intervals for
            the product of two binomial parameters, Journal of the American Statistical Association 52:482-493.
        """
        labels = np.array([part.labelled for part in self.parts], dtype=np.float64)
        weakened = tail
        if not self.alone:
            together = self.labels_by_cluster.sum(axis=1)
            bound = zero_count_bound(sizes_of(together[together > 0].tolist()), tail)
            weakened = (1.0 - bound) ** float(labels.sum())
        ratio = labels / self.shares
        low, high = 0.0, 1.0 / float(ratio.min())
        for _ in range(BISECTIONS):
            halfway = (low + high) / 2.0
            logarithms = np.log(np.maximum(np.minimum(halfway * ratio, 1.0), TINY))
            low, high = (halfway, high) if float(labels @ logarithms) < math.log(weakened) else (low, halfway)
        return float(self.shares @ (1.0 - np.minimum(high * ratio, 1.0)))

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
    place = {kind: number for number, kind in enumerate(kinds)}
    heaps = np.array([place[verdict] for verdict in verdicts], dtype=np.int64)
    seen = np.array([label is not None for label in labels], dtype=np.bool_)
    defect = np.array([bool(label) for label in labels], dtype=np.bool_)
    shape = int(codes.max(initial=-1)) + 1, len(kinds)
    cells = codes * len(kinds) + heaps
    judged, labelled, defects = (
        np.bincount(cells[which], minlength=shape[0] * shape[1]).reshape(shape)
        for which in (np.ones(len(heaps), dtype=np.bool_), seen, seen & defect)
    )
    return Strata(
        parts=tuple(
            _stratum(kind, *(table[:, place[kind]] for table in (judged, labelled, defects))) for kind in kinds
        ),
        verdicts_by_cluster=judged,
        labels_by_cluster=labelled,
        defects_by_cluster=defects,
        alone=clusters is None,
    )


def _stratum(
    kind: Hashable, judged: NDArray[np.int64], labelled: NDArray[np.int64], defects: NDArray[np.int64]
) -> Stratum:
    some = labelled > 0
    return Stratum(
        verdict=_text(kind),
        kind=kind,
        judged=int(judged.sum()),
        labelled=int(labelled.sum()),
        defects=int(defects.sum()),
        by_cluster=tuple(zip(defects[some].tolist(), labelled[some].tolist(), strict=True)),
    )


def _text(verdict: Hashable) -> str:
    if isinstance(verdict, tuple):
        return ", ".join(_text(part) for part in verdict)
    names: dict[Hashable, str] = {None: "no verdict", True: "defect", False: "sound"}
    return names.get(verdict, str(verdict))
