"""Anchors: a frozen set that is judged again each time, so that a judge's drift shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy.special import bdtrc

from theodolite.domain.findings.order import RankingAgreement
from theodolite.domain.monitoring.history import History, Score
from theodolite.domain.monitoring.watch import AnchorCheck
from theodolite.measurement.ranking import ranking_agreement

SPANS = (1, 2, 4)
"""Latest sittings that are held against as many first ones; counts."""

TESTS_PER_SITTING = 2 * len(SPANS)
"""Tests made at each sitting: for each span, whether scores moved, and whether they moved away from people's."""

Placed = tuple[int, Score]
"""A score with its place in the history."""


def sign_test(n_up: int, n_down: int) -> float:
    """Return the probability of so many ups, or more, if ups and downs were equally likely.

    Exact, P(X >= n_up) for X binomial with n_up + n_down trials; 1 where nothing moved.

    Example:
        >>> round(sign_test(9, 1), 5)
        0.01074

    Source:
        Dixon, Mood (1946), The statistical sign test, Journal of the American
        Statistical Association 41:557-566.
    """
    moved = n_up + n_down
    return 1.0 if n_up == 0 else float(bdtrc(n_up - 1, moved, 0.5))


def anchor_checks(history: History, arl: float) -> tuple[AnchorCheck, ...]:
    """Compare the latest sittings on the anchors with the first ones, and with people.

    The application does not enter: what moves here is the judge. A judge that
    did not change would as likely have given the latest scores of an anchor
    first and the first ones now, so each anchor moves up as likely as down, and
    nearer to people's score as likely as away from it: the sign tests are exact,
    for one sitting against the first as for the last four against the first
    four. A sitting of m anchors alarms falsely with a probability of m / (2 *
    `arl`) at most, shared by its tests.

    Args:
        history: With anchors among its scores; a batch is one sitting on them.
        arl: Scores between two false alarms; count.

    Returns:
        One check for each sitting after the first, in order of time.
    """
    sittings = [
        _Sitting(last=batch[-1], scores={score.item: score for _, score in batch}) for batch in _batches(history)
    ]
    return tuple(_check(sittings[: end + 1], arl) for end in range(1, len(sittings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sitting:
    """All anchors that were scored together, by item."""

    last: Placed
    scores: dict[str, Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """How anchors moved from the first sittings to the latest ones; counts."""

    span: int
    n: int
    n_lower: int
    n_higher: int
    n_nearer: int
    n_farther: int

    @property
    def p_shift(self) -> float:
        return min(1.0, 2.0 * sign_test(max(self.n_higher, self.n_lower), min(self.n_higher, self.n_lower)))

    @property
    def p_farther(self) -> float:
        return sign_test(self.n_farther, self.n_nearer)


def _batches(history: History) -> Iterator[list[Placed]]:
    """Yield the anchors of each sitting, in order of time.

    Without named batches a sitting ends where an anchor comes up again.
    """
    current: list[Placed] = []
    seen: set[str] = set()
    for place in history.columns.anchors():
        score = history.scores[place]
        if score.is_repeat or score.value is None:
            continue
        if current and (score.batch != current[-1][1].batch or score.item in seen):
            yield current
            current, seen = [], set()
        current.append((place, score))
        seen.add(score.item)
    if current:
        yield current


def _check(sittings: Sequence[_Sitting], arl: float) -> AnchorCheck:
    tried = [_anchor_moves(sittings, span) for span in SPANS if 2 * span <= len(sittings)]
    moves = min(tried, key=lambda found: min(found.p_shift, found.p_farther))
    place, last = sittings[-1].last
    return AnchorCheck(
        batch=last.batch,
        position=place,
        at=last.at,
        span=moves.span,
        n=moves.n,
        n_lower=moves.n_lower,
        n_higher=moves.n_higher,
        n_nearer=moves.n_nearer,
        n_farther=moves.n_farther,
        p_shift=moves.p_shift,
        p_farther=moves.p_farther,
        ranking=_ranking(list(sittings[-1].scores.values())),
        is_drift=min(moves.p_shift, moves.p_farther) <= moves.n / (2.0 * arl * TESTS_PER_SITTING),
    )


def _anchor_moves(sittings: Sequence[_Sitting], span: int) -> _Moves:
    blocks = sittings[:span], sittings[-span:]
    items = [item for item in blocks[0][0].scores if all(item in one.scores for block in blocks for one in block)]
    pairs = [(_total(blocks[0], item, None), _total(blocks[1], item, None)) for item in items]
    people = [(item, human) for item in items if (human := blocks[0][0].scores[item].human) is not None]
    errors = [(_total(blocks[0], item, human), _total(blocks[1], item, human)) for item, human in people]
    return _Moves(
        span=span,
        n=len(items),
        n_lower=sum(now < then for then, now in pairs),
        n_higher=sum(now > then for then, now in pairs),
        n_nearer=sum(now < then for then, now in errors),
        n_farther=sum(now > then for then, now in errors),
    )


def _total(block: Sequence[_Sitting], item: str, human: float | None) -> float:
    """Return the sum of an anchor's scores in some sittings, or of their distances from people's score."""
    values = [value for sitting in block if (value := sitting.scores[item].value) is not None]
    return sum(values) if human is None else sum(abs(value - human) for value in values)


def _ranking(scores: Sequence[Score]) -> RankingAgreement | None:
    known = [(score.human, score.value) for score in scores if score.human is not None and score.value is not None]
    if len(known) < 3:
        return None
    return ranking_agreement([human for human, _ in known], [value for _, value in known])
