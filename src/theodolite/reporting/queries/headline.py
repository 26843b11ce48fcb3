"""The headline: applications, testers, and annotators."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import TesterType
from theodolite.domain.evidence import Evidence
from theodolite.domain.plan import Setting, TesterKind
from theodolite.domain.study import Study
from theodolite.reporting.queries.agreements import (
    Agreement,
    is_checked,
    judges_of,
)
from theodolite.reporting.words import figures


def headline(evidence: Evidence, agreements: Sequence[Agreement]) -> str:
    """Return applications, testers and annotators in one line."""
    return ", ".join(headline_parts(evidence, agreements))


def headline_parts(evidence: Evidence, agreements: Sequence[Agreement]) -> tuple[str, ...]:
    """Return the parts of the headline: applications, testers, and annotators."""
    study = evidence.study
    parts = (_applications(study), _testers(evidence), *_labellers(evidence, agreements))
    return tuple(part for part in parts if part)


def is_recorded(study: Study) -> bool:
    """Return whether all dialogues come from files, so that no application was called."""
    connections = [application.connection for application in study.applications]
    return all(isinstance(connection, RecordedFile) and not connection.is_released for connection in connections)


def is_released(study: Study) -> bool:
    """Return whether the study comes from a release, which does not contain connections, hosts and calls."""
    connections = [application.connection for application in study.applications]
    return any(isinstance(connection, RecordedFile) and connection.is_released for connection in connections)


def _applications(study: Study) -> str:
    if len(study.applications) == 1:
        return study.applications[0].name
    recorded = is_recorded(study)
    return figures.number_of(len(study.applications), "recorded application" if recorded else "application")


def _testers(evidence: Evidence) -> str:
    """Return the testers, and their number; people by the sessions that they completed."""
    settings, dialogues = evidence.answers.settings, evidence.answers.dialogues
    people = {s.cluster for s, one in zip(settings, dialogues, strict=True) if s.held_by is TesterType.PERSON and one}
    rest = [position for position, setting in enumerate(settings) if setting.held_by is not TesterType.PERSON]
    simulated_testers = _tested_without_people(evidence, rest) if rest else ""
    return ", ".join(
        part for part in (simulated_testers, figures.number_of(len(people), "tester") if people else "") if part
    )


def _tested_without_people(evidence: Evidence, places: Sequence[int]) -> str:
    """Return the number of personas, scripts or prompts, and attacks."""
    settings = evidence.answers.settings
    by_kind: dict[TesterKind, list[int]] = {}
    for position in places:
        by_kind.setdefault(settings[position].kind, []).append(position)
    played, attacks = by_kind.pop(TesterKind.PERSONA, []), by_kind.pop(TesterKind.ATTACK, [])
    fixed = [position for own in by_kind.values() for position in own]
    recorded = [position for position in fixed if played and settings[position].held_by is TesterType.RECORDED]
    scripted = [position for position in fixed if played and settings[position].held_by is not TesterType.RECORDED]
    example = "example " if any(group.example for group in evidence.study.personas) else ""
    parts = [
        figures.number_of(len({settings[position].tester for position in played}), f"{example}persona")
        if played
        else "",
        figures.number_of(_n_testers(settings, scripted), "script") if scripted else "",
        figures.number_of(_n_testers(settings, recorded), "recorded dialogue") if recorded else "",
        _prompts(evidence, fixed) if fixed and not played else "",
        figures.number_of(_n_testers(settings, attacks), "attack") if attacks else "",
    ]
    return ", ".join(filter(None, parts))


def _n_testers(settings: Sequence[Setting], places: Sequence[int]) -> int:
    return len({(settings[position].scenario, settings[position].tester) for position in places})


def _prompts(evidence: Evidence, places: Sequence[int]) -> str:
    settings, sessions = evidence.answers.settings, evidence.sessions
    pairs: dict[str, set[str]] = {}
    for position in places:
        pairs.setdefault(settings[position].application, set()).add(sessions.pair_key(position))
    prompts = {key for keys in pairs.values() for key in keys}
    if len(pairs) == 1 or any(keys != prompts for keys in pairs.values()):
        return figures.number_of(len(prompts), "prompt")
    return "the same prompt" if len(prompts) == 1 else f"the same {figures.number_of(len(prompts), 'prompt')}"


def _labellers(evidence: Evidence, agreements: Sequence[Agreement]) -> list[str]:
    study = evidence.study
    # An annotator with several guidelines counts as one for each, under one title.
    people = {a.title or a.name for a in study.annotators if a.kind is AnnotatorKind.PERSON}
    texts = [figures.number_of(len(people), "person", "people")] if people else []
    judges = [(g, j) for g in study.guidelines for j in judges_of(study, g.name) if j.kind is AnnotatorKind.MODEL]
    unchecked = [judge for guideline, judge in judges if not is_checked(evidence, agreements, guideline, judge.name)]
    if unchecked and not people:
        texts.append("judge not validated" if len(unchecked) == 1 else "judges not validated")
    return texts
