"""The vote of one judge: how several readings of the same dialogue become one label.

The defect is decided before the label. A scale of many points splits its votes:
readings of 5, 6, 7, 5, 6 agree on the defect `>= 4` although no point has a
majority, and the more severe a dialogue is, the more often that happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

from theodolite.domain.annotation import Outcome
from theodolite.domain.guideline import DefectRule
from theodolite.domain.instrument import Scale, ScaleKind, decimal_of

T = TypeVar("T", bound=Hashable)

VOTE_VERSION = 2
"""Number of the rule below; raised by hand when it changes, so that votes are taken again."""

Ballot = tuple[Outcome, str | None]
"""The result of one reading: an outcome, and the value if the question was answered."""


def decide_vote(ballots: Sequence[Ballot], scale: Scale, rules: Sequence[DefectRule] = ()) -> Ballot | None:
    """Return the result of a judge's vote on one question; None for a tie.

    1. The outcome with the most readings counts. All values together are one
       outcome, `answered`, and compete with `refused`, `unparseable` and so on.
    2. Each rule is decided by the majority of the values: defect or not. If that
       ties, the most frequent value decides; if two values tie as well, so does the vote.
    3. Among the values with these verdicts, the most frequent one is the label. If
       several tie, an ordered scale takes their median. Any other tie goes to the
       first point of the scale, provided that a rule has already decided the verdict.

    Args:
        ballots: Results of all readings, in order; at least one.
        scale: The scale of the question.
        rules: Defect rules that the question decides for this dialogue.
    """
    outcome = _most_frequent([outcome for outcome, _ in ballots])
    if outcome is not Outcome.ANSWERED:
        return (outcome, None) if outcome is not None else None
    values = [value for _, value in ballots if value is not None]
    verdicts = {value: tuple(_is_defect(rule, value, scale) for rule in rules) for value in dict.fromkeys(values)}
    decided = tuple(_most_frequent([verdicts[value][n] for value in values]) for n in range(len(rules)))
    if decided not in verdicts.values():
        leader = _most_frequent(values)
        return (Outcome.ANSWERED, leader) if leader is not None else None
    label = _label([value for value in values if verdicts[value] == decided], scale, is_decided=bool(rules))
    return (Outcome.ANSWERED, label) if label is not None else None


def _is_defect(rule: DefectRule, value: str, scale: Scale) -> bool:
    return scale.admits(value) and rule.is_defect(value, scale)


def _most_frequent(entries: Sequence[T]) -> T | None:
    """Return the entry that occurs most often; None where two occur equally often."""
    ranked = Counter(entries).most_common(2)
    is_tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return None if is_tied else ranked[0][0]


def _label(values: Sequence[str], scale: Scale, *, is_decided: bool) -> str | None:
    """Return the value that stands for readings with the same verdict."""
    leader = _most_frequent(values)
    if leader is not None:
        return leader
    counts = Counter(values)
    tied = [value for value in values if counts[value] == max(counts.values())]
    if scale.ordered or scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}:
        ranked = sorted(values, key=lambda value: _rank(value, scale))
        low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
        if low == high:
            return low
        tied = [value for value in values if value in {low, high}]
    return min(tied, key=lambda value: _rank(value, scale)) if is_decided else None


def _rank(value: str, scale: Scale) -> float:
    if scale.kind is ScaleKind.DECIMALS:
        return decimal_of(value) or 0.0
    return float(scale.categories.index(value)) if value in scale.categories else -1.0
