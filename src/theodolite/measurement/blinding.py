"""Blinding: whether testers guess what they are kept from knowing more often than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.leak import Leak
from theodolite.domain.people.session import Session
from theodolite.measurement.proportion import defect_rate

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
        confidence: Coverage wanted; fraction in (0, 1).

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
) -> tuple[Leak, ...]:
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
) -> Leak:
    first: dict[str, tuple[BlindingGuess, Session]] = {}
    for guess, session in asked:
        first.setdefault(session.participant, (guess, session))
    told = [(guess, session) for guess, session in first.values() if guess.guess]
    right = [guess.guess == _truth(about, session) for guess, session in told]
    chances = [1.0 / max(len(guess.options), 1) for guess, _ in told]
    rate, p_value = leak_rate(right, chances, confidence=confidence)
    return Leak(
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
