"""Bands: RELEVANCE's rule of thumb, with its holes closed and said so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from theodolite.domain.findings.order import Band

PRESET: Final = "relevance-2024"
"""Name of the published table for eight scores, as we read it."""

PUBLISHED_LENGTH: Final = 8
"""Scores that the published table is for; count."""

_ENTROPY_CUTS = (0.35, 0.65)
_ENTROPY_GAPS = ((0.3, 0.4), (0.6, 0.7))
_INVERSION_CUTS = (4.5, 9.5)
_SUBSEQUENCE_CUTS = (3.5, 5.5)
_MOST_INVERSIONS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """The bands of three metrics.

    Attributes:
        name: Which rule of thumb they are from.
        pen: Of the normalised permutation entropy.
        pen_in_gap: Whether the published table leaves that value out.
        cin: Of the inversions.
        lis: Of the longest increasing subsequence.
    """

    name: str
    pen: Band
    pen_in_gap: bool
    cin: Band
    lis: Band


def published_bands(pen_normalized: float, cin: int, lis: int, n: int) -> Bands:
    """Return where three metrics stand in RELEVANCE's table.

    The table reads PEN 0-.3, .4-.6, .7-1.0 for low, medium and high; CIN 0-4,
    5-9, 10-28; LIS 1-3, 4-5, 6-8. Its PEN ranges leave .3 to .4 and .6 to .7
    open, and its own example (.3869 normalised) falls into the first hole.
    Only normalised entropy with the holes closed in their middle, at .35 and
    .65, gives the class that the document's text describes; so does this.

    For other lengths the cuts are rescaled as fractions of the largest value.
    That is how the table would read, not what it would mean: noise alone has a
    "high" CIN in 86 % of sequences of 8 and in 99.99 % of 64. Use chance levels.

    Args:
        pen_normalized: Permutation entropy as a fraction of its largest value.
        cin: Inversions; count.
        lis: Longest strictly increasing subsequence; count.
        n: Scores; count, at least 2.

    Example:
        >>> bands = published_bands(0.386853, 10, 2, 8)
        >>> bands.pen.value, bands.pen_in_gap, bands.cin.value, bands.lis.value
        ('medium', True, 'high', 'low')

    Source:
        Microsoft Research (2024), RELEVANCE: Automatic evaluation framework for
        LLM responses, project page, its table for eight scores.
    """
    most = n * (n - 1) / 2.0
    scaled_cin = cin * _MOST_INVERSIONS / most if most else 0.0
    scaled_lis = lis * PUBLISHED_LENGTH / n
    return Bands(
        name=PRESET if n == PUBLISHED_LENGTH else f"{PRESET}, rescaled from 8 to {n} scores",
        pen=_band(pen_normalized, _ENTROPY_CUTS),
        pen_in_gap=any(low < pen_normalized < high for low, high in _ENTROPY_GAPS),
        cin=_band(scaled_cin, _INVERSION_CUTS),
        lis=_band(scaled_lis, _SUBSEQUENCE_CUTS),
    )


def _band(value: float, cuts: tuple[float, float]) -> Band:
    if value < cuts[0]:
        return Band.LOW
    return Band.MEDIUM if value < cuts[1] else Band.HIGH
