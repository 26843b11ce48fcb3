"""Comparisons as one JSON document, and the sides that are read from results files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.comparison import ComparedSide, Comparison, PairedRate, RuleVerdict, Ruling
from theodolite.domain.errors import InputError
from theodolite.domain.identity import Json
from theodolite.reporting.monitoring.document import number
from theodolite.reporting.results.estimates import subject_entry, subject_from
from theodolite.reporting.results.upgrading import upgraded

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
