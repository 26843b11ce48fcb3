"""Series and taxonomies: what an evaluation event has published, and where its risks are drawn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import SHIPPED
from theodolite.config.specs.series import SeriesSpec, TaxonomySpec
from theodolite.config.specs.study import RiskSpec, StudySpec
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.study import Study, deviations_of

if TYPE_CHECKING:  # loaded by studies whose series is written down
    from theodolite.domain.people.series import Series

_FOLDER, _SHELF = "series", "taxonomies"


def series_of(entry: Entry[StudySpec], context: LoadContext) -> tuple[str, Entry[SeriesSpec] | None]:
    """Return the name of the series that a study belongs to, and the series where it is written down.

    A name for which there is no file is a label and no more; where the folder
    `series/` holds others, it is a fault.
    """
    form = entry.spec.series
    if isinstance(form, SeriesSpec):
        if not form.name:
            context.diagnostics.add(entry.fault("series", message="the series needs a `name`", at_key=True))
        return form.name, Entry(name=form.name, spec=form, source=entry.source, path=("series",))
    if not form or "/" in form:
        return form, None
    found = context.read_spec(_FOLDER, form, SeriesSpec, "series")
    known = context.own_names_in(_FOLDER, ".yaml")
    if found is None and known and form not in known:
        message = f"there is no series `{form}` in `{_FOLDER}/`{did_you_mean(form, known)}"
        context.diagnostics.add(entry.fault("series", message=message))
    return form, found


def preregistered(entry: Entry[SeriesSpec] | None, name: str, context: LoadContext) -> Series | None:
    """Return what a series has published; None where nothing is written down."""
    if entry is None:
        return None
    from theodolite.domain.people.series import EvaluationPlan, Series, Team

    spec = entry.spec
    named = Counter(application for applications in spec.teams.values() for application in applications)
    for application in (application for application, n in named.items() if n > 1):
        message = f"application `{application}` is named twice in the series' `teams`"
        context.diagnostics.add(entry.fault("teams", message=message, at_key=True))
    return Series(
        name=name,
        ai_type=spec.ai_type,
        user_types=tuple(spec.user_types),
        risks=tuple(spec.risks),
        teams=tuple(Team(name=team, applications=tuple(names)) for team, names in spec.teams.items()),
        plan=EvaluationPlan(
            requirements=spec.requirements,
            scenarios=tuple(spec.scenarios),
            criteria=spec.criteria,
            expected_behaviour=spec.expected_behaviour,
            methods=spec.methods,
        ),
    )


def note_deviations(study: Study, entry: Entry[SeriesSpec] | None, context: LoadContext) -> None:
    """Note where a study holds what its series has not published, and check the series' own risks."""
    if entry is None:
        return
    for words in deviations_of(study):
        message = f"{words} (series `{study.series}`)"
        context.diagnostics.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))
    own = {risk.name for risk in study.risks}
    for place, risk in enumerate(entry.spec.risks):
        if risk not in own and "/" in risk:
            _check(entry, ("risks", place), risk, context)


def check_taxonomies(risks: Iterable[Entry[RiskSpec]], context: LoadContext) -> None:
    """Refuse identifiers that their taxonomy does not have; a taxonomy that nobody wrote down is noted."""
    for entry in risks:
        if entry.spec.taxonomy:
            _check(entry, ("taxonomy",), entry.spec.taxonomy, context)


def _check(
    entry: Entry[RiskSpec] | Entry[SeriesSpec], path: tuple[str | int, ...], named: str, context: LoadContext
) -> None:
    name, _, risk = named.partition("/")
    known = context.names_in(_SHELF, ".yaml")
    if name not in known:
        message = f"taxonomy `{name}` is not known{did_you_mean(name, known)}; write it into `{_SHELF}/{name}.yaml`"
        context.diagnostics.add(entry.fault(*path, message=message, severity=Severity.NOTE))
        return
    risks = _risks_of(name, context)
    if risks is not None and risk not in risks:
        tail = did_you_mean(risk, risks) or f"; it has {', '.join(risks)}"
        message = f"taxonomy `{name}` has no risk `{risk}`{tail}"
        context.diagnostics.add(entry.fault(*path, message=message))


def _risks_of(taxonomy: str, context: LoadContext) -> Mapping[str, str] | None:
    """Return the risks of a taxonomy, read once; None where it could not be."""
    if taxonomy not in context.taxonomies:
        found = context.read_spec(_SHELF, taxonomy, TaxonomySpec, "taxonomy")
        context.taxonomies[taxonomy] = found.spec.risks if found else None
        # A shipped one decides nothing of the study, so it is no news where it was found.
        context.found[:] = [one for one in context.found if (one.noun, one.where) != ("taxonomy", SHIPPED)]
    return context.taxonomies[taxonomy]


def series_document(series: Series) -> dict[str, Any]:
    """Return a series as a study file writes it out."""
    plan = series.plan
    whole: dict[str, Any] = {
        "name": series.name,
        "ai_type": series.ai_type.value,
        "user_types": [kind.value for kind in series.user_types],
        "risks": list(series.risks),
        "teams": {team.name: list(team.applications) for team in series.teams},
        "scenarios": list(plan.scenarios),
        "requirements": plan.requirements,
        "criteria": plan.criteria,
        "expected_behaviour": plan.expected_behaviour,
        "methods": plan.methods,
    }
    return {key: value for key, value in whole.items() if value}
