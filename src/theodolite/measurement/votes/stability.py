"""Stability: flips, shares and test-retest agreement of one judge's votes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.clusters import ClusterIds, cluster_sizes, kept_clusters
from theodolite.measurement.fraction import mean_fraction
from theodolite.measurement.pairs import Label, label_text, scale_points
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED, defect_rate

Votes = Sequence[Sequence[Label]]
"""What one judge said of each unit, every time it was asked; None = it gave no label."""

PAIRS_OF_VOTES: Final = "fraction of pairs of votes"
"""Unit of the flip rate."""

ASKED_ONCE: Final = "No dialogue has two votes of the judge, so nothing tells whether it would say the same again."
"""Why stability is undefined for a judge that was asked once."""


def flip_rate(votes: Votes, *, clusters: ClusterIds | None = None, confidence: float = 0.95) -> Estimate | Undefined:
    """Estimate how often a judge contradicts itself when asked again about the same dialogue.

    Args:
        votes: One judge's votes on each unit; None = no label. Units with fewer
            than two are left out.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        The mean over units of the share of pairs of votes that differ; n counts
        the units with two votes or more. `Undefined` when there is none.

    Raises:
        InputError: If there is not one cluster a unit.

    Example:
        >>> round(flip_rate([["yes", "yes", "no"], ["no", "no", "no"]]).value, 3)
        0.333

    Source:
        One minus the observed agreement of Fleiss (1971), Psychological
        Bulletin 76:378-382, doi:10.1037/h0031619, with votes for annotators.
    """
    given = _given(votes)
    kept = [len(texts) >= 2 for texts in given]
    flips = [_apart(texts) for texts in given if len(texts) >= 2]
    return mean_fraction(
        flips, clusters=kept_clusters(clusters, kept), unit=PAIRS_OF_VOTES, confidence=confidence, otherwise=ASKED_ONCE
    )


def vote_share(
    votes: Votes, label: Label, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the mean share of votes for a label: how often one call says it.

    This is what a rate means when every dialogue is judged once; the share of
    majorities is another number.

    Args:
        votes: One judge's votes on each unit; None = no label.
        label: The label.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues; `Undefined` when no unit has a vote.

    Raises:
        InputError: If there is not one cluster a unit.

    Example:
        >>> vote_share([["yes", "yes", "no", "no"], ["no"]], "yes").value
        0.25

    Source:
        Korn, Graubard (1998), Survey Methodology 24:193-201 (interval).
    """
    given, wanted = _given(votes), label_text(label)
    shares = [texts.count(str(wanted)) / len(texts) for texts in given if texts]
    ids = kept_clusters(clusters, [bool(texts) for texts in given])
    return mean_fraction(shares, clusters=ids, unit=DIALOGUES, confidence=confidence, otherwise=NOTHING_LABELLED)


def majority_share(
    votes: Votes, label: Label, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of dialogues of which most votes are for a label.

    Majorities draw a rate towards 0 or 1: a dialogue that one call in four
    flags is flagged by one majority of five in ten. Compare `vote_share`.

    Args:
        votes: One judge's votes on each unit; None = no label. Units whose
            votes are tied have no majority and are left out.
        label: The label.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, the interval of `defect_rate`; `Undefined`
        when no unit has a majority.

    Raises:
        InputError: If there is not one cluster a unit.

    Example:
        >>> share = majority_share([["yes", "yes", "no"], ["no"], ["yes", "no"]], "yes")
        >>> share.count, share.n
        (1, 2)

    Source:
        As for `defect_rate`; the change of what is estimated: Condorcet's jury
        theorem, e.g. Grofman, Owen, Feld (1983), Theory and Decision 15:261-278.
    """
    found = [_majority(texts) for texts in _given(votes)]
    kept = [winner is not None for winner in found]
    flags = [winner == label_text(label) for winner in found if winner is not None]
    sizes = cluster_sizes(flags, kept_clusters(clusters, kept))
    return defect_rate(sum(flags), len(flags), confidence=confidence, clusters=sizes)


def retest_alpha(
    votes: Votes,
    *,
    categories: Sequence[Label],
    scale: AlphaScale = "nominal",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate how far a judge agrees with itself beyond chance.

    Args:
        votes: One judge's votes on each unit, in the order they were given;
            None = no label.
        categories: The full scale in order.
        scale: Level of measurement, as for `krippendorff_alpha`.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Krippendorff's alpha with votes for annotators. `Undefined` when no unit
        has two votes or one label only occurs.

    Raises:
        InputError: If a label is not on the scale or there is not one cluster a unit.

    Example:
        >>> votes = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]
        >>> round(retest_alpha(votes, categories=["a", "b"]).value, 3)
        0.533

    Source:
        Krippendorff (2011), https://repository.upenn.edu/asc_papers/43; retest:
        Krippendorff (2018), Content Analysis, 4th ed., chapter 12 (stability).
    """
    place = {point: float(number) for number, point in enumerate(scale_points(categories))}
    given = _given(votes)
    strange = sorted({text for texts in given for text in texts} - set(place))
    if strange:
        message = f"`categories` must hold every label, used or not: {list(place)}; got {strange}. Give the full scale"
        raise InputError(message)
    most = max((len(texts) for texts in given), default=0)
    # Alpha does not ask which vote came first, so gaps may be closed up.
    rows = [[place[texts[turn]] if turn < len(texts) else math.nan for texts in given] for turn in range(max(most, 2))]
    return krippendorff_alpha(rows, scale=scale, clusters=clusters, confidence=confidence)


def _given(votes: Votes) -> list[list[str]]:
    """Return the votes that are labels, as texts."""
    return [[text for vote in unit if (text := label_text(vote)) is not None] for unit in votes]


def _apart(texts: Sequence[str]) -> float:
    """Return the share of pairs of votes that differ."""
    n = len(texts)
    same = sum(times * (times - 1) for times in Counter(texts).values())
    return 1.0 - same / (n * (n - 1))


def _majority(texts: Sequence[str]) -> str | None:
    """Return the label with the most votes; None where two have as many, or none has any."""
    ranked = Counter(texts).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not tied else None
