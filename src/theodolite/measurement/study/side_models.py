"""Models of sides: how the odds of a higher answer differ between sides, when every answer counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.responses import SideModel
from theodolite.domain.instrument import Question
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.measurement.questionnaire.ordinal import OrdinalFit, odds_by_threshold, ordinal_model
from theodolite.measurement.study.responses import answer_value

FEWEST_PEOPLE: Final = 10
"""Testers below whom no model is made: its intervals would be too narrow; count."""

UNIT: Final = "ratio of odds of a higher answer"
"""What a model's numbers are."""

Traits = Mapping[str, Callable[[QuestionnaireResponse], str]]
"""From what responses differ in besides their side, such as the scenario, to its value for one of them."""


def side_model(
    question: Question,
    responses: Sequence[QuestionnaireResponse],
    side_of: Callable[[QuestionnaireResponse], str],
    held_equal: Traits | None = None,
) -> SideModel | Undefined:
    """Model the answers to a question by their sides, with a tendency of each tester of their own.

    The tests of `compare_sides` let each tester count once on a side, and no more be
    held equal. Here every answer counts: a tester's own come from one tendency, and
    what else differs, such as the scenario, is held equal. In return it assumes that a
    side moves the odds alike all along the scale, which is looked at and told.

    Args:
        question: One with an order.
        responses: That were handed in to its questionnaire.
        side_of: The side of a response; empty for none, which leaves it out.
        held_equal: What else may move the answers.

    Returns:
        Ratios of odds against the first side by name, with Wald's intervals; `Undefined`
        with one side alone, fewer than ten testers, or a side that settles the answers.

    Source:
        `ordinal_model`, `odds_by_threshold`.
    """
    about = [one for one in responses if side_of(one) and answer_value(one, question) is not None]
    people = [one.participant for one in about]
    sides = sorted({side_of(one) for one in about})
    if len(sides) < 2:
        return Undefined(reason="Answers about one side alone.", n=len(about), unit=UNIT)
    if len(set(people)) < FEWEST_PEOPLE:
        reason = f"Fewer than {FEWEST_PEOPLE} testers: a model would claim to know more than they tell."
        return Undefined(reason=reason, n=len(about), unit=UNIT)
    factors = dict(_factors("", [side_of(one) for one in about]))
    equal = {name: trait for name, trait in (held_equal or {}).items() if len({trait(one) for one in about}) > 1}
    for name, trait in equal.items():
        factors |= dict(_factors(f"{name} ", [trait(one) for one in about]))
    answers, points = [answer_value(one, question) for one in about], question.scale.categories
    repeats = people if len(set(people)) < len(people) else None
    fit = ordinal_model(answers, factors, categories=points, people=repeats)
    if isinstance(fit, Undefined):
        return fit
    by_point = odds_by_threshold(answers, factors, categories=points)
    return SideModel(
        against=sides[0],
        odds={side: _ratio(fit.coefficients[side]) for side in sides[1:]},
        held_equal=tuple(equal),
        n=fit.n,
        n_people=len(set(people)),
        is_even=all(_is_even(side, list(by_point.values())) for side in sides[1:]),
    )


def _factors(before: str, values: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield for every value but the first one whether a response has it."""
    for value in sorted(set(values))[1:]:
        yield f"{before}{value}", [float(one == value) for one in values]


def _ratio(found: Estimate) -> Estimate:
    """Return log odds as a ratio of odds."""
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return replace(found, value=math.exp(found.value), low=low, high=high, unit=UNIT)


def _is_even(side: str, fits: Sequence[OrdinalFit | Undefined]) -> bool:
    """Tell whether the effects of a side at all points of the scale have intervals that meet."""
    found = [fit.coefficients[side] for fit in fits if isinstance(fit, OrdinalFit)]
    ends = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    return not ends or max(low for low, _ in ends) <= min(high for _, high in ends)
