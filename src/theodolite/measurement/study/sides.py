"""Sides: whether answers differ between applications, scenarios, levels or groups, by the tests that people expect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Final

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.responses import AnswerComparison, AnswerSide, SidePair
from theodolite.domain.findings.significance import Significance
from theodolite.domain.instrument import Question
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.measurement.comparison.multiplicity import Adjustment, adjust_p_values
from theodolite.measurement.questionnaire.groups import dunn, friedman, kruskal_wallis
from theodolite.measurement.questionnaire.ranks import brunner_munzel_test, signed_rank_test, superiority
from theodolite.measurement.study.responses import answer_spread, answer_value, has_order
from theodolite.measurement.study.risk_groups import FEWEST

FEWEST_WITHIN: Final = 3
"""Testers who answered on every side from whom on these alone are compared with themselves; count."""

SideOf = Callable[[QuestionnaireResponse], str]
"""From a response to the name of its side; empty for none."""

_People = Mapping[str, Mapping[str, float]]
"""Side to tester to the mean place of their answers on the scale."""


def compare_sides(
    questions: Sequence[Question],
    responses: Sequence[QuestionnaireResponse],
    side_of: SideOf,
    *,
    small_are_withheld: bool,
    adjustment: Adjustment = "holm",
) -> tuple[AnswerComparison, ...]:
    """Compare the answers to some questions between sides, each tester counting once on a side.

    Where three testers or more, and half of all at least, answered on every side, they are
    compared with themselves: Wilcoxon's signed ranks for two sides, Friedman's
    test for more. Otherwise each tester stands on one side alone, the smallest of theirs:
    Brunner and Munzel's test for two sides, Kruskal and Wallis's with Dunn's for
    more. Several answers of a tester on one side enter by their mean place on the scale.

    Args:
        questions: Of one questionnaire; those without order are described, not tested.
        responses: That were handed in to it.
        side_of: The side of a response.
        small_are_withheld: Whether sides of fewer than five testers are counted and
            neither described nor tested; for groups of people.
        adjustment: How p-values are adjusted, for all questions and for all pairs of one.

    Source:
        `signed_rank_test`, `friedman`, `brunner_munzel_test`, `kruskal_wallis`, `dunn`, `adjust_p_values`.
    """
    found = [_compared(question, responses, side_of, small_are_withheld, adjustment) for question in questions]
    tests = [one.test for one in found if isinstance(one.test, Significance)]
    adjusted = iter(adjust_p_values([test.p_value for test in tests], method=adjustment))
    return tuple(
        replace(one, adjusted_p_value=next(adjusted)) if isinstance(one.test, Significance) else one for one in found
    )


def _compared(
    question: Question,
    responses: Sequence[QuestionnaireResponse],
    side_of: SideOf,
    small_are_withheld: bool,  # noqa: FBT001  # a plain hand-over of the caller's choice
    adjustment: Adjustment,
) -> AnswerComparison:
    by_side: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
    for one in responses:
        by_side[side_of(one)].append(one)
    sides = tuple(
        _side(question, name, about, least=FEWEST if small_are_withheld else 1)
        for name, about in sorted(by_side.items())
        if name
    )
    shown = [side.name for side in sides if side.spread is not None]
    plain = AnswerComparison(question=question, sides=sides)
    if not has_order(question) or len(shown) < 2:
        return plain
    people = {name: _places(question, by_side[name]) for name in shown}
    both = set.intersection(*(set(found) for found in people.values()))
    everybody = set().union(*people.values())
    if len(both) >= FEWEST_WITHIN and 2 * len(both) >= len(everybody):
        return _within(plain, {name: {who: found[who] for who in both} for name, found in people.items()}, adjustment)
    return _between(plain, _parted(people), adjustment)


def _side(question: Question, name: str, about: Sequence[QuestionnaireResponse], *, least: int) -> AnswerSide:
    n_people = len({one.participant for one in about})
    return AnswerSide(
        name=name, n_people=n_people, spread=answer_spread(question, about) if n_people >= least else None
    )


def _places(question: Question, about: Sequence[QuestionnaireResponse]) -> dict[str, float]:
    """Return the mean place of each tester's answers on the scale."""
    points, by_person = question.scale.categories, defaultdict[str, list[float]](list)
    for one in about:
        value = answer_value(one, question)
        if value is not None:
            by_person[one.participant].append(float(points.index(value)))
    return {person: fmean(places) for person, places in by_person.items()}


def _parted(people: _People) -> dict[str, list[float]]:
    """Return the places by side, each tester on one side alone: the smallest of those they answered on."""
    taken: set[str] = set()
    parts: dict[str, list[float]] = {}
    sizes = sorted(people, key=lambda name: len(people[name]))
    for name in sizes:
        parts[name] = [place for who, place in sorted(people[name].items()) if who not in taken]
        taken |= set(people[name])
    return {name: parts[name] for name in people}


def _within(plain: AnswerComparison, people: _People, adjustment: Adjustment) -> AnswerComparison:
    names, who = list(people), sorted(next(iter(people.values())))
    columns = {name: [people[name][person] for person in who] for name in names}
    if len(names) == 2:
        test: Significance | Undefined = signed_rank_test(*columns.values())
        return replace(plain, is_within=True, test=test)
    pairs = tuple(
        SidePair(first=first, second=second, test=signed_rank_test(columns[first], columns[second]))
        for first, second in combinations(names, 2)
    )
    rows = [[columns[name][at] for name in names] for at in range(len(who))]
    return replace(plain, is_within=True, test=friedman(rows), pairs=_adjusted_pairs(pairs, adjustment))


def _between(plain: AnswerComparison, parts: Mapping[str, Sequence[float]], adjustment: Adjustment) -> AnswerComparison:
    if len(parts) == 2:
        first, second = parts.values()
        return replace(plain, test=brunner_munzel_test(first, second), effect=superiority(first, second))
    pairs = tuple(
        SidePair(
            first=one.first,
            second=one.second,
            test=one.test,
            effect=superiority(parts[one.first], parts[one.second]),
            adjusted_p_value=one.adjusted_p_value,
        )
        for one in dunn(parts, adjustment=adjustment)
    )
    return replace(plain, test=kruskal_wallis(parts), pairs=pairs)


def _adjusted_pairs(pairs: Sequence[SidePair], adjustment: Adjustment) -> tuple[SidePair, ...]:
    tests = [one.test for one in pairs if isinstance(one.test, Significance)]
    adjusted = iter(adjust_p_values([test.p_value for test in tests], method=adjustment))
    return tuple(
        replace(one, adjusted_p_value=next(adjusted)) if isinstance(one.test, Significance) else one for one in pairs
    )
