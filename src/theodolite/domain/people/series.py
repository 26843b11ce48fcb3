"""Series: one evaluation event of many teams on the same tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from theodolite.domain.choices import AiType, UserType


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
        scenarios: Names of the scenarios; empty where the plan names none.
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
    """One evaluation event: teams, applications, scenarios, people, plan.

    Attributes:
        name: What it is called.
        ai_type: What kind of system it evaluates.
        user_types: Types of users that it calls for; empty where it leaves that open.
        risks: Names of risks or their identifiers in a taxonomy; empty where it leaves that open.
        teams: Who takes part; empty where it leaves that open.
        plan: What it has published.
    """

    name: str
    ai_type: AiType = AiType.GENERATIVE
    user_types: tuple[UserType, ...] = ()
    risks: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()
    plan: EvaluationPlan = field(default_factory=EvaluationPlan)

    def deviations(
        self,
        *,
        applications: Collection[str],
        scenarios: Collection[str],
        risks: Collection[Collection[str]],
        user_types: Collection[str],
    ) -> tuple[str, ...]:
        """Return in words where a study departs from what was published.

        A series may hold several studies, so that a study need not hold all of it;
        what a study adds is what nobody was told of.

        Args:
            applications: Names of the study's applications.
            scenarios: Names of its scenarios.
            risks: What each of its risks goes by: its name and its identifiers; several each.
            user_types: Types of users that it calls for.
        """
        entered = {name for team in self.teams for name in team.applications}
        found = [
            *_beyond("application", applications, entered, "belongs to none of its teams"),
            *_beyond("scenario", scenarios, self.plan.scenarios, "is not in its plan"),
            *_beyond("user type", user_types, [kind.value for kind in self.user_types]),
        ]
        if self.risks:
            unknown = [next(iter(names)) for names in risks if not set(names) & set(self.risks)]
            found += [f"risk `{name}` is none of those that it announced" for name in unknown]
        return tuple(found)

    def untested(
        self, *, pairs: Collection[tuple[str, str]], risks: Collection[str], user_types: Collection[str]
    ) -> tuple[str, ...]:
        """Return in words what of the plan none of the series' studies tests.

        Args:
            pairs: Application and scenario of all studies, where they meet.
            risks: What the risks of all studies go by: names and identifiers.
            user_types: Types of users that any study calls for.
        """
        return (
            *_untested_pairs(self, pairs),
            *(f"risk `{name}` is in no study" for name in self.risks if name not in risks),
            *(f"no study calls for users of type `{kind.value}`" for kind in self.user_types if kind not in user_types),
        )


def _untested_pairs(series: Series, pairs: Collection[tuple[str, str]]) -> Iterator[str]:
    applications = [name for team in series.teams for name in team.applications]
    scenarios = series.plan.scenarios
    absent = [name for name in applications if all(tested != name for tested, _ in pairs)]
    left_out = [name for name in scenarios if all(tested != name for _, tested in pairs)]
    yield from (f"application `{name}` is in no study" for name in absent)
    yield from (f"scenario `{name}` is in no study" for name in left_out)
    for application in applications:
        for scenario in scenarios:
            if application not in absent and scenario not in left_out and (application, scenario) not in pairs:
                yield f"application `{application}` meets scenario `{scenario}` in no study"


def _beyond(
    noun: str, held: Collection[str], preregistered: Collection[str], words: str = "is none of those that it announced"
) -> Iterator[str]:
    if preregistered:
        yield from (f"{noun} `{name}` {words}" for name in held if name not in preregistered)
