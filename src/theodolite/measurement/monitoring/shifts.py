"""Shifts: where the instrument changed, and what moved at that line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import mean, median

from scipy.special import bdtrc

from theodolite.domain.monitoring.history import History, InstrumentChange, Score
from theodolite.measurement.monitoring.anchors import sign_test

FEWEST_MOVED = 8
"""Applications that must move at once before an instrument is suspected; count."""

MOST_FALSE = 1e-4
"""Probability from which moves of all applications one way are no accident; fraction."""

UNSTATED = "not stated"
"""Version of a part of the instrument that a history says nothing about."""


def instrument_changes(history: History) -> tuple[InstrumentChange, ...]:
    """Return where a part of the instrument changed, and how applications moved there.

    Declared changes are read off the scores' instruments. A change that nobody
    declared is suspected where at least 8 applications move at one moment, and
    either so one-sidedly, or so many of them beside what moves at other moments,
    that it would happen by accident once in 10,000 times: one application has
    its reasons, all of them together have the instrument's.

    Args:
        history: In order of time.

    Returns:
        The changes in order of time.
    """
    declared = tuple(_declared(history))
    lines = {change.position for change in declared}
    names = {plain_name(name) for name in history.columns.application.values}
    # Fewer applications can never move in such numbers, so that nobody looks.
    suspected = tuple(_suspected(history.scores, lines)) if len(names) >= FEWEST_MOVED else ()
    return tuple(sorted((*declared, *suspected), key=lambda change: change.position))


def _declared(history: History) -> Iterator[InstrumentChange]:
    known: dict[str, str] = {}
    pool, previous = history.columns.instruments, -1
    for place, code in enumerate(pool.codes):
        if code == previous:
            continue
        previous = code
        for part, version in pool.values[code].items():
            before = known.get(part)
            known[part] = version
            if before is not None and before != version:
                yield _change(history.scores, place, part, before, version)


def _change(scores: Sequence[Score], place: int, part: str, before: str, after: str) -> InstrumentChange:
    old = _level_by_application(_latest(scores[:place], part, before))
    new = _level_by_application(_first(scores[place:], part, after))
    return _moved(scores, place, part, (before, after), _moves(old, new), is_suspected=False)


def _latest(scores: Sequence[Score], part: str, version: str) -> list[Score]:
    """Return the scores of each application's latest batch under a version."""
    under = [s for s in scores if s.instruments.get(part, version) == version and not s.is_anchor]
    last = {score.application: _moment(score) for score in under}
    return [score for score in under if _moment(score) == last[score.application]]


def _first(scores: Sequence[Score], part: str, version: str) -> list[Score]:
    """Return the scores of each application's first batch under a version."""
    under = [s for s in scores if s.instruments.get(part, version) == version and not s.is_anchor]
    first: dict[str, str] = {}
    for score in under:
        first.setdefault(score.application, _moment(score))
    return [score for score in under if _moment(score) == first[score.application]]


def _moment(score: Score) -> str:
    return score.batch or (score.at.isoformat() if score.at else "")


def _suspected(scores: Sequence[Score], declared: set[int]) -> Iterator[InstrumentChange]:
    n_moved = n_common = 0
    candidates = []
    for (first, last), moves in _moments(scores):
        n_moved += _n_moved(moves)
        n_common += len(moves)
        if _n_moved(moves) >= FEWEST_MOVED:
            candidates.append(((first, last), moves))
    for (first, last), moves in candidates:
        moved = _n_moved(moves)
        is_near = any(first <= line <= last for line in declared)
        if is_near:
            continue
        usual = (n_moved - moved) / max(1, n_common - len(moves))
        change = _moved(scores, first, "instrument", (UNSTATED, UNSTATED), moves, is_suspected=True)
        many = 1.0 if usual >= 1.0 else float(bdtrc(moved - 1, len(moves), usual))
        p_value = min(change.p_value or 1.0, many)
        if p_value <= MOST_FALSE:
            yield replace(change, p_value=p_value)


def _moments(scores: Sequence[Score]) -> Iterator[tuple[tuple[int, int], list[float]]]:
    """Yield the first and last place of each moment, and how applications moved since they were scored before."""
    plain = ((place, score) for place, score in enumerate(scores) if not score.is_anchor and _moment(score))
    level: dict[str, float] = {}
    for _, group in groupby(plain, key=lambda placed: _moment(placed[1])):
        batch = list(group)
        now = _level_by_application([score for _, score in batch])
        yield (batch[0][0], batch[-1][0]), _moves(level, now)
        level |= now


def _n_moved(moves: Sequence[float]) -> int:
    return sum(move != 0 for move in moves)


def _level_by_application(scores: Sequence[Score]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for score in scores:
        if score.value is not None:
            values.setdefault(plain_name(score.application), []).append(score.value)
    return {application: mean(found) for application, found in values.items()}


def plain_name(application: str) -> str:
    """Return a name without case and marks, so that `GPT 4` and `GPT-4` are one."""
    return re.sub(r"[\W_]+", "", application).casefold()


def _moves(old: Mapping[str, float], new: Mapping[str, float]) -> list[float]:
    return [new[application] - old[application] for application in new if application in old]


def _moved(
    scores: Sequence[Score],
    place: int,
    part: str,
    versions: tuple[str, str],
    moves: Sequence[float],
    *,
    is_suspected: bool,
) -> InstrumentChange:
    n_lower, n_higher = sum(move < 0 for move in moves), sum(move > 0 for move in moves)
    p_value = min(1.0, 2.0 * sign_test(max(n_lower, n_higher), min(n_lower, n_higher)))
    return InstrumentChange(
        part=part,
        before=versions[0],
        after=versions[1],
        at=scores[place].at,
        position=place,
        n_lower=n_lower,
        n_higher=n_higher,
        n_equal=len(moves) - n_lower - n_higher,
        median_shift=median(moves) if moves else None,
        p_value=p_value if moves else None,
        is_suspected=is_suspected,
    )
