"""Audiences of a report: the parts of a run that each of them may see."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from theodolite.domain.annotator import ModelJudge
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.event import Series
from theodolite.domain.release import IdentifierFinding, ReleasedRecords, ReviewDecision
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Typology
from theodolite.usecases.releasing import redacted_records, without_reasons

NOT_RELEASED = "text not released"
_HIDDEN_NAME = "[name withheld]"


class AudienceKind(StrEnum):
    """The audience of a report."""

    ENGINEER = "engineer"
    ORGANISER = "organiser"
    TEAM = "team"
    OPERATORS = "operators"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The readers of a report.

    Attributes:
        kind: Who reads.
        team: Name of the team, or of its application; empty for other readers.
        applications: Names of the applications that a team sees; empty for all.
    """

    kind: AudienceKind
    team: str = ""
    applications: tuple[str, ...] = ()


def audience_named(text: str, study: Study) -> Audience:
    """Return the audience that a user named: `engineer`, `organiser`, `operators`, `public` or `team:NAME`.

    NAME is a team of the study's series, or an application.

    Raises:
        InputError: If there is no such audience, team or application.
    """
    word, _, name = text.partition(":")
    kinds = [kind.value for kind in AudienceKind]
    if word not in kinds or bool(name) != (word == AudienceKind.TEAM.value):
        message = (
            f"--for takes engineer, organiser, operators, public or team:NAME; got `{text}`{did_you_mean(word, kinds)}"
        )
        raise InputError(message)
    kind = AudienceKind(word)
    if kind is not AudienceKind.TEAM:
        return Audience(kind=kind)
    known = [application.name for application in study.applications]
    teams = {one.name: one.applications for one in (study.preregistered.teams if study.preregistered else ())}
    applications = tuple(one for one in teams.get(name, (name,)) if one in known)
    if not applications:
        near = did_you_mean(name, [*teams, *known])
        message = f"the study has no team or application `{name}`{near or '; applications: ' + ', '.join(known)}"
        raise InputError(message)
    return Audience(kind=kind, team=name, applications=applications)


def series_for(series: Series | None, audience: str) -> Series | None:
    """Return a published series as an audience sees it: a team sees no other team."""
    kind, _, name = audience.partition(":")
    if series is None or kind != AudienceKind.TEAM.value:
        return series
    own = next((team.applications for team in series.teams if team.name == name), (name,))
    others = {one for team in series.teams for one in (team.name, *team.applications)} - {name, *own}
    return _series_of(series, own, _hiding(others))


def for_team(
    records: ReleasedRecords,
    applications: Collection[str],
    findings: Iterable[IdentifierFinding],
    *,
    private: Collection[str] = (),
) -> ReleasedRecords:
    """Return the records of a team's own applications; identifiers are redacted unless a person decided to keep them.

    Args:
        records: Curated records of the run.
        applications: Names of the team's applications.
        findings: Identifiers in the texts, with decisions.
        private: Labels of dialogues with withheld texts.
    """
    redactions = (
        one if one.decision is ReviewDecision.KEEP else replace(one, decision=ReviewDecision.REDACT) for one in findings
    )
    return without_words(_of_applications(redacted_records(records, redactions), applications), private)


def for_public(records: ReleasedRecords, findings: Iterable[IdentifierFinding]) -> ReleasedRecords:
    """Return the records for a public report: texts with undecided identifiers are withheld."""
    known = list(findings)
    undecided = {one.dialogue for one in known if not one.is_decided}
    return without_words(redacted_records(records, known), undecided)


def without_words(records: ReleasedRecords, labels: Collection[str]) -> ReleasedRecords:
    """Return records in which dialogues, and the reasons of labels about them, have no text."""
    keys = {one.key for one in records.dialogues if one.label in labels}
    return replace(
        records,
        dialogues=tuple(_withheld(one) if one.label in labels else one for one in records.dialogues),
        annotations=tuple(without_reasons(one) if one.dialogue in keys else one for one in records.annotations),
        adjudications=tuple(
            replace(one, rationale="", raw="") if one.dialogue in keys else one for one in records.adjudications
        ),
    )


