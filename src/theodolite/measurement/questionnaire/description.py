"""Description: what people answered, before anything is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, cluster_sizes, kept_clusters
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.pairs import Label, label_text, scale_points
from theodolite.measurement.proportion import defect_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDescription:
    """The answers to one question on an ordered scale.

    Attributes:
        counts: How many gave each point of the scale, in its order.
        n: Answers; count.
        missing: People who gave none; count.
        median: The point up to which half of the answers lie; None where there is none.
        lower_quartile: The point up to which a quarter lies; likewise.
        upper_quartile: The point up to which three quarters lie; likewise.
        top_two: Share of answers on the highest points: two, unless another number was asked for.
    """

    counts: dict[str, int]
    n: int
    missing: int
    median: str | None
    lower_quartile: str | None
    upper_quartile: str | None
    top_two: Estimate | Undefined


def describe_answers(
    answers: Sequence[Label],
    *,
    categories: Sequence[Label],
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
    top: int = 2,
) -> AnswerDescription:
    """Describe the answers to one question on an ordered scale.

    Quartiles are points of the scale, never between two of them: there is no
    answer between "agree" and "strongly agree".

    Args:
        answers: One a person; None or NaN = none given.
        categories: The full scale in order, used or not.
        clusters: The cluster of each answer, e.g. the person, where one gives
            several; None = answers are independent.
        confidence: Coverage of the interval; fraction in (0, 1).
        top: Highest points whose share is told; count. Short scales want fewer than two.

    Returns:
        Counts, quartiles and the share of the highest points.

    Raises:
        InputError: If an answer is not on the scale.

    Example:
        >>> found = describe_answers([1, 4, 4, 5, None], categories=range(1, 6))
        >>> found.median, found.lower_quartile, found.upper_quartile, found.missing, found.top_two.value
        ('4', '1', '4', 1, 0.75)

    Source:
        Quartiles by the inverse of the distribution, definition 1 of Hyndman,
        Fan (1996), The American Statistician 50:361-365.
    """
    check_confidence(confidence)
    points = scale_points(categories)
    texts = [label_text(answer) for answer in answers]
    strange = sorted({text for text in texts if text is not None} - set(points))
    if strange:
        message = f"`categories` must hold every answer: {list(points)}; got {strange}. Give the full scale"
        raise InputError(message)
    given = [text for text in texts if text is not None]
    counts = {point: given.count(point) for point in points}
    is_top = [text in points[-top:] for text in given]
    ids = kept_clusters(clusters, [text is not None for text in texts])
    return AnswerDescription(
        counts=counts,
        n=len(given),
        missing=len(texts) - len(given),
        median=_point(counts, len(given), 0.5),
        lower_quartile=_point(counts, len(given), 0.25),
        upper_quartile=_point(counts, len(given), 0.75),
        top_two=defect_rate(sum(is_top), len(is_top), confidence=confidence, clusters=cluster_sizes(is_top, ids)),
    )


def _point(counts: dict[str, int], n: int, share: float) -> str | None:
    """Return the first point up to which at least this share of the answers lies."""
    seen = 0
    for point, count in counts.items():
        seen += count
        if n and seen >= share * n:
            return point
    return None
