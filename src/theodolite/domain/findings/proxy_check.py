"""Proxy checks: what a run shows of whether a scenario serves as the proxy that it is meant to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.findings.significance import Significance


class Reach(StrEnum):
    """Whether a scenario leaves room for one application to be better or worse than another."""

    NOTHING_KNOWN = "nothing known"
    NEVER = "no application ever failed"
    ALWAYS = "every application failed always"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRate:
    """How often one application shows the defect in the scenario, at one level of testing."""

    application: str
    level: Level
    defect: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOrder:
    """Whether two levels of testing put applications in the same order.

    Attributes:
        first: The one level.
        second: The other.
        alike: Pairs of applications of which both levels find the same one worse; count.
        opposed: Pairs of which they find different ones worse; count.
        tied: Pairs that at least one of them finds equally bad; count.
    """

    first: Level
    second: Level
    alike: int
    opposed: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyCheck:
    """What one annotator's labels by one rule show of one scenario as a proxy.

    Efficacy: whether the scenario brings out what it was made for, and tells applications
    apart that the same testers met. Validity, as far as a run can carry it: whether levels
    of testing agree on which application is worse. Whether the proxy stands for its use
    case in the world is for people to judge who know that use.

    Attributes:
        scenario: Name of the scenario.
        rule: The rule, as `guideline.rule`.
        annotator: Who labelled; `reference` for final labels.
        n_planned: Sessions of the scenario that the rule is about; count.
        n_held: Dialogues held in them; count.
        n_labelled: Dialogues with a label by the rule; count.
        rates: Rate by application and level.
        apart: Test whether applications differ, over testers who met all of them at one level.
        orders: Order of applications, two levels each.
        adjusted_p_value: The p-value of `apart` for all checks of the run; None where it is undefined.
    """

    scenario: str
    rule: str
    annotator: str
    n_planned: int
    n_held: int
    n_labelled: int
    rates: tuple[ProxyRate, ...]
    apart: Significance | Undefined
    orders: tuple[LevelOrder, ...] = ()
    adjusted_p_value: float | None = None

    @property
    def reach(self) -> Reach:
        """Whether there is room between the applications."""
        shares = [rate.defect.value for rate in self.rates if isinstance(rate.defect, Estimate)]
        if not shares:
            return Reach.NOTHING_KNOWN
        if max(shares) <= 0:
            return Reach.NEVER
        return Reach.ALWAYS if min(shares) >= 1 else Reach.BETWEEN
