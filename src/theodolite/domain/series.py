"""Series: one evaluation event of many teams on the same tasks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.participant import UserType


class AiType(StrEnum):
    """What kind of system a series evaluates."""

    GENERATIVE = "generative"
    PREDICTIVE = "predictive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team that takes part with one or more applications."""

    name: str
    applications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """What a series publishes before it starts.

    Attributes:
        requirements: Of the testing layer.
        scenarios: Names of the scenarios.
        criteria: By which behaviour is judged.
        expected_behaviour: Of the applications.
        methods: Of evaluation.
    """

    requirements: str = ""
    scenarios: tuple[str, ...] = ()
    criteria: str = ""
    expected_behaviour: str = ""
    methods: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One evaluation event: teams, applications, scenarios, people, plan."""

    name: str
    ai_type: AiType = AiType.GENERATIVE
    user_types: tuple[UserType, ...] = ()
    risks: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()
    plan: EvaluationPlan | None = None
