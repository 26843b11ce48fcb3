"""Schema tallies: whether endpoints took the schemas that answers were to keep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTally:
    """How an annotator's answers were asked for, where the request had an answer schema.

    Attributes:
        annotator: Name of the annotator.
        sent: Replies whose endpoint took the schema; count.
        refused: Replies whose endpoint takes none, asked for in words alone; count.
        off: Replies for which the study says that none is to be sent; count.
    """

    annotator: str
    sent: int = 0
    refused: int = 0
    off: int = 0
