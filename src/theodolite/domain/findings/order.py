"""Order metrics: what a sequence of scores says by the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from theodolite.domain.findings.number import Estimate, Undefined

FEWEST_SCORES: Final = 8
"""Scores from which order metrics are told; count. The published table is for eight, and fewer show chance alone."""


class Band(StrEnum):
    """Where a value stands in a published rule of thumb."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What a metric would be if the same scores came in random order.

    Attributes:
        mean: Mean over all orders; in the metric's unit.
        sd: Standard deviation over all orders; in the metric's unit.
        at_most: Share of orders whose value is as low as the one found, or lower.
        at_least: Share of orders whose value is as high as the one found, or higher.
        method: How this was computed.
    """

    mean: float
    sd: float
    at_most: float
    at_least: float
    method: str

    @property
    def p_value(self) -> float:
        """Probability of a value as far from chance as this one, to either side; fraction."""
        return min(1.0, 2.0 * min(self.at_most, self.at_least))

    def verdict(self, confidence: float = 0.95) -> str:
        """Return `below chance`, `above chance` or `like chance`, by a test on both sides."""
        tail = (1.0 - confidence) / 2.0
        if self.at_most <= tail:
            return "below chance"
        return "above chance" if self.at_least <= tail else "like chance"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderValue:
    """One order metric of one sequence.

    Attributes:
        value: The metric, in its own unit.
        band: Where it stands in the rule of thumb; None where that says nothing.
        in_gap: Whether it lies where the published table has a hole, so that
            the band rests on our closing it.
        chance: What random order would bring, or why that cannot be told.
    """

    value: float
    band: Band | None
    in_gap: bool
    chance: Chance | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProfile:
    """What RELEVANCE says of one sequence of scores, with what its metrics cannot see.

    Attributes:
        n: Scores; count.
        n_missing: Places without a score, left out; count.
        order: Scores in a pattern; count.
        delay: Step between them; count.
        pen: Permutation entropy, equal scores read as rising; nats.
        pen_normalized: The same as a fraction of its largest value.
        pen_weak: Permutation entropy with patterns of their own for equal scores; nats.
        cin: Inversions; count.
        lis: Longest strictly increasing subsequence; count.
        lnds: Longest subsequence that does not fall; count.
        level: Mean score; in points of the scale.
        defect_share: Share of scores that are defects, where a rule was given.
        tied_patterns: Share of patterns that hold equal scores; fraction.
        bands: Name of the rule of thumb that the bands are from.
        notes: What these numbers cannot tell, one sentence each.
    """

    n: int
    n_missing: int
    order: int
    delay: int
    pen: OrderValue
    pen_normalized: float
    pen_weak: float
    cin: OrderValue
    lis: OrderValue
    lnds: OrderValue
    level: float
    defect_share: Estimate | Undefined
    tied_patterns: float
    bands: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingAgreement:
    """How far a judge puts units into the order that people put them in.

    Attributes:
        n: Units that both scored; count.
        n_missing: Units that one of them left out; count.
        pen: Permutation entropy of the judge's scores in people's order; nats.
        pen_all_triples: The same over all triples, neighbours or not; nats.
        cin: Pairs that the two put in opposite order; count.
        lis: Units in the longest chain that rises for both; count.
        tau: Kendall's tau-b, or why there is none.
        spearman: Spearman's rho, or why there is none.
        opposed_pairs: CIN as an estimate: share of all pairs, with its interval.
        common_chain: LIS as an estimate: length expected among as many units, with its interval.
        chance_cin: What an unrelated judge would reach.
        chance_lis: The same for the longest chain.
    """

    n: int
    n_missing: int
    pen: float
    pen_all_triples: float
    cin: int
    lis: int
    tau: Estimate | Undefined
    spearman: Estimate | Undefined
    opposed_pairs: Estimate | Undefined
    common_chain: Estimate
    chance_cin: Chance | Undefined
    chance_lis: Chance | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingWindows:
    """Metrics of the rolling windows of one stretch.

    Attributes:
        positions: Place of each window's last score in the whole history.
        level: Mean score; points of the scale.
        defect_share: Share of defects; fractions, empty where no rule says what a defect is.
        pen: Permutation entropy, normalised; fractions.
        cin: Inversions; counts.
        lis: Longest increasing subsequence; counts.
        lnds: Longest subsequence that does not fall; counts.
    """

    positions: Sequence[int] = ()
    level: Sequence[float] = ()
    defect_share: Sequence[float] = ()
    pen: Sequence[float] = ()
    cin: Sequence[int] = ()
    lis: Sequence[int] = ()
    lnds: Sequence[int] = ()