def _withheld(dialogue: Dialogue) -> Dialogue:
    turns = (replace(turn, prompt="", response="", context="", withheld=NOT_RELEASED) for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turns), context="", strategies=())


def _of_applications(records: ReleasedRecords, own: Collection[str]) -> ReleasedRecords:
    """Return the records about some applications only; none names or counts another one."""
    sessions = tuple(one for one in records.sessions if one.application in own)
    labels = {one.label for one in sessions}
    dialogues = tuple(one for one in records.dialogues if one.application in own)
    keys = {one.key for one in dialogues}
    others = [one.name for one in records.study.applications if one.name not in own]
    samples = (
        replace(
            sample,
            strata=tuple(one for one in sample.strata if one.name.split(":", 1)[0] in own),
            dialogues=tuple(one for one in sample.dialogues if one.dialogue in keys),
        )
        for sample in records.samples
    )
    return replace(
        records,
        study=_study_of(records.study, own, {one.scenario for one in sessions}, others),
        sessions=sessions,
        dialogues=dialogues,
        annotations=tuple(one for one in records.annotations if one.dialogue in keys),
        adjudications=tuple(one for one in records.adjudications if one.dialogue in keys),
        failures=tuple(one for one in records.failures if one.label in labels),
        responses=tuple(one for one in records.responses if set(one.dialogues) <= keys),
        assignments=tuple(one for one in records.assignments if one.dialogue in keys),
        samples=tuple(one for one in samples if one.dialogues),
        left_out={},
    )


def _study_of(study: Study, own: Collection[str], scenarios: Collection[str], others: Collection[str]) -> Study:
    hidden = _hiding(others)
    used = {one.labelling.model for one in study.annotators if isinstance(one.labelling, ModelJudge)}
    used |= {group.model for group in study.personas} | {one.attacker for one in study.scenarios}
    applications = (
        replace(
            one,
            description=hidden(one.description),
            variant_of=one.variant_of if one.variant_of in own else "",
            claims=tuple(replace(claim, text=hidden(claim.text)) for claim in one.claims),
            mitigations=tuple(replace(each, description=hidden(each.description)) for each in one.mitigations),
        )
        for one in study.applications
        if one.name in own
    )
    series = study.preregistered
    return replace(
        study,
        preregistered=_series_of(series, own, hidden) if series else None,
        title=hidden(study.title),
        about=hidden(study.about),
        applications=tuple(applications),
        scenarios=tuple(one for one in study.scenarios if one.name in scenarios),
        models=tuple(one for one in study.models if one.name in used),
        typology=_typology_of(study.typology, own) if study.typology else None,
        gates=(),
        corrections=(),
    )


def _typology_of(typology: Typology, own: Collection[str]) -> Typology:
    """Return a typology without other applications and without types that only they have."""
    applications = {kind: tuple(name for name in names if name in own) for kind, names in typology.applications.items()}
    return replace(typology, applications={kind: names for kind, names in applications.items() if names})


def _series_of(series: Series, own: Collection[str], hidden: Callable[[str], str]) -> Series:
    """Return a published series without the other teams."""
    named = ((team, tuple(name for name in team.applications if name in own)) for team in series.teams)
    plan = series.plan
    return replace(
        series,
        teams=tuple(replace(team, applications=names) for team, names in named if names),
        plan=replace(
            plan,
            requirements=hidden(plan.requirements),
            criteria=hidden(plan.criteria),
            expected_behaviour=hidden(plan.expected_behaviour),
            methods=hidden(plan.methods),
        ),
    )


def _hiding(names: Collection[str]) -> Callable[[str], str]:
    """Return the function that replaces the names of applications in a text."""
    if not names:
        return str
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)")
    return lambda text: pattern.sub(_HIDDEN_NAME, text)
