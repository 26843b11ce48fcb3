"""Subjects of estimates as entries of the results file, and read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue
from theodolite.domain.guideline import Violation
from theodolite.domain.identity import Json


def subject_entry(subject: EstimateSubject) -> dict[str, Json]:
    """Return a subject as an object; fields that set no limit are left out.

    `application` is null for an estimate over all applications together.
    """
    entry: dict[str, Json] = {
        "guideline": subject.guideline,
        "question": subject.question,
        "label": subject.label,
        "rule": subject.rule,
        "condition": subject.condition,
        "violation": subject.violation.value if subject.violation else "",
        "annotators": list(subject.annotators),
        "corrected_by": subject.corrected_by,
        "calibrated_on": subject.calibrated_on,
        "level": subject.level.value if subject.level else "",
        "tester_type": subject.tester_type.value if subject.tester_type else "",
        "among": [_group_entry(group) for group in subject.among],
        "group": _group_entry(subject.group) if subject.group else "",
        "scenario": subject.scenario,
        "annotator_group": _group_entry(subject.annotator_group) if subject.annotator_group else "",
        "n_people": subject.n_people,
        "human_ceiling": subject.is_human_ceiling,
        "attempt": subject.attempt,
        "repetition": subject.repetition,
    }
    application = None if subject.application == ALL_APPLICATIONS else subject.application
    return {"application": application, **{name: value for name, value in entry.items() if value}}


def _group_entry(group: GroupValue) -> dict[str, Json]:
    return {"name": group.name, "value": group.value}


def subject_from(entry: Mapping[str, Any]) -> EstimateSubject:
    """Return the subject that an object of the results file stands for.

    Raises:
        KeyError: If it has no `application`.
        ValueError: If a word is unknown.
    """
    application = entry["application"]
    return EstimateSubject(
        application=ALL_APPLICATIONS if application is None else application,
        guideline=entry.get("guideline", ""),
        question=entry.get("question", ""),
        label=entry.get("label", ""),
        rule=entry.get("rule", ""),
        condition=entry.get("condition", ""),
        violation=Violation(entry["violation"]) if "violation" in entry else None,
        annotators=tuple(entry.get("annotators", ())),
        corrected_by=entry.get("corrected_by", ""),
        calibrated_on=entry.get("calibrated_on", ""),
        level=Level(entry["level"]) if "level" in entry else None,
        tester_type=TesterType(entry["tester_type"]) if "tester_type" in entry else None,
        among=tuple(_group_from(group) for group in entry.get("among", ())),
        group=_group_from(entry["group"]) if "group" in entry else None,
        scenario=entry.get("scenario", ""),
        annotator_group=_group_from(entry["annotator_group"]) if "annotator_group" in entry else None,
        n_people=entry.get("n_people"),
        is_human_ceiling=entry.get("human_ceiling", False),
        attempt=entry.get("attempt", ""),
        repetition=entry.get("repetition", ""),
    )


def _group_from(entry: Mapping[str, str]) -> GroupValue:
    return GroupValue(name=entry["name"], value=entry["value"])
