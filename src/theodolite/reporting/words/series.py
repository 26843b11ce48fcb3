"""The series of a study as pairs of name and text."""

from __future__ import annotations

from theodolite.domain.people.series import Series
from theodolite.domain.study import Study, deviations_of


def series_facts(study: Study) -> tuple[tuple[str, str], ...]:
    """Return what a series has published as pairs of name and text, and where the study departs from it."""
    series = study.preregistered
    if series is None:
        return (("Series", f"{study.series}; its plan is not written down here"),) if study.series else ()
    deviations = "; ".join(deviations_of(study)) or "none: all that was tested had been published"
    return (*published_facts(series), ("Departures", deviations))


def published_facts(series: Series) -> tuple[tuple[str, str], ...]:
    """Return what a series has published as pairs of name and text."""
    plan = series.plan
    teams = (f"{team.name} with {', '.join(team.applications) or 'nothing yet'}" for team in series.teams)
    facts = {
        "Series": f"{series.name}, {series.ai_type.value} AI",
        "Types of users": ", ".join(kind.value for kind in series.user_types),
        "Risks": ", ".join(series.risks),
        "Teams": "; ".join(teams),
        "Scenarios": ", ".join(plan.scenarios),
        "Requirements": plan.requirements,
        "Criteria": plan.criteria,
        "Expected behaviour": plan.expected_behaviour,
        "Methods": plan.methods,
    }
    return tuple((name, text) for name, text in facts.items() if text)
