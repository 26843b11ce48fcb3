"""What people do about answers in own words, one small file for each noun."""

from theodolite.store.models.coding.coding import (
    CodingCodeRow,
    CodingResolutionRow,
    CodingRow,
    CodingTalkerRow,
    ResolvedCodeRow,
)
from theodolite.store.models.coding.release import QuoteReleaseRow, QuoteStretchRow

__all__ = [
    "CodingCodeRow",
    "CodingResolutionRow",
    "CodingRow",
    "CodingTalkerRow",
    "QuoteReleaseRow",
    "QuoteStretchRow",
    "ResolvedCodeRow",
]
