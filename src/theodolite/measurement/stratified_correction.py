"""Stratified samples of human labels: strata, chances of verdicts, and the optimal allocation."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, betaln

from theodolite.domain.errors import InputError
from theodolite.domain.undefined_reasons import VERDICTS_UNLABELLED
from theodolite.measurement.interval import BISECTIONS, check_confidence, clustered_share, whole_count, zero_count_bound
from theodolite.measurement.labels import ClusterIds, cluster_codes, sizes_of

Floats = NDArray[np.float64]

Verdicts = Sequence[Hashable]
"""The judge's verdict on each dialogue; None = it gave none, which is also a stratum."""

Labels = Sequence[bool | None]
"""Whether people found a defect in each dialogue; None = no label."""

TINY: Final = 1e-300
"""Shares below this count as 0; it keeps their logarithm finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The dialogues with one verdict.

    Attributes:
        verdict: The verdict, as text.
        kind: The verdict.
        judged: Dialogues with it; count.
        labelled: Dialogues labelled by people; count.
        defects: Dialogues in which they found a defect; count.
        by_cluster: Pairs (defects, labelled), one per cluster; counts.
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
        parts: One per verdict, in the order of first appearance.
        verdicts_by_cluster: Dialogues of each cluster by verdict, shape (clusters, verdicts).
        labels_by_cluster: Dialogues with labels by people, same shape.
        defects_by_cluster: Dialogues with a defect found by people, same shape.
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
        """Clusters; count, None if dialogues are independent."""
        return None if self.alone else len(self.verdicts_by_cluster)

    @property
    def never_looked_at(self) -> str | None:
        """Why there is no rate: a verdict without labels; None if all have some."""
        unseen = [f"`{part.verdict}`" for part in self.parts if not part.labelled]
        return VERDICTS_UNLABELLED.format(verdicts=" or ".join(unseen)) if unseen else None

    def only(self, chosen: NDArray[np.bool_]) -> Strata:
        """Return some of the verdicts without the others; `chosen` has shape (verdicts,)."""
        return Strata(
            parts=tuple(part for part, take in zip(self.parts, chosen, strict=True) if take),
            verdicts_by_cluster=self.verdicts_by_cluster[:, chosen],
            labels_by_cluster=self.labels_by_cluster[:, chosen],
            defects_by_cluster=self.defects_by_cluster[:, chosen],
            alone=self.alone,
        )

    def robust_error(self) -> float:
        """Return the standard error of the corrected rate over clusters.

        It includes the covariance of the shares of verdicts and of defects: a persona
        that provokes defects raises all of them together. sqrt(G/(G-1) sum e_g^2),
        with e_g the cluster's linearised contribution to the rate; 0 for a single cluster.
        """
        n_clusters = len(self.verdicts_by_cluster)
        if n_clusters < 2:
            return 0.0
        labelled = np.array([part.labelled for part in self.parts], dtype=np.float64)
        rates = np.array([part.defects for part in self.parts]) / labelled
        result = self.defects_by_cluster - self.labels_by_cluster * rates
        parts = self.verdicts_by_cluster @ (rates - self.shares @ rates) / self.judged + result @ (
            self.shares / labelled
        )
        return math.sqrt(float(parts @ parts) * n_clusters / (n_clusters - 1))

    def zero_defect_bound(self, tail: float) -> float:
        """Return the highest rate at which the labels show no defect with a probability of `tail`.

        A rate may be distributed over the verdicts arbitrarily; the bound is the highest
        over all distributions. With d_h the share of defects of a verdict, w_h its share of
        the dialogues and n_h its labels, sum w_h d_h is largest under sum n_h
        ln(1 - d_h) = ln(tail) where 1 - d_h = min(1, c n_h / w_h), c the same for
        all. Clusters weaken the labels to the extent that they raise `zero_count_bound`.

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

        Verdicts split the dialogues one after another; each takes a share of
        what the earlier ones leave.
        """
        k = len(self.parts)
        spread = lattice(2 * k - 1)
        left, shares = np.ones(spread.shape[1]), []
        for position in range(k - 1):
            counts = self.verdicts_by_cluster[:, position:]
            pairs = list(zip(counts[:, 0].tolist(), counts.sum(axis=1).tolist(), strict=True))
            taken = share_chances(pairs, spread[position], alone=self.alone)
            shares.append(left * taken)
            left = left * (1.0 - taken)
        defects = [
            share_chances(part.by_cluster, spread[k - 1 + position], alone=self.alone)
            for position, part in enumerate(self.parts)
        ]
        return np.array([*shares, left]), np.array(defects)


def strata(verdicts: Verdicts, labels: Labels, clusters: ClusterIds | None) -> Strata:
    """Sort dialogues by the judge's verdict.

    Args:
        verdicts: The judge's verdict on each dialogue.
        labels: Labels by people in each.
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
    position = {kind: number for number, kind in enumerate(kinds)}
    heaps = np.array([position[verdict] for verdict in verdicts], dtype=np.int64)
    seen = np.array([label is not None for label in labels], dtype=np.bool_)
    defect = np.array([bool(label) for label in labels], dtype=np.bool_)
    dimensions = int(codes.max(initial=-1)) + 1, len(kinds)
    cells = codes * len(kinds) + heaps
    judged, labelled, defects = (
        np.bincount(cells[which], minlength=dimensions[0] * dimensions[1]).reshape(dimensions)
        for which in (np.ones(len(heaps), dtype=np.bool_), seen, seen & defect)
    )
    return Strata(
        parts=tuple(
            _stratum(kind, *(table[:, position[kind]] for table in (judged, labelled, defects))) for kind in kinds
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


POINTS: Final = 8192
"""Number of points of the lattice; quantiles are accurate to 1e-3, and to 1e-2 for a handful of labels."""

TABLE: Final = 513
"""Fractions at which a posterior is computed exactly."""

JEFFREYS: Final = 0.5
"""Count that Jeffreys' prior adds to each side."""


def lattice(dimensions: int, points: int = POINTS) -> Floats:
    """Return points spread evenly over a cube, shape (dimensions, points); deterministic.

    They replace random draws: multiples of powers of the root of
    x**(d + 1) = x + 1, modulo 1.

    Args:
        dimensions: Quantities that vary independently; count.
        points: Number of points; count.

    Source:
        Niederreiter (1992), Random Number Generation and Quasi-Monte Carlo
        Methods, SIAM, chapter 3 (Kronecker sequences).
    """
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    spread: Floats = (0.5 + steps[:, None] * np.arange(1.0, points + 1)) % 1.0
    return spread


def share_chances(clusters: Sequence[tuple[int, int]], spread: Floats, *, alone: bool) -> Floats:
    """Return shares that are equally likely given the counts, one for each point.

    Jeffreys' posterior for independent units, the beta-binomial one for clusters.

    Args:
        clusters: Pairs (with the property, units), one per cluster; counts.
        spread: Fractions spread evenly over 0..1.
        alone: Whether units are independent.
    """
    counted = [(count, n) for count, n in clusters if n]
    count, n = sum(count for count, _ in counted), sum(n for _, n in counted)
    if alone or all(size == 1 for _, size in counted):
        return beta_chances(count, n - count, spread)
    posterior = clustered_share(counted)
    shares: Floats = np.sin(np.interp(spread, posterior.mass, posterior.edges)) ** 2
    return shares


def beta_chances(count: float, others: float, spread: Floats) -> Floats:
    """Return shares from Jeffreys' posterior; counts need not be integers.

    The inverse is computed at some fractions, densest near 0 and 1, and interpolated
    between them as an angle: practically exact except for the outermost points, and
    ten times as fast.
    """
    at = np.clip(np.sin(np.linspace(0.0, np.pi / 2, TABLE)) ** 2, 1e-6, 1.0 - 1e-6)
    angles = np.arcsin(np.sqrt(betaincinv(count + JEFFREYS, others + JEFFREYS, at)))
    shares: Floats = np.sin(np.interp(spread, at, angles)) ** 2
    return shares


def middle(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of the central interval of some equally likely values."""
    low, high = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)


Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Which dialogues to label next.

    Attributes:
        take: Number of further labels for each verdict; counts.
        dialogues: Indices of the dialogues, sampled at random within a verdict.
        width: Expected width of the corrected rate's interval; fraction.
        width_at_random: Expected width if the dialogues were drawn at random from all.
        width_now: Current width; 1 if there is no rate yet.
    """

    take: dict[str, int]
    dialogues: tuple[int, ...]
    width: float
    width_at_random: float
    width_now: float


def plan_labels(
    verdicts: Verdicts, labels: Labels, *, budget: int, seed: int = 0, confidence: float = 0.95
) -> LabelPlan:
    """Select the dialogues that people should label next for the most precise corrected rate.

    A verdict gets labels in proportion to its share of the dialogues and to the
    uncertainty of its rate of defects. Most go to the large stratum of passed
    dialogues, where a few missed defects weigh heavily: labelling alarms
    alone is the wrong design.

    Args:
        verdicts: The judge's verdict on every dialogue.
        labels: People's labels so far; None = no label.
        budget: Dialogues that people can label; count.
        seed: Seed of the sample within verdicts.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        Counts, dialogues and the widths to expect; clusters would widen them.

    Raises:
        InputError: If there is no dialogue, or fewer are left than `budget`.

    Example:
        >>> plan = plan_labels([True] * 100 + [False] * 900, [None] * 1000, budget=100)
        >>> plan.take["defect"] < plan.take["sound"], len(plan.dialogues)
        (True, 100)

    Source:
        Neyman (1934), Journal of the Royal Statistical Society 97:558-606.
    """
    check_confidence(confidence)
    budget = whole_count(budget, "budget")
    heaps = strata(verdicts, labels, None)
    free = np.array([part.judged - part.labelled for part in heaps.parts], dtype=np.int64)
    if budget > free.sum():
        message = f"`budget` must be at most the {int(free.sum())} dialogues without a label; got {budget}"
        raise InputError(message)
    take = _neyman(heaps, free, budget)
    at_random = budget * free / max(int(free.sum()), 1)
    seen = all(part.labelled for part in heaps.parts)
    return LabelPlan(
        take={part.verdict: int(count) for part, count in zip(heaps.parts, take, strict=True)},
        dialogues=_sampled(verdicts, labels, take, seed),
        width=_width(heaps, take.astype(np.float64), confidence),
        width_at_random=_width(heaps, at_random, confidence),
        width_now=_width(heaps, np.zeros(len(free)), confidence) if seen else 1.0,
    )


def _neyman(heaps: Strata, free: Whole, budget: int) -> Whole:
    """Return the number of labels for each verdict; each label goes where it reduces the variance most."""
    labelled = np.array([part.labelled for part in heaps.parts], dtype=np.float64)
    spread = heaps.shares * np.array([_expected_sd(part.defects, part.labelled) for part in heaps.parts])
    take = np.zeros(len(free), dtype=np.int64)
    for _ in range(budget):
        n = labelled + take + 2.0 * JEFFREYS
        gain = np.where(take < free, spread**2 / (n * (n + 1.0)), -1.0)
        # A verdict without any label leaves the rate unknown.
        first = np.flatnonzero((labelled + take == 0) & (free > 0))
        take[first[0] if len(first) else int(np.argmax(gain))] += 1
    return take


def _expected_sd(defects: int, labelled: int) -> float:
    """Return the mean of the root of p (1 - p) over Jeffreys' posterior of p."""
    a, b = defects + JEFFREYS, labelled - defects + JEFFREYS
    return float(np.exp(betaln(a + 0.5, b + 0.5) - betaln(a, b)))


def _width(heaps: Strata, more: Floats, confidence: float) -> float:
    """Return the expected width of the interval after further labels."""
    shares, _ = heaps.chances()
    k = len(heaps.parts)
    spread = lattice(2 * k - 1)[k - 1 :]
    defects = []
    for part, extra, points in zip(heaps.parts, more, spread, strict=True):
        rate = (part.defects + JEFFREYS) / (part.labelled + 2.0 * JEFFREYS)
        result = part.defects + extra * rate
        defects.append(beta_chances(result, part.labelled + extra - result, points))
    low, high = middle((shares * np.array(defects)).sum(axis=0), confidence)
    return high - low


def _sampled(verdicts: Sequence[Hashable], labels: Labels, take: Whole, seed: int) -> tuple[int, ...]:
    rng = np.random.default_rng(seed)
    sampled: list[int] = []
    for kind, count in zip(dict.fromkeys(verdicts), take.tolist(), strict=True):
        free = [
            position
            for position, (verdict, label) in enumerate(zip(verdicts, labels, strict=True))
            if verdict == kind and label is None
        ]
        sampled += sorted(int(position) for position in rng.choice(free, size=count, replace=False)) if count else []
    return tuple(sampled)
