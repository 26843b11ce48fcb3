"""Series and taxonomies: what an evaluation event has published, and where its risks are drawn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.series import SeriesShape, TaxonomyShape
from theodolite.config.shapes.study import RiskShape, StudyShape
from theodolite.config.shelves import SHIPPED
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.study import Study, departures_of

if TYPE_CHECKING:  # loaded by studies whose series is written down
    from theodolite.domain.people.series import Series

_FOLDER, _SHELF = "series", "taxonomies"


def series_of(entry: Entry[StudyShape], desk: Desk) -> tuple[str, Entry[SeriesShape] | None]:
    """Return the name of the series that a study belongs to, and the series where it is written down.

    A name for which there is no file is a label and no more; where the folder
    `series/` holds others, it is a fault.
    """
    form = entry.shape.series
    if isinstance(form, SeriesShape):
        if not form.name:
            desk.complaints.add(entry.fault("series", message="the series needs a `name`", at_key=True))
        return form.name, Entry(name=form.name, shape=form, source=entry.source, path=("series",))
    if not form or "/" in form:
        return form, None
    found = desk.shaped_file(_FOLDER, form, SeriesShape, "series")
    known = desk.own_names_in(_FOLDER, ".yaml")
    if found is None and known and form not in known:
        message = f"there is no series `{form}` in `{_FOLDER}/`{did_you_mean(form, known)}"
        desk.complaints.add(entry.fault("series", message=message))
    return form, found


def announced(entry: Entry[SeriesShape] | None, name: str, desk: Desk) -> Series | None:
    """Return what a series has published; None where nothing is written down."""
    if entry is None:
        return None
    from theodolite.domain.people.series import EvaluationPlan, Series, Team

    shape = entry.shape
    named = Counter(application for applications in shape.teams.values() for application in applications)
    for application in (application for application, n in named.items() if n > 1):
        message = f"application `{application}` is named twice in the series' `teams`"
        desk.complaints.add(entry.fault("teams", message=message, at_key=True))
    return Series(
        name=name,
        ai_type=shape.ai_type,
        user_types=tuple(shape.user_types),
        risks=tuple(shape.risks),
        teams=tuple(Team(name=team, applications=tuple(names)) for team, names in shape.teams.items()),
        plan=EvaluationPlan(
            requirements=shape.requirements,
            scenarios=tuple(shape.scenarios),
            criteria=shape.criteria,
            expected_behaviour=shape.expected_behaviour,
            methods=shape.methods,
        ),
    )


def note_departures(study: Study, entry: Entry[SeriesShape] | None, desk: Desk) -> None:
    """Note where a study holds what its series has not published, and check the series' own risks."""
    if entry is None:
        return
    for words in departures_of(study):
        message = f"{words} (series `{study.series}`)"
        desk.complaints.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))
    own = {risk.name for risk in study.risks}
    for place, risk in enumerate(entry.shape.risks):
        if risk not in own and "/" in risk:
            _check(entry, ("risks", place), risk, desk)


def check_taxonomies(risks: Iterable[Entry[RiskShape]], desk: Desk) -> None:
    """Refuse identifiers that their taxonomy does not have; a taxonomy that nobody wrote down is noted."""
    for entry in risks:
        if entry.shape.taxonomy:
            _check(entry, ("taxonomy",), entry.shape.taxonomy, desk)


def _check(entry: Entry[RiskShape] | Entry[SeriesShape], path: tuple[str | int, ...], named: str, desk: Desk) -> None:
    name, _, risk = named.partition("/")
    known = desk.names_in(_SHELF, ".yaml")
    if name not in known:
        message = f"taxonomy `{name}` is not known{did_you_mean(name, known)}; write it into `{_SHELF}/{name}.yaml`"
        desk.complaints.add(entry.fault(*path, message=message, severity=Severity.NOTE))
        return
    risks = _risks_of(name, desk)
    if risks is not None and risk not in risks:
        tail = did_you_mean(risk, risks) or f"; it has {', '.join(risks)}"
        message = f"taxonomy `{name}` has no risk `{risk}`{tail}"
        desk.complaints.add(entry.fault(*path, message=message))


def _risks_of(taxonomy: str, desk: Desk) -> Mapping[str, str] | None:
    """Return the risks of a taxonomy, read once; None where it could not be."""
    if taxonomy not in desk.taxonomies:
        found = desk.shaped_file(_SHELF, taxonomy, TaxonomyShape, "taxonomy")
        desk.taxonomies[taxonomy] = found.shape.risks if found else None
        # A shipped one decides nothing of the study, so it is no news where it was found.
        desk.found[:] = [one for one in desk.found if (one.noun, one.where) != ("taxonomy", SHIPPED)]
    return desk.taxonomies[taxonomy]


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
