"""Defect rules as people write them: `<= 3`, `== refused`, `in a, b`, `score <= 3`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from theodolite.domain.fault import did_you_mean
from theodolite.domain.instrument import Condition, Operator, Scale, ScaleKind, decimal_of

_FORM = re.compile(r"\s*(?P<question>[^\s<>=!]+)??\s*(?P<operator>==|!=|<=|>=|<|>|\bin\b)\s*(?P<values>.*)\s*")
_OPERATORS = ", ".join(operator.value for operator in Operator)


def parse_condition(text: str) -> Condition | str:
    """Return what a rule's text says, or what is wrong with it.

    Example:
        >>> parse_condition("score <= 3").values
        ('3',)
        >>> parse_condition("refused")
        'names no operator; expected one of ==, !=, <, <=, >, >=, in, e.g. `== refused`'
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return f"names no operator; expected one of {_OPERATORS}, e.g. `== {text.strip(' =') or 'yes'}`"
    operator = Operator(match["operator"])
    parts = match["values"].split(",") if operator is Operator.ONE_OF else [match["values"]]
    values = tuple(part.strip().strip("'\"") for part in parts if part.strip())
    if not values:
        return f"says nothing after `{operator.value}`; name a value of the scale"
    if values[0].startswith(("=", "<", ">", "!")):
        return f"has an operator that is not known here; expected one of {_OPERATORS}"
    return Condition(question=match["question"] or "", operator=operator, values=values)


def condition_problem(condition: Condition, scale: Scale) -> str:
    """Return why a condition does not fit a scale; empty where it does."""
    if scale.kind is ScaleKind.TEXT:
        return "the question is answered in free text, which has no order" if condition.operator.needs_order else ""
    if scale.kind is ScaleKind.NUMBERS:
        return _number_problem(condition, scale)
    if scale.kind is ScaleKind.DECIMALS:
        return _decimal_problem(condition, scale)
    if condition.operator.needs_order and not scale.ordered:
        return "the labels have no order; use ==, != or in, or state an `orientation`"
    for value in condition.values:
        if not scale.admits(value):
            labels = scale.categories
            near = did_you_mean(value, labels) or "; labels are " + ", ".join(labels)
            return f"`{value}` is no label of the scale{near}"
    return _all_or_none(condition, scale.categories)


def _number_problem(condition: Condition, scale: Scale) -> str:
    lowest, highest = scale.lowest or 0, scale.highest or 0
    for value in condition.values:
        if not re.fullmatch(r"-?\d+", value):
            return f"`{value}` is no point of the scale, which runs from {lowest} to {highest} in whole numbers"
    outside = [int(value) for value in condition.values if not lowest <= int(value) <= highest]
    result = _all_or_none(condition, scale.categories)
    if not outside:
        return result
    end = f"the scale ends at {highest}" if outside[0] > highest else f"the scale begins at {lowest}"
    return f"{end}, so {result.removeprefix('with it ')}" if result else f"{end}, so {outside[0]} is no point of it"


def _decimal_problem(condition: Condition, scale: Scale) -> str:
    ends = f"the scale runs from {scale.lowest} to {scale.highest}"
    strange = [value for value in condition.values if decimal_of(value) is None]
    outside = [value for value in condition.values if not strange and not scale.admits(value)]
    if strange:
        return f"`{strange[0]}` is no number; {ends}"
    return f"`{outside[0]}` leaves the scale; {ends}" if outside else ""


def _all_or_none(condition: Condition, points: tuple[str, ...]) -> str:
    """Say so where a rule would make every answer a defect, or none."""
    n_defects = sum(_holds(condition, point, points) for point in points)
    if n_defects == len(points):
        return "with it all would be defects"
    return "" if n_defects else "with it none could be a defect"


def _holds(condition: Condition, point: str, points: tuple[str, ...]) -> bool:
    if condition.operator in {Operator.EQUAL, Operator.ONE_OF}:
        return point in condition.values
    if condition.operator is Operator.UNEQUAL:
        return point not in condition.values
    numbers = all(re.fullmatch(r"-?\d+", value) for value in (point, condition.values[0]))
    place = int(point) if numbers else points.index(point)
    limit = int(condition.values[0]) if numbers else points.index(condition.values[0])
    outcomes: Mapping[Operator, bool] = {
        Operator.BELOW: place < limit,
        Operator.AT_MOST: place <= limit,
        Operator.ABOVE: place > limit,
        Operator.AT_LEAST: place >= limit,
    }
    return outcomes[condition.operator]
