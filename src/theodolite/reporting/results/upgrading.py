"""Results files of form 1, read as files of form 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from theodolite.domain.estimate_subject import Measure, former_subject
from theodolite.reporting.results.estimates import subject_entry

Entry: TypeAlias = Mapping[str, Any]

_DOCUMENT = {
    "scripted": "stubbed",
    "accounts": "dispositions",
    "conduct": "judge_diagnostics",
    "raters": "annotator_models",
    "certificates": "judge_validations",
}
"""Current key by former key; so are the tables below, each for one kind of entry."""

_RUN = {"held_dialogues": "completed_dialogues"}
_SERIES = {"departures": "deviations"}
_APPLICATION = {"held": "completed"}
_CLAIM = {"standing": "status"}
_ESTIMATE = {"sound": "non_defects", "unmeasured": "unlabelled"}
_SIMULATED_USERS = {"lapses": "role_breaks"}
_ROLE_BREAK = {"found": "occurrences"}
_TESTERS = {"held_by": "tester_type"}
_DIAGNOSTICS = {"scripted": "stubbed"}
_PROXY = {"held": "completed"}
_VALIDATION = {"lacking": "limitations"}
_ORDER_SIDE = {"given": "answers"}
_BLINDING = {"about": "guessed"}
_CRITERIA = {"about": "subject"}
_ANNOTATOR = {"certificate": "validated"}
_NEW: Mapping[str, Any] = {
    "constructs": [],
    "contamination": [],
    "comparisons": [],
    "gaps": [],
    "gates": None,
    "network": [],
    "order_metrics": {"sequences": [], "rankings": []},
    "plugin_measures": [],
    "taxonomies": [],
    "typology": [],
}
"""Parts that form 1 did not have."""


def upgraded(results: Entry) -> dict[str, Any]:
    """Return a results document in form 2; one of form 2 is returned as it is.

    Parts that format 1 lacked are empty, and parts that an early file lacks stay absent.

    Raises:
        ValueError: If the form is neither 1 nor 2, or a word is unknown.
        KeyError: If a part does not have form 1 either.
        TypeError: Likewise.
    """
    version = str(results["schema_version"])
    if version.startswith("2."):
        return dict(results)
    if not version.startswith("1."):
        message = f"form {version} is unknown"
        raise ValueError(message)
    result = {name: _PARTS.get(name, _unchanged)(part) for name, part in results.items()}
    return {**_NEW, **_renamed(result, _DOCUMENT), "schema_version": "2.0"}


def _renamed(entry: Entry, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): part for name, part in entry.items()}


def _unchanged(part: Any) -> Any:
    return part


def _each(upgrade: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda entries: [upgrade(entry) for entry in entries]


def _renaming(names: Mapping[str, str], **parts: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that renames the keys of an object, and upgrades some of its parts first; null stays null."""

    def upgrade(entry: Any) -> Any:
        if entry is None:
            return None
        return _renamed({name: parts.get(name, _unchanged)(part) for name, part in entry.items()}, names)

    return upgrade


def _without(name: str) -> Callable[[Any], Any]:
    """Return a function that removes a part of an object; null stays null."""
    return lambda entry: None if entry is None else {key: part for key, part in entry.items() if key != name}


def _adding(**new: Any) -> Callable[[Any], Any]:
    """Return a function that adds the parts that an object of form 1 did not have."""
    return lambda entry: {**new, **entry}


def _estimate(entry: Entry) -> dict[str, Any]:
    result = former_subject(Measure(entry["measure"]), entry["application"], entry["about"])
    rest = {name: part for name, part in entry.items() if name not in {"measure", "application", "about"}}
    return {
        "measure": entry["measure"],
        "subject": subject_entry(result.subject),
        "weighting": result.weighting.value if result.weighting else None,
        "statistic": result.statistic.value if result.statistic else None,
        **_renamed(rest, _ESTIMATE),
    }


def _realism_rate(entry: Entry) -> dict[str, Any]:
    result = former_subject(Measure.DEFECT_RATE, entry["application"], entry["about"])
    rest = {name: part for name, part in entry.items() if name not in {"application", "about"}}
    return {"subject": subject_entry(result.subject), **rest}


_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "run": _renaming(_RUN),
    "series": _renaming(_SERIES),
    "applications": _each(_renaming(_APPLICATION, claims=_each(_renaming(_CLAIM)))),
    "estimates": _each(_estimate),
    "simulated_users": _renaming(_SIMULATED_USERS, lapses=_each(_renaming(_ROLE_BREAK))),
    "realism": _each(
        _renaming({}, people=_renaming(_TESTERS), simulated=_renaming(_TESTERS), rates=_each(_realism_rate))
    ),
    "strategies": _each(_renaming(_TESTERS)),
    "conduct": _each(_renaming(_DIAGNOSTICS)),
    "risks": _each(_adding(impact=None)),
    "proxies": _each(_renaming(_PROXY)),
    "certificates": _each(_renaming(_VALIDATION, estimates=_each(_estimate))),
    "trees": _each(_renaming({}, standing=_without("places"), applications=_each(_adding(views=[])))),
    "order_effects": _each(_renaming({}, first=_renaming(_ORDER_SIDE), second=_renaming(_ORDER_SIDE))),
    "event": _renaming({}, blinding=_each(_renaming(_BLINDING))),
    "criteria": _each(_renaming(_CRITERIA)),
    "instruments": _renaming({}, annotators=_each(_renaming(_ANNOTATOR))),
}
"""Key of form 1 to the function that upgrades its part."""
