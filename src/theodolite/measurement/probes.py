"""Bias probes of judges, the human ceiling, and the blinding of testers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import bdtr

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.leak import BlindingAssessment
from theodolite.domain.people.session import Session
from theodolite.measurement.clusters import ClusterIds, cluster_sizes, selected_clusters
from theodolite.measurement.fraction import mean_fraction
from theodolite.measurement.labels import NO_PAIR, Label, check_lengths, label_text
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.scores import correlation, mean_estimate

PAIRS_OF_ANNOTATORS: Final = "fraction of pairs of labels"

DIFFERENCE: Final = "difference of fractions of pairs of labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """How far the place of an option sways a judge.

    Attributes:
        consistent: Share of units on which it chose the same option in both orders.
        prefers_first: Among the others, share on which it chose what stood first
            both times; .5 is no preference.
        p_value: Probability of a preference as strong where there is none (sign
            test, two-sided); 1 where nothing flipped.
    """

    consistent: Estimate | Undefined
    prefers_first: Estimate | Undefined
    p_value: float


def position_bias(
    one_way: Sequence[str | None],
    other_way: Sequence[str | None],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    """Estimate how far the place of an option sways a judge that chose twice, in both orders.

    Args:
        one_way: What it chose of each unit in the first order: `first` or
            `second` for the place, anything else (a tie) for neither; None = missing.
        other_way: The same in the turned order.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Consistency, preference and its p-value.

    Raises:
        InputError: If the lengths differ or there is not one cluster a unit.

    Example:
        >>> bias = position_bias(["first"] * 8 + ["second"] * 2, ["second"] * 3 + ["first"] * 7)
        >>> bias.consistent.value, bias.prefers_first.value, bias.p_value
        (0.5, 1.0, 0.0625)

    Source:
        Shi et al. (2024), Judging the Judges: A Systematic Study of Position
        Bias in LLM-as-a-Judge, arXiv:2406.07791; sign test: Arbuthnott (1710),
        Philosophical Transactions 27:186-190.
    """
    check_lengths(one_way, other_way)
    kept = [x is not None and y is not None for x, y in zip(one_way, other_way, strict=True)]
    met = [(x, y) for x, y, keep in zip(one_way, other_way, kept, strict=True) if keep]
    ids = selected_clusters(clusters, kept)
    turned = {"first": "second", "second": "first"}
    same = [str(y) == turned.get(str(x), str(x)) for x, y in met]
    stuck = [x == y and x in turned for x, y in met]
    first = [x == "first" for (x, _), keep in zip(met, stuck, strict=True) if keep]
    n = len(first)
    return PositionBias(
        consistent=defect_rate(sum(same), len(same), confidence=confidence, clusters=cluster_sizes(same, ids)),
        prefers_first=defect_rate(
            sum(first), n, confidence=confidence, clusters=cluster_sizes(first, selected_clusters(ids, stuck))
        ),
        p_value=min(1.0, 2.0 * float(bdtr(min(sum(first), n - sum(first)), n, 0.5))) if n else 1.0,
    )


def length_bias(
    scores: Sequence[float | None],
    labels: Sequence[float | None],
    lengths: Sequence[float],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate whether a judge's errors go with the length of what it judges.

    Longer dialogues may really be better or worse; so it is the judge's score
    minus people's that is held against the length, not the score.

    Args:
        scores: The judge's score of each unit (a verdict as 1 and 0); None = missing.
        labels: People's score; likewise.
        lengths: Length of each unit, in any unit of length.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Spearman's correlation of error and length; above 0 the judge scores long
        ones too high. `Undefined` when nothing varies.

    Raises:
        InputError: If the lengths differ or there is not one cluster a unit.

    Example:
        >>> round(length_bias([1, 2, 3, 5, 5], [1, 2, 2, 3, 2], [10, 20, 30, 40, 50]).value, 3)
        0.975

    Source:
        Dubois et al. (2024), Length-Controlled AlpacaEval, arXiv:2404.04475 (the
        effect); correlation as for `correlation`.
    """
    if not len(scores) == len(labels) == len(lengths):
        message = (
            f"scores, labels and lengths must be of the same units; got {len(scores)}, {len(labels)}, {len(lengths)}"
        )
        raise InputError(message)
    errors = [None if x is None or y is None else x - y for x, y in zip(scores, labels, strict=True)]
    return correlation(errors, lengths, method="spearman", clusters=clusters, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """Agreement of a judge with people, and of people with each other.

    Attributes:
        people: Share of pairs of people that agree, on units with two people or more.
        judge: Share of pairs of the judge and a person that agree, on the same units.
        gap: The judge's share minus people's; above 0 the judge is nearer to
            people than they are to each other.
    """

    people: Estimate | Undefined
    judge: Estimate | Undefined
    gap: Estimate | Undefined


def human_ceiling(
    judge: Sequence[Label],
    people: Sequence[Sequence[Label]],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> HumanCeiling:
    """Estimate the agreement of a judge with people, and of people with each other.

    No judge can be expected to agree with people more than they do among
    themselves; an agreement of .80 is poor where people reach .95, and all
    there is where they reach .80.

    Args:
        judge: The judge's label of each unit; None or NaN = missing.
        people: shape (people, units); labels, likewise.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Three estimates, on units with the judge's label and two people's.

    Raises:
        InputError: If the lengths differ or there is not one cluster a unit.

    Example:
        >>> ceiling = human_ceiling(["a", "b", "a"], [["a", "b", "b"], ["a", "a", "b"]])
        >>> round(ceiling.people.value, 3), round(ceiling.judge.value, 3)
        (0.667, 0.5)

    Source:
        Calderon, Reichart, Dror (2025), The Alternative Annotator Test,
        arXiv:2501.10970 (people as the measure of a judge); intervals: Korn,
        Graubard (1998), Survey Methodology 24:193-201, and Student's t.
    """
    for person in people:
        check_lengths(judge, person)
    units = [
        (label_text(label), [text for row in people if (text := label_text(row[place])) is not None])
        for place, label in enumerate(judge)
    ]
    kept = [label is not None and len(texts) >= 2 for label, texts in units]
    met = [unit for unit, keep in zip(units, kept, strict=True) if keep]
    ids = selected_clusters(clusters, kept)
    among = [float(np.mean([x == y for x, y in combinations(texts, 2)])) for _, texts in met]
    beside = [float(np.mean([label == text for text in texts])) for label, texts in met]
    if not met:
        nothing = Undefined(reason=NO_PAIR, unit=DIALOGUES)
        return HumanCeiling(people=nothing, judge=nothing, gap=nothing)
    shares = [
        mean_fraction(values, clusters=ids, unit=PAIRS_OF_ANNOTATORS, confidence=confidence, otherwise=NO_PAIR)
        for values in (among, beside)
    ]
    gaps = np.array(beside) - np.array(among)
    return HumanCeiling(
        people=shares[0],
        judge=shares[1],
        gap=mean_estimate(gaps, clusters=ids, confidence=confidence, unit=DIFFERENCE),
    )


TESTERS: Final = "fraction of testers"
"""Unit of a leak."""

NOBODY_GUESSED: Final = "No tester has guessed."
"""Why a leak of nothing is undefined."""


def leak_rate(
    right: Sequence[bool], chances: Sequence[float], *, confidence: float = 0.95
) -> tuple[Estimate | Undefined, float | None]:
    """Estimate how often testers guess right, and how surprising that is if they only guess.

    Both are exact: the interval keeps its coverage however few testers there
    are, and the p-value adds up what so many right guesses or more weigh, each
    guess with the chance of its own number of options.

    Args:
        right: Whether each guess was right; one a tester, since a second guess by
            the same person often follows from the first by elimination.
        chances: Chance of being right by guessing alone, one a guess; fractions in (0, 1].
        confidence: Coverage; fraction in (0, 1).

    Returns:
        The share of right guesses (unit: fraction of testers), and the one-sided
        p-value against chance. `Undefined` and None where nobody guessed.

    Raises:
        InputError: If there is not one chance a guess, or one is no fraction.

    Example:
        >>> rate, p_value = leak_rate([True] * 8 + [False] * 2, [0.5] * 10)
        >>> rate.value, round(rate.low, 3), round(p_value, 4)
        (0.8, 0.444, 0.0547)

    Source:
        Clopper, Pearson (1934), Biometrika 26:404-413, doi:10.1093/biomet/26.4.404.
        Asking people to guess at the end: Bang, Ni, Davis (2004), Assessment of
        blinding in clinical trials, Controlled Clinical Trials 25:143-156.
        The sum of unequal chances is convolved term by term (Poisson binomial).
    """
    if len(right) != len(chances) or any(not 0 < chance <= 1 for chance in chances):
        message = f"`leak_rate` needs a chance above 0 and up to 1 for each guess; got {len(chances)} for {len(right)}"
        raise InputError(message)
    if not right:
        return Undefined(reason=NOBODY_GUESSED, unit=TESTERS, method="clopper-pearson"), None
    rate = defect_rate(sum(right), len(right), method="clopper-pearson", confidence=confidence)
    weights = np.ones(1)
    for chance in chances:
        weights = np.convolve(weights, [1.0 - chance, chance])
    return replace(rate, unit=TESTERS), float(min(weights[sum(right) :].sum(), 1.0))


def leaks_of(
    guesses: Sequence[BlindingGuess], sessions: Sequence[Session], *, confidence: float = 0.95
) -> tuple[BlindingAssessment, ...]:
    """Return how far testers of a study saw through the blinding: in all, and level by level.

    The first guess of each tester counts; later ones and "I do not know" are counted beside it.

    Args:
        guesses: What testers believe, the oldest first.
        sessions: All sessions of the study.
        confidence: Coverage of intervals; fraction in (0, 1).
    """
    known = {session.key: session for session in sessions}
    asked = [guess for guess in guesses if guess.session in known]
    levels = [level for level in Level if any(known[guess.session].level is level for guess in asked)]
    found = []
    for about in GuessedThing:
        for level in (None, *levels):
            mine = [g for g in asked if g.about is about and (level is None or known[g.session].level is level)]
            if mine:
                found.append(_leak(about, level, [(guess, known[guess.session]) for guess in mine], confidence))
    return tuple(found)


def _leak(
    about: GuessedThing, level: Level | None, asked: Sequence[tuple[BlindingGuess, Session]], confidence: float
) -> BlindingAssessment:
    first: dict[str, tuple[BlindingGuess, Session]] = {}
    for guess, session in asked:
        first.setdefault(session.participant, (guess, session))
    told = [(guess, session) for guess, session in first.values() if guess.guess]
    right = [guess.guess == _truth(about, session) for guess, session in told]
    chances = [1.0 / max(len(guess.options), 1) for guess, _ in told]
    rate, p_value = leak_rate(right, chances, confidence=confidence)
    return BlindingAssessment(
        about=about,
        level=level,
        rate=rate,
        chance=float(np.mean(chances)) if chances else 0.0,
        p_value=p_value,
        n_unknown=len(first) - len(told),
        n_repeated=len(asked) - len(first),
    )


def _truth(about: GuessedThing, session: Session) -> str:
    return session.application if about is GuessedThing.APPLICATION else session.level.value
