"""Groups of a risk: how often it became real for each part of the people, and whether parts differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.risks import RiskContrast, RiskFinding, RiskPart
from theodolite.measurement.comparison.multiplicity import adjust_p_values
from theodolite.measurement.questionnaire.permutation import people_permutation

FEWEST: Final = 5
"""Dialogues or sessions below which a part's count is withheld: it would speak of single people; count."""

DRAWS: Final = 1_999
"""Arrangements of people that are drawn where people are of more than two kinds; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskUnit:
    """One dialogue or session in which a risk could become real.

    Attributes:
        person: Whose it is: the tester, or the persona or script; whole ones are exchanged in tests.
        groups: Name of a group to its value.
        is_real: Whether the risk became real; None where nobody has said so or otherwise.
    """

    person: str
    groups: Mapping[str, str]
    is_real: bool | None


def risk_parts(units: Sequence[RiskUnit]) -> tuple[RiskPart, ...]:
    """Return a count for each value of each group that has several; small ones are named and withheld.

    Args:
        units: Dialogues or sessions of one risk, application and level; undecided ones are counted apart.
    """
    return tuple(
        _part(name, value, [unit for unit in units if unit.groups.get(name) == value])
        for name, values in _groups(units).items()
        for value in values
    )


def _groups(units: Sequence[RiskUnit]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for unit in units for name in unit.groups)
    found = {name: tuple(sorted({unit.groups.get(name, "") for unit in units} - {""})) for name in names}
    return {name: values for name, values in found.items() if len(values) > 1}


def _part(group: str, value: str, units: Sequence[RiskUnit]) -> RiskPart:
    known = [unit.is_real for unit in units if unit.is_real is not None]
    return RiskPart(
        group=group,
        part=value,
        n=len(known),
        n_undecided=len(units) - len(known),
        n_people=len({unit.person for unit in units if unit.is_real is not None}),
        count=sum(known) if len(known) >= FEWEST else None,
    )


def risk_contrasts(units: Sequence[RiskUnit], parts: Sequence[RiskPart], *, seed: int) -> Iterator[RiskContrast]:
    """Yield a test of every two parts of a group that are not withheld; p-values are not adjusted yet.

    Args:
        units: Dialogues or sessions of one risk, application and level.
        parts: What `risk_parts` made of them.
        seed: Of the arrangements that are drawn.

    Source:
        `people_permutation`.
    """
    for first, second in combinations([part for part in parts if part.count is not None], 2):
        if first.group == second.group:
            order = {first.part: "0", second.part: "1"}
            own = [unit for unit in units if unit.groups.get(first.group) in order]
            test = people_permutation(
                [None if unit.is_real is None else float(unit.is_real) for unit in own],
                [order[unit.groups[first.group]] for unit in own],
                [unit.person for unit in own],
                draws=DRAWS,
                seed=seed,
            )
            yield RiskContrast(group=first.group, first=first.part, second=second.part, test=test)


def adjusted_together(findings: Sequence[RiskFinding]) -> tuple[RiskFinding, ...]:
    """Return findings whose p-values are adjusted for all comparisons of all risks at once (Holm).

    Args:
        findings: All findings of one run.
    """
    tests = [contrast.test for one in findings for contrast in one.contrasts]
    tested = [test.p_value for test in tests if not isinstance(test, Undefined)]
    adjusted = iter(adjust_p_values(tested) if tested else ())
    return tuple(
        replace(
            one,
            contrasts=tuple(
                each if isinstance(each.test, Undefined) else replace(each, adjusted_p_value=next(adjusted))
                for each in one.contrasts
            ),
        )
        for one in findings
    )
