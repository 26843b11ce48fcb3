"""Votes of a judge that reads a dialogue several times: stability, and the number worth paying for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_LABEL, ONE_VOTE_EACH, TOO_FEW_VOTED
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.labels import ClusterIds, Label, cluster_sizes, label_text, scale_points, selected_clusters
from theodolite.measurement.proportion import DIALOGUES, defect_rate, mean_fraction

Votes = Sequence[Sequence[Label]]
"""One judge's votes on each unit, one for each call; None = no label."""

PAIRS_OF_VOTES: Final = "fraction of pairs of votes"
"""Unit of the flip rate."""


def flip_rate(votes: Votes, *, clusters: ClusterIds | None = None, confidence: float = 0.95) -> Estimate | Undefined:
    """Estimate how often a judge contradicts itself when asked again about the same dialogue.

    Args:
        votes: One judge's votes on each unit; None = no label. Units with fewer
            than two are left out.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

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
    answered = _answered(votes)
    selected = [len(texts) >= 2 for texts in answered]
    flips = [_apart(texts) for texts in answered if len(texts) >= 2]
    return mean_fraction(
        flips,
        clusters=selected_clusters(clusters, selected),
        unit=PAIRS_OF_VOTES,
        confidence=confidence,
        otherwise=ONE_VOTE_EACH,
    )


def vote_share(
    votes: Votes, label: Label, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the mean share of votes for a label, which is its frequency in single calls.

    This is the rate if every dialogue is judged once; the share of
    majorities is another quantity.

    Args:
        votes: One judge's votes on each unit; None = no label.
        label: The label.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

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
    answered, label_name = _answered(votes), label_text(label)
    shares = [texts.count(str(label_name)) / len(texts) for texts in answered if texts]
    ids = selected_clusters(clusters, [bool(texts) for texts in answered])
    return mean_fraction(shares, clusters=ids, unit=DIALOGUES, confidence=confidence, otherwise=NO_LABEL)


def majority_share(
    votes: Votes, label: Label, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of dialogues with a majority of votes for a label.

    Majorities pull a rate towards 0 or 1: a dialogue that one call in four
    flags is flagged by one in ten majorities of five votes. Compare `vote_share`.

    Args:
        votes: One judge's votes on each unit; None = no label. Units whose
            votes are tied have no majority and are left out.
        label: The label.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

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
    result = [_majority(texts) for texts in _answered(votes)]
    selected = [winner is not None for winner in result]
    flags = [winner == label_text(label) for winner in result if winner is not None]
    sizes = cluster_sizes(flags, selected_clusters(clusters, selected))
    return defect_rate(sum(flags), len(flags), confidence=confidence, clusters=sizes)


def retest_alpha(
    votes: Votes,
    *,
    categories: Sequence[Label],
    scale: AlphaScale = "nominal",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of a judge with itself beyond chance.

    Args:
        votes: One judge's votes on each unit, in the order they were given;
            None = no label.
        categories: The full scale in order.
        scale: Level of measurement, as for `krippendorff_alpha`.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

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
    position = {point: float(number) for number, point in enumerate(scale_points(categories))}
    answered = _answered(votes)
    strange = sorted({text for texts in answered for text in texts} - set(position))
    if strange:
        message = (
            f"`categories` must hold every label, used or not: {list(position)}; got {strange}. Give the full scale"
        )
        raise InputError(message)
    most = max((len(texts) for texts in answered), default=0)
    # Alpha does not depend on the order of votes, so gaps may be closed.
    rows = [
        [position[texts[turn]] if turn < len(texts) else math.nan for texts in answered] for turn in range(max(most, 2))
    ]
    return krippendorff_alpha(rows, scale=scale, clusters=clusters, confidence=confidence)


def _answered(votes: Votes) -> list[list[str]]:
    """Return the votes that are labels, as texts."""
    return [[text for vote in unit if (text := label_text(vote)) is not None] for unit in votes]


def _apart(texts: Sequence[str]) -> float:
    """Return the share of pairs of votes that differ."""
    n = len(texts)
    same = sum(times * (times - 1) for times in Counter(texts).values())
    return 1.0 - same / (n * (n - 1))


def _majority(texts: Sequence[str]) -> str | None:
    """Return the label with the most votes; None in a tie or without votes."""
    ranked = Counter(texts).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not tied else None


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesOrSamples:
    """The error of a rate with several votes per dialogue, and with the same calls spent on new dialogues.

    Attributes:
        units: Dialogues with votes; count.
        calls: Votes in all; count.
        between: Variance of dialogues' own shares of the label.
        within: Variance of single votes about their dialogue's share.
        error: Standard error of the rate from these votes; fraction.
        error_as_samples: Standard error if each call judged a dialogue of
            its own; fraction.
        best_votes: Votes per dialogue that make the rate most precise for the
            money; at least 1.
    """

    units: int
    calls: int
    between: float
    within: float
    error: float
    error_as_samples: float
    best_votes: float

    @property
    def samples_do_better(self) -> bool:
        """Whether more dialogues with fewer votes would give a more precise rate for the same calls."""
        return self.error_as_samples < self.error and self.best_votes < self.calls / self.units


def votes_or_samples(votes: Votes, label: Label, *, cost_of_dialogue: float = 0.0) -> VotesOrSamples | Undefined:
    """Compare votes with samples: would the same calls give a more precise rate on other dialogues?

    Votes remove the judge's noise from single labels, for triage and examples.
    The precision of a rate depends on differences between dialogues, which votes do not reduce.

    Args:
        votes: One judge's votes on each unit; None = no label.
        label: The label of the rate.
        cost_of_dialogue: Cost of one more dialogue, in calls of the judge;
            0 if dialogues exist already.

    Returns:
        The errors; `Undefined` if no unit has two votes or there is only one unit.

    Raises:
        InputError: If the cost is below 0.

    Example:
        >>> votes = [["yes", "no", "yes", "yes", "no"], ["no"] * 5, ["no", "no", "yes", "no", "no"], ["yes"] * 5]
        >>> compared = votes_or_samples(votes, "yes")
        >>> round(compared.error, 3), round(compared.error_as_samples, 3), compared.samples_do_better
        (0.222, 0.122, True)

    Source:
        Variance components: Searle, Casella, McCulloch (1992), Variance
        Components, section 3.6; best number:
        Cochran (1977), Sampling Techniques, 3rd ed., section 10.6.
    """
    if not cost_of_dialogue >= 0.0:
        message = f"`cost_of_dialogue` must be 0 or more calls; got {cost_of_dialogue!r}"
        raise InputError(message)
    label_name = label_text(label)
    flags = [[float(text == label_name) for vote in unit if (text := label_text(vote)) is not None] for unit in votes]
    units = [np.array(unit) for unit in flags if unit]
    sizes = np.array([len(unit) for unit in units], dtype=np.float64)
    calls = int(sizes.sum())
    if len(units) < 2:
        return Undefined(reason=TOO_FEW_VOTED, n=len(units))
    if calls == len(units):
        return Undefined(reason=ONE_VOTE_EACH, n=len(units))
    between, within = _components(units, sizes)
    price = math.sqrt(cost_of_dialogue * within / between) if between > 0.0 else sizes.mean()
    return VotesOrSamples(
        units=len(units),
        calls=calls,
        between=between,
        within=within,
        error=math.sqrt(float((between + within / sizes).sum())) / len(units),
        error_as_samples=math.sqrt((between + within) / calls),
        best_votes=max(float(price), 1.0),
    )


def _components(units: list[Floats], sizes: Floats) -> tuple[float, float]:
    """Return the variance between units and within them, by the analysis of variance."""
    n, calls = len(units), float(sizes.sum())
    means = np.array([unit.mean() for unit in units])
    overall = float(sizes @ means) / calls
    within = sum(float(((unit - unit.mean()) ** 2).sum()) for unit in units) / (calls - n)
    among = float(sizes @ (means - overall) ** 2) / (n - 1)
    usual_size = (calls - float(sizes @ sizes) / calls) / (n - 1)
    return max((among - within) / usual_size, 0.0), within


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingOutcome:
    """The value of a voting rule on a dialogue, given the judge's certainty.

    Attributes:
        right: Probability that the votes end with the judge's own usual label.
        tied: Probability that they end without a majority.
        calls: Expected number of votes; count.
    """

    right: float
    tied: float
    calls: float


def voting_outcome(share: float, *, most: int, lead: int | None = None, curtailed: bool = True) -> VotingOutcome:
    """Compute the value of a voting rule, exactly.

    Args:
        share: How often one call gives the judge's usual label; fraction.
        most: Maximum number of votes; count, at least 1.
        lead: Stop as soon as one label leads by this number of votes; None = never.
        curtailed: Whether to stop when the rest cannot change the majority.

    Returns:
        Probabilities and the number of votes to expect.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> outcome = voting_outcome(0.9, most=5)
        >>> round(outcome.right, 4), round(outcome.calls, 3)
        (0.9914, 3.319)

    Source:
        Wald (1945), Annals of Mathematical Statistics 16:117-186 (the lead); Feller (1968), An Introduction
        to Probability Theory, 3rd ed., volume 1, chapter 14 (gambler's ruin).
    """
    if not 0.0 <= share <= 1.0 or most < 1 or (lead is not None and lead < 1):
        message = (
            "`share` must be a fraction, `most` and `lead` votes of 1 or more;"
            f" got share={share!r}, most={most!r}, lead={lead!r}"
        )
        raise InputError(message)
    going = {(0, 0): 1.0}
    right = tied = calls = 0.0
    while going:
        further: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (ahead, behind), chance in going.items():
            calls += chance
            further[ahead + 1, behind] += chance * share
            further[ahead, behind + 1] += chance * (1.0 - share)
        done = {votes for votes in further if _is_over(*votes, most=most, lead=lead, curtailed=curtailed)}
        right += sum(further[votes] for votes in done if votes[0] > votes[1])
        tied += sum(further[votes] for votes in done if votes[0] == votes[1])
        going = {votes: chance for votes, chance in further.items() if votes not in done}
    return VotingOutcome(right=right, tied=tied, calls=calls)


def _is_over(ahead: int, behind: int, *, most: int, lead: int | None, curtailed: bool) -> bool:
    decided = curtailed and 2 * max(ahead, behind) > most
    return ahead + behind >= most or decided or (lead is not None and abs(ahead - behind) >= lead)
