"""Comparisons as one JSON document, and their sides: results files of this form, and of form 1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.comparison import ComparedSide, Comparison, PairedRate, RuleVerdict, Ruling
from theodolite.domain.errors import InputError
from theodolite.domain.estimate_subject import Measure, former_subject
from theodolite.domain.identity import Json
from theodolite.reporting.monitoring.document import number
from theodolite.reporting.results.estimates import subject_entry, subject_from

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


SCHEMA_VERSION = "2.0"

"""Version of the document format; the first number changes when readers break."""


def comparison_document(comparisons: Sequence[Comparison]) -> dict[str, Json]:
    """Return comparisons as plain values, every flip with both labels."""
    return {"schema_version": SCHEMA_VERSION, "comparisons": [_comparison(comparison) for comparison in comparisons]}


def _comparison(comparison: Comparison) -> dict[str, Json]:
    return {
        "first": _side(comparison.first),
        "second": _side(comparison.second),
        "mitigation": comparison.mitigation or None,
        "rates": [_rate(rate) for rate in comparison.rates],
    }


def _side(side: ComparedSide) -> dict[str, Json]:
    return {
        "name": side.name,
        "application": side.application,
        "study": side.study,
        "run": side.run,
        "plan": side.plan,
        "mitigations": list(side.mitigations),
    }


def _subject(rate: PairedRate) -> dict[str, Json]:
    """Return the subject of both sides: all but the application."""
    return {name: value for name, value in subject_entry(rate.ruling.subject).items() if name != "application"}


def _rate(rate: PairedRate) -> dict[str, Json]:
    test = rate.test
    return {
        "subject": _subject(rate),
        "n": rate.n,
        "defects": [rate.n_first, rate.n_second],
        "fixed": [[flip.first, flip.second] for flip in rate.fixed],
        "regressed": [[flip.first, flip.second] for flip in rate.regressed],
        "unlabelled": rate.n_unmeasured,
        "unpaired": rate.n_unpaired,
        "difference": number(rate.difference),
        "p_value": test.p_value if test else None,
        "p_adjusted": rate.adjusted,
        "test": test.method if test else None,
        "pairs_wanted": rate.n_wanted,
        "not_comparable": rate.changed or None,
    }


Results: TypeAlias = Mapping[str, Any]

"""A results document, as in `results.json`."""


def sides_of(results: Results, place: str) -> tuple[ComparedSide, ...]:
    """Return one side for each application of a run, in order of the study.

    Args:
        results: A results document.
        place: Its origin, for messages.

    Raises:
        InputError: If it is not a results document, or has a form without pairs.
    """
    try:
        return _sides(upgraded(results))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        version = results.get("schema_version")
        message = (
            f"`{place}` cannot be compared: expected schema_version 2.x, or 1.4 and later"
            f" 1.x; got {version!r} ({type(error).__name__}: {error}). Write it again:  theodolite report STUDY"
        )
        raise InputError(message) from error


def _sides(results: Results) -> tuple[ComparedSide, ...]:
    rates = [entry for entry in results["estimates"] if entry["measure"] == "defect_rate" and _is_whole(entry)]
    sessions: dict[tuple[str, str], Mapping[str, Any]] = {
        (entry["application"], entry["dialogue"]): entry for entry in results["sessions"]
    }
    annotators = results.get("instruments", {}).get("annotators", ())
    people = tuple(sorted(entry["name"] for entry in annotators if entry["kind"] == AnnotatorKind.PERSON.value))
    titles = {entry["name"]: entry["title"] for entry in annotators if entry.get("title")}
    leading = _leading_annotators(results)
    has_families = any(application.get("variant_of") for application in results["applications"])
    return tuple(
        ComparedSide(
            name=application["name"],
            application=application["name"],
            study=results["study"]["name"],
            run=results["run"]["number"],
            plan=results["run"]["plan_version"],
            mitigations=tuple(application["mitigations"]),
            family=(application.get("variant_of") or application["name"]) if has_families else "",
            rulings=tuple(
                _ruling(rate, sessions, leading)
                for rate in rates
                if rate["subject"]["application"] == application["name"]
            ),
            people=people,
            titles=titles,
        )
        for application in results["applications"]
    )


def _is_whole(entry: Mapping[str, Any]) -> bool:
    return "group" not in entry["subject"]


def _leading_annotators(results: Results) -> dict[str, set[str]]:
    """Return guideline to the annotators of its dispositions."""
    leading: dict[str, set[str]] = {}
    for entry in results.get("dispositions", ()):
        leading.setdefault(entry["guideline"], set()).update(entry["annotators"])
    return leading


def _ruling(
    rate: Mapping[str, Any],
    sessions: Mapping[tuple[str, str], Mapping[str, Any]],
    leading: Mapping[str, Collection[str]],
) -> Ruling:
    application = rate["subject"]["application"]
    verdicts: dict[str, RuleVerdict] = {}
    lists: Sequence[tuple[str, bool | None]] = (("dialogues", True), ("non_defects", False), ("unlabelled", None))
    for name, is_defect in lists:
        for label in rate[name]:
            session = sessions[application, label]
            verdicts[session["pair"]] = RuleVerdict(dialogue=label, is_defect=is_defect, cluster=session["cluster"])
    subject = subject_from(rate["subject"])
    leaders = leading.get(subject.guideline, ())
    return Ruling(
        subject=subject,
        is_single=PEOPLE in leaders and subject.annotator not in {*leaders, REFERENCE},
        instruments=dict(rate["versions"]),
        verdicts=verdicts,
    )
