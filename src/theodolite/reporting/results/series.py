"""The series of a study as the results file has it."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.people.series import Series
from theodolite.domain.study import Study, deviations_of


def series_entry(study: Study) -> dict[str, Json] | None:
    """Return the series of a study as the results file has it; None where it belongs to none."""
    if not study.series:
        return None
    published = published_entry(study.preregistered) if study.preregistered else None
    return {"name": study.series, "published": published, "deviations": list(deviations_of(study))}


def published_entry(series: Series) -> dict[str, Json]:
    """Return what a series has published."""
    plan = series.plan
    return {
        "ai_type": series.ai_type.value,
        "user_types": [kind.value for kind in series.user_types],
        "risks": list(series.risks),
        "teams": [{"name": team.name, "applications": list(team.applications)} for team in series.teams],
        "scenarios": list(plan.scenarios),
        "requirements": plan.requirements,
        "criteria": plan.criteria,
        "expected_behaviour": plan.expected_behaviour,
        "methods": plan.methods,
    }
