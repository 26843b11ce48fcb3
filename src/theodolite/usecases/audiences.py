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
    teams = {team.name: team.applications for team in (study.preregistered.teams if study.preregistered else ())}
    applications = tuple(team for team in teams.get(name, (name,)) if team in known)
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
        finding if finding.decision is ReviewDecision.KEEP else replace(finding, decision=ReviewDecision.REDACT)
        for finding in findings
    )
    return without_words(_of_applications(redacted_records(records, redactions), applications), private)


def for_public(records: ReleasedRecords, findings: Iterable[IdentifierFinding]) -> ReleasedRecords:
    """Return the records for a public report: texts with undecided identifiers are withheld."""
    known = list(findings)
    undecided = {finding.dialogue for finding in known if not finding.is_decided}
    return without_words(redacted_records(records, known), undecided)


def without_words(records: ReleasedRecords, labels: Collection[str]) -> ReleasedRecords:
    """Return records in which dialogues, and the reasons of labels about them, have no text."""
    keys = {dialogue.key for dialogue in records.dialogues if dialogue.label in labels}
    return replace(
        records,
        dialogues=tuple(
            _withheld(dialogue) if dialogue.label in labels else dialogue for dialogue in records.dialogues
        ),
        annotations=tuple(
            without_reasons(annotation) if annotation.dialogue in keys else annotation
            for annotation in records.annotations
        ),
        adjudications=tuple(
            replace(adjudication, rationale="", raw="") if adjudication.dialogue in keys else adjudication
            for adjudication in records.adjudications
        ),
    )


def _withheld(dialogue: Dialogue) -> Dialogue:
    turns = (replace(turn, prompt="", response="", context="", withheld=NOT_RELEASED) for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turns), context="", strategies=())


def _of_applications(records: ReleasedRecords, own: Collection[str]) -> ReleasedRecords:
    """Return the records about some applications only; none names or counts another one."""
    sessions = tuple(session for session in records.sessions if session.application in own)
    labels = {session.label for session in sessions}
    dialogues = tuple(dialogue for dialogue in records.dialogues if dialogue.application in own)
    keys = {dialogue.key for dialogue in dialogues}
    others = [application.name for application in records.study.applications if application.name not in own]
    samples = (
        replace(
            sample,
            strata=tuple(stratum for stratum in sample.strata if stratum.name.split(":", 1)[0] in own),
            dialogues=tuple(dialogue for dialogue in sample.dialogues if dialogue.dialogue in keys),
        )
        for sample in records.samples
    )
    return replace(
        records,
        study=_study_of(records.study, own, {session.scenario for session in sessions}, others),
        sessions=sessions,
        dialogues=dialogues,
        annotations=tuple(annotation for annotation in records.annotations if annotation.dialogue in keys),
        adjudications=tuple(adjudication for adjudication in records.adjudications if adjudication.dialogue in keys),
        failures=tuple(failure for failure in records.failures if failure.label in labels),
        responses=tuple(response for response in records.responses if set(response.dialogues) <= keys),
        assignments=tuple(assignment for assignment in records.assignments if assignment.dialogue in keys),
        samples=tuple(label_sample for label_sample in samples if label_sample.dialogues),
        left_out={},
    )


def _study_of(study: Study, own: Collection[str], scenarios: Collection[str], others: Collection[str]) -> Study:
    hidden = _hiding(others)
    used = {annotator.labelling.model for annotator in study.annotators if isinstance(annotator.labelling, ModelJudge)}
    used |= {group.model for group in study.personas} | {scenario.attacker for scenario in study.scenarios}
    applications = (
        replace(
            application,
            description=hidden(application.description),
            variant_of=application.variant_of if application.variant_of in own else "",
            claims=tuple(replace(claim, text=hidden(claim.text)) for claim in application.claims),
            mitigations=tuple(replace(each, description=hidden(each.description)) for each in application.mitigations),
        )
        for application in study.applications
        if application.name in own
    )
    series = study.preregistered
    return replace(
        study,
        preregistered=_series_of(series, own, hidden) if series else None,
        title=hidden(study.title),
        about=hidden(study.about),
        applications=tuple(applications),
        scenarios=tuple(scenario for scenario in study.scenarios if scenario.name in scenarios),
        models=tuple(model for model in study.models if model.name in used),
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
