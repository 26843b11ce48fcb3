"""Curation of a public release: omissions, removed identifiers, and new ids for everything."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, TypeVar

from theodolite.assessment.redaction import identifiers
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation, AnnotatorKind, Answer
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan
from theodolite.domain.evidence import Evidence, listed_evidence
from theodolite.domain.identity import digest
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.network import NetworkSettings
from theodolite.domain.persona import Attack, Persona, Script
from theodolite.domain.plan import PlannedSession, Slot, Tester
from theodolite.domain.release import DialogueAssignment, IdentifierFinding, ReleasedRecords, ReviewDecision
from theodolite.domain.run import Failure, Run, Spending
from theodolite.domain.scenario import Scenario, TestPacket
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study

MIN_GROUP: Final = 5
"""People who must share a combination of attributes before it is published; count."""

WITHHELD_GROUP: Final = "withheld"
"""Value of an attribute that fewer people share."""

_CONTEXT: Final = 40
_MIN_NAME_PART: Final = 3
_NOT_ABOUT_PEOPLE: Final = frozenset({"application", "level", "scenario", "task", "risk"})
_HASH: Final = re.compile(r"[0-9a-f]{16,}\Z")
_NO_TEXT: Final = frozenset(
    {"key", "label", "unit", "pair_key", "cluster", "dialogue", "session", "participant", "participants", "sha256"}
    | {"release_signs", "refusal_signs", "any_of", "none_of", "groups", "distributions", "files"}
)
"""Fields without text written by people; their ids are replaced by new ones."""

R = TypeVar("R")
Rewrite = Callable[[str], str]


def curate(
    evidence: Evidence,
    *,
    without_consent: Collection[str] = (),
    restricted: Collection[str] = (),
    redact: Callable[[Dialogue], Dialogue] = lambda dialogue: dialogue,
    held_out: Collection[str] = (),
    min_group: int = MIN_GROUP,
) -> ReleasedRecords:
    """Return the records of a run without those that must not be published; their ids are still the original ones.

    Args:
        evidence: The evidence of the run.
        without_consent: Labels of dialogues by participants who have not agreed to releases.
        restricted: Keys of dialogues that an open case restricts.
        redact: Applies the redactions of reviewers to a dialogue.
        held_out: Names of scenarios with private texts.
        min_group: People who must share a combination of attributes; count.
    """
    reasons = dict.fromkeys(without_consent, "participant did not agree")
    dialogues: list[Dialogue] = []
    for dialogue in evidence.archive.dialogues():
        if dialogue.key in restricted:
            reasons[dialogue.label] = "restricted by a case"
        if dialogue.label not in reasons:
            hidden = redact(dialogue)
            dialogues.append(_without_texts(hidden) if dialogue.scenario in held_out else hidden)
    keys = {one.key for one in dialogues}
    shown = (_without_aim(session, held_out) for session in evidence.sessions if session.label not in reasons)
    sessions = _with_common_groups(list(shown), min_group)
    private = {one.key for one in dialogues if one.scenario in held_out}
    groups = {session.label: session.groups for session in sessions}
    return ReleasedRecords(
        study=_without_packets(evidence.study, held_out),
        run=evidence.run,
        sessions=sessions,
        dialogues=tuple(replace(one, groups=_as_common(one.groups, groups[one.label])) for one in dialogues),
        annotations=tuple(
            without_reasons(annotation) if annotation.dialogue in private else annotation
            for annotation in evidence.archive.annotations()
            if annotation.dialogue in keys
        ),
        adjudications=tuple(
            replace(adjudication, rationale="", raw="") if adjudication.dialogue in private else adjudication
            for adjudication in evidence.archive.adjudications()
            if adjudication.dialogue in keys
        ),
        failures=tuple(failure for failure in evidence.archive.failures() if failure.label not in reasons),
        responses=tuple(_closed(evidence, keys)),
        assignments=tuple(_assignments(evidence, dialogues)),
        samples=tuple(
            replace(sample, dialogues=tuple(unit for unit in sample.dialogues if unit.dialogue in keys))
            for sample in evidence.samples
        ),
        annotator_attributes=_common_attributes(evidence.annotator_attributes, min_group),
        left_out=Counter(reasons.values()),
    )


def _assignments(evidence: Evidence, dialogues: Iterable[Dialogue]) -> Iterator[DialogueAssignment]:
    keys = {evidence.sessions.find(dialogue.label): dialogue.key for dialogue in dialogues}
    for annotator, assigned in evidence.answers.assigned.items():
        for position in assigned:
            if position in keys:
                yield DialogueAssignment(annotator=annotator, dialogue=keys[position])


def _without_packets(study: Study, held_out: Collection[str]) -> Study:
    """Return a study without the scripts, attack goals, signs and sources of held-out scenarios."""
    return replace(
        study,
        scenarios=tuple(_hidden(scenario) if scenario.name in held_out else scenario for scenario in study.scenarios),
        translations=() if held_out else study.translations,
    )


def _without_aim(session: PlannedSession, held_out: Collection[str]) -> PlannedSession:
    """Return a session of a held-out scenario without the text of its attack."""
    if session.scenario not in held_out or not isinstance(session.tester, Attack):
        return session
    return replace(session, tester=replace(session.tester, aim=replace(session.tester.aim, ask=_HELD_OUT)))


def _hidden(scenario: Scenario) -> Scenario:
    scripts = (
        replace(script, prompts=(_HELD_OUT,) * len(script.prompts), expected="", values={})
        for script in scenario.scripts
    )
    return replace(
        scenario,
        goal=_HELD_OUT,
        starter="",
        packet=TestPacket(),
        scripts=tuple(scripts),
        instructions={},
        corpus=(),
        aims=tuple(replace(aim, ask=_HELD_OUT) for aim in scenario.aims),
    )


_HELD_OUT: Final = "held out"


def without_reasons(annotation: Annotation) -> Annotation:
    """Return an annotation without reasons, quotes and raw replies."""
    votes = (replace(vote, answers=tuple(map(_bare_answer, vote.answers))) for vote in annotation.votes)
    return replace(annotation, answers=tuple(map(_bare_answer, annotation.answers)), votes=tuple(votes))


def _bare_answer(answer: Answer) -> Answer:
    return replace(answer, reasoning="", evidence=(), raw="")


def _without_texts(dialogue: Dialogue) -> Dialogue:
    why = "held-out scenario"
    turns = tuple(replace(turn, prompt="", response="", context="", withheld=why) for turn in dialogue.turns)
    return replace(dialogue, turns=turns, context="", strategies=(), persona=None)


def _closed(evidence: Evidence, keys: Collection[str]) -> Iterator[QuestionnaireResponse]:
    """Yield the submitted responses about released dialogues, without answers in the testers' own words."""
    open_questions = {
        (questionnaire.name, question.name)
        for questionnaire in evidence.study.questionnaires
        for question in questionnaire.instrument.questions
        if question.scale.kind is ScaleKind.TEXT
    }
    for response in evidence.responses:
        if response.submitted and response.dialogues and set(response.dialogues) <= set(keys):
            closed = (
                replace(answer, reasoning="", raw="", evidence=())
                for answer in response.answers
                if (response.questionnaire, answer.question) not in open_questions
            )
            yield replace(response, answers=tuple(closed), groups={})


def _with_common_groups(sessions: Sequence[PlannedSession], least: int) -> tuple[PlannedSession, ...]:
    """Return sessions whose people share each combination of attributes with enough others."""
    people = [session for session in sessions if session.held_by is TesterType.PERSON]
    rows = {(one.cluster, index): dict(one.groups) for index, one in enumerate(people)}
    common = common_values(rows, least, who=lambda key: key[0])
    changed = {one.label: common[one.cluster, index] for index, one in enumerate(people)}
    return tuple(replace(session, groups=changed.get(session.label, session.groups)) for session in sessions)


def _as_common(own: Mapping[str, str], common: Mapping[str, str]) -> dict[str, str]:
    return {name: common.get(name, value) for name, value in own.items()}


def _common_attributes(attributes: Mapping[str, Mapping[str, str]], least: int) -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for attribute, group_of in attributes.items():
        for annotator, group in group_of.items():
            rows[annotator][attribute] = group
    common = common_values(rows, least, who=lambda annotator: annotator)
    result: dict[str, dict[str, str]] = {}
    for annotator, row in common.items():
        for attribute, group in row.items():
            result.setdefault(attribute, {})[annotator] = group
    return {attribute: group_of for attribute, group_of in result.items() if set(group_of.values()) != {WITHHELD_GROUP}}


Key = TypeVar("Key")


def common_values(
    rows: Mapping[Key, Mapping[str, str]], least: int, *, who: Callable[[Key], str]
) -> dict[Key, dict[str, str]]:
    """Return rows in which at least so many people share each combination of attributes.

    The attribute with the most distinct values is withheld first, in all rows, until the
    condition holds: k-anonymity by suppression of whole attributes.

    Args:
        rows: Attributes by key.
        least: People who must share a combination; count.
        who: The person of a key.

    Source:
        Sweeney (2002), k-anonymity, Int. J. Uncertainty, Fuzziness and Knowledge-Based Systems 10(5):557-570,
        doi:10.1142/S0218488502001648.
    """
    remaining = {key: dict(row) for key, row in rows.items()}
    names = {name for row in remaining.values() for name in row} - _NOT_ABOUT_PEOPLE
    while names and not _is_common(remaining, names, least, who):
        values = {name: {row.get(name, "") for row in remaining.values()} for name in names}
        rarest = max(sorted(names), key=lambda name: len(values[name]))
        for row in remaining.values():
            if rarest in row:
                row[rarest] = WITHHELD_GROUP
        names = names - {rarest}
    return remaining


def _is_common(
    rows: Mapping[Key, Mapping[str, str]], names: Collection[str], least: int, who: Callable[[Key], str]
) -> bool:
    people: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for key, row in rows.items():
        people[tuple(row.get(name, "") for name in sorted(names))].add(who(key))
    return all(len(sharing) >= least for sharing in people.values())


# --- Identifiers


def findings_in(records: ReleasedRecords) -> tuple[IdentifierFinding, ...]:
    """Return the identifiers in all texts of a release, dialogue by dialogue; the study's own texts come last."""
    result: dict[str, IdentifierFinding] = {}
    for label, texts in _texts_by_dialogue(records):
        for text in texts:
            for span in identifiers(text):
                finding = _finding(label, text, span)
                known = result.get(finding.key)
                result[finding.key] = replace(known, n=known.n + 1) if known else finding
    return tuple(result.values())


def _finding(label: str, text: str, span: IdentifyingSpan) -> IdentifierFinding:
    return IdentifierFinding(
        key=digest("identifier", label, span.kind.value, span.words)[:12],
        kind=span.kind.value,
        dialogue=label,
        words=span.words,
        context=" ".join(text[max(span.start - _CONTEXT, 0) : span.end + _CONTEXT].split()),
        n=1,
    )


def _texts_by_dialogue(records: ReleasedRecords) -> Iterator[tuple[str, list[str]]]:
    texts: dict[str, list[str]] = {one.label: [] for one in records.dialogues}
    labels = {one.key: one.label for one in records.dialogues}
    for dialogue in records.dialogues:
        texts[dialogue.label] += _texts_of(dialogue)
    for annotation in records.annotations:
        texts[labels[annotation.dialogue]] += _texts_of(annotation)
    for final in records.adjudications:
        texts[labels[final.dialogue]] += _texts_of(final)
    yield from texts.items()
    yield "", list(_texts_of(public_study(records.study)))


def _texts_of(record: object) -> Iterator[str]:
    collected: list[str] = []

    def collect(text: str) -> str:
        collected.append(text)
        return text

    rewritten(record, collect)
    yield from collected


def redacted_records(records: ReleasedRecords, findings: Iterable[IdentifierFinding]) -> ReleasedRecords:
    """Return a release in which the identifiers that are to be redacted are replaced by their kind.

    An identifier is replaced wherever it occurs in its dialogue and in the labels of this dialogue;
    of a name, each part of at least three letters.
    """
    rewrites: dict[str, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
    for finding in findings:
        if finding.decision is ReviewDecision.REDACT:
            rewrites[finding.dialogue] += _patterns(finding)
    labels = {dialogue.key: dialogue.label for dialogue in records.dialogues}

    def by_label(label: str) -> Rewrite:
        return lambda text: _replaced(text, rewrites.get(label, ()))

    return replace(
        records,
        study=rewritten(records.study, by_label("")),
        dialogues=tuple(rewritten(dialogue, by_label(dialogue.label)) for dialogue in records.dialogues),
        annotations=tuple(
            rewritten(annotation, by_label(labels[annotation.dialogue])) for annotation in records.annotations
        ),
        adjudications=tuple(
            rewritten(adjudication, by_label(labels[adjudication.dialogue])) for adjudication in records.adjudications
        ),
    )


def _patterns(finding: IdentifierFinding) -> Iterator[tuple[re.Pattern[str], str]]:
    mark = f"[{finding.kind} removed]"
    yield re.compile(re.escape(finding.words)), mark
    if finding.kind == IdentifyingKind.NAME.value:
        for part in finding.words.split():
            if len(part) >= _MIN_NAME_PART:
                yield re.compile(rf"(?<!\w){re.escape(part)}(?!\w)"), mark


def _replaced(text: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, mark in patterns:
        text = pattern.sub(lambda _, mark=mark: mark, text)  # type: ignore[misc]  # a default argument binds it
    return text


def rewritten(record: R, rewrite: Rewrite, *, name: str = "") -> R:
    """Return a record with rewritten texts; ids, hashes and words of closed lists are unchanged."""
    value: Any = record
    if isinstance(value, Enum) or name in _NO_TEXT:
        return record
    if isinstance(value, str):
        return record if not value or _HASH.match(value) else rewrite(value)  # type: ignore[return-value]  # a text
    if isinstance(value, tuple | list):
        return tuple(rewritten(item, rewrite) for item in value)  # type: ignore[return-value]  # records hold tuples
    if isinstance(value, Mapping):
        return {key: rewritten(item, rewrite) for key, item in value.items()}  # type: ignore[return-value]  # likewise
    if dataclasses.is_dataclass(value):
        parts = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        changed = {key: rewritten(part, rewrite, name=key) for key, part in parts.items()}
        different = {key: part for key, part in changed.items() if part != parts[key]}
        copied: R = replace(value, **different) if different else record  # type: ignore[type-var,assignment]  # a record
        return copied
    return record


# --- New ids


@dataclass(slots=True)
class _Ids:
    """New ids, drawn once for each original id; the link is not stored."""

    draw: Callable[[], str]
    known: dict[str, str] = field(default_factory=dict)

    def key(self, original: str) -> str:
        """Return the new id for an original one; an empty id stays empty."""
        if not original:
            return ""
        if original not in self.known:
            self.known[original] = self.draw()
        return self.known[original]

    def names(self, originals: Iterable[str], prefix: str) -> dict[str, str]:
        """Return a number for each original in a drawn order, e.g. `tester-007`."""
        order = sorted(set(originals), key=lambda original: self.key(f"{prefix} {original}"))
        return {one: f"{prefix}-{number:03}" for number, one in enumerate(order, 1)}


def anonymised(records: ReleasedRecords, draw: Callable[[], str]) -> ReleasedRecords:
    """Return a release with new ids in a new order, without times.

    Args:
        records: Curated records.
        draw: Returns 64 random hexadecimal digits, the only source of the new ids.
    """
    ids = _Ids(draw)
    sessions = sorted(records.sessions, key=lambda session: ids.key(f"order {session.label}"))
    renaming = _Renaming(
        ids=ids,
        labels={one.label: f"r{number:05}" for number, one in enumerate(sessions, 1)},
        clusters=ids.names(
            (session.cluster for session in sessions if _is_private(session.held_by) and session.cluster), "group"
        ),
        people=_names_of_people(records.study, ids),
    )
    study = renaming.study(records.study)
    annotations = (renaming.annotation(annotation, study) for annotation in records.annotations)
    finals = (renaming.adjudication(adjudication) for adjudication in records.adjudications)
    failures = (renaming.failure(failure) for failure in records.failures if failure.label in renaming.labels)
    responses = (renaming.response(response) for response in records.responses)
    assignments = (renaming.assignment(assignment) for assignment in records.assignments)
    dialogues = (renaming.dialogue(dialogue) for dialogue in records.dialogues)
    return replace(
        records,
        study=study,
        run=renaming.run(records.run),
        sessions=tuple(renaming.session(session) for session in sessions),
        dialogues=tuple(sorted(dialogues, key=lambda dialogue: dialogue.label)),
        annotations=tuple(
            sorted(
                annotations, key=lambda annotation: (annotation.dialogue, annotation.guideline, annotation.annotator)
            )
        ),
        adjudications=tuple(sorted(finals, key=lambda final: (final.dialogue, final.guideline, final.question))),
        failures=tuple(sorted(failures, key=lambda failure: (failure.label, failure.unit))),
        responses=tuple(sorted(responses, key=lambda response: (response.session, response.questionnaire))),
        assignments=tuple(sorted(assignments, key=lambda assignment: (assignment.annotator, assignment.dialogue))),
        samples=tuple(renaming.sample(sample) for sample in records.samples),
        annotator_attributes={
            attribute: dict(sorted((renaming.people.get(name, name), group) for name, group in group_of.items()))
            for attribute, group_of in records.annotator_attributes.items()
        },
    )


def _is_private(held_by: TesterType) -> bool:
    """Return whether the ids of a tester's side may come from people: those of simulated users and scripts do not."""
    return held_by in {TesterType.PERSON, TesterType.RECORDED}


def _names_of_people(study: Study, ids: _Ids) -> dict[str, str]:
    """Return the new name of each human annotator; a person with several guidelines keeps one name."""
    people = [annotator for annotator in study.annotators if annotator.kind is AnnotatorKind.PERSON]
    persons = ids.names((_person(person) for person in people), "annotator")
    return {
        person.name: persons[_person(person)]
        + (f"-{person.guideline}" if person.name.endswith(f"-{person.guideline}") else "")
        for person in people
    }


def _of_no_column(annotator: Annotator) -> Annotator:
    """Return an annotator without the name of a column of a private file."""
    labelling = annotator.labelling
    if not isinstance(labelling, RecordedLabels):
        return annotator
    return replace(annotator, labelling=replace(labelling, column=annotator.name))


def _person(annotator: Annotator) -> str:
    return annotator.name.removesuffix(f"-{annotator.guideline}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renaming:
    ids: _Ids
    labels: Mapping[str, str]
    clusters: Mapping[str, str]
    people: Mapping[str, str]

    def study(self, study: Study) -> Study:
        machines = [_of_no_column(annotator) for annotator in study.annotators if annotator.name not in self.people]
        renamed = (self._annotator(annotator) for annotator in study.annotators if annotator.name in self.people)
        return replace(public_study(study), annotators=(*machines, *sorted(renamed, key=lambda one: one.name)))

    def _annotator(self, annotator: Annotator) -> Annotator:
        name = self.people[annotator.name]
        return _of_no_column(replace(annotator, name=name, title=name.removesuffix(f"-{annotator.guideline}")))

    def session(self, session: PlannedSession) -> PlannedSession:
        return replace(
            session,
            label=self.labels[session.label],
            pair_key=self.ids.key(session.pair_key),
            cluster=self.clusters.get(session.cluster, session.cluster),
            tester=self._tester(session),
        )

    def _tester(self, session: PlannedSession) -> Tester:
        tester = session.tester
        if isinstance(tester, Slot):
            number = int(self.clusters.get(session.cluster, "group-0").rsplit("-", 1)[1])
            return Slot(level=tester.level, number=number)
        if isinstance(tester, Script):
            key = self.ids.key(tester.key) if session.held_by is TesterType.RECORDED else tester.key
            return Script(key=key, prompts=(), purpose=tester.purpose)
        return _bare(tester) if isinstance(tester, Persona) else tester

    def dialogue(self, dialogue: Dialogue) -> Dialogue:
        is_person = dialogue.held_by is TesterType.PERSON
        turns = tuple(
            replace(turn, prompt_at=None, response_at=None, latency_s=None if is_person else turn.latency_s)
            for turn in dialogue.turns
        )
        return replace(
            dialogue,
            key=self.ids.key(dialogue.key),
            label=self.labels[dialogue.label],
            pair_key=self.ids.key(dialogue.pair_key),
            cluster=self.clusters.get(dialogue.cluster, dialogue.cluster),
            persona=_bare(dialogue.persona) if dialogue.persona else None,
            turns=turns,
            strategies=tuple(
                replace(strategy, dialogue=self.ids.key(strategy.dialogue)) for strategy in dialogue.strategies
            ),
        )

    def annotation(self, annotation: Annotation, study: Study) -> Annotation:
        renamed = replace(annotation, unit=self.ids.key(annotation.unit), dialogue=self.ids.key(annotation.dialogue))
        if annotation.annotator not in self.people:
            return renamed
        name = self.people[annotation.annotator]
        return replace(renamed, annotator=name, annotator_version=study.annotator_version(name), sitting=0)

    def adjudication(self, final: Adjudication) -> Adjudication:
        return replace(final, dialogue=self.ids.key(final.dialogue), participants=(), decided=None)

    def failure(self, failure: Failure) -> Failure:
        return replace(
            failure,
            unit=self.ids.key(failure.unit),
            label=self.labels[failure.label],
            annotator=self.people.get(failure.annotator, failure.annotator),
            message="",
            spent=Spending(),
        )

    def assignment(self, assignment: DialogueAssignment) -> DialogueAssignment:
        annotator = self.people.get(assignment.annotator, assignment.annotator)
        return DialogueAssignment(annotator=annotator, dialogue=self.ids.key(assignment.dialogue))

    def sample(self, sample: LabelSample) -> LabelSample:
        units = (replace(dialogue, dialogue=self.ids.key(dialogue.dialogue)) for dialogue in sample.dialogues)
        return replace(sample, dialogues=tuple(sorted(units, key=lambda unit: unit.dialogue)))

    def run(self, run: Run) -> Run:
        month = datetime(run.started.year, run.started.month, 1, tzinfo=UTC)
        return replace(run, key=self.ids.key(run.key), started=month, finished=month if run.finished else None)

    def response(self, response: QuestionnaireResponse) -> QuestionnaireResponse:
        return replace(
            response,
            session=self.ids.key(response.session),
            participant=self.ids.key(response.participant),
            dialogues=tuple(sorted(self.ids.key(dialogue) for dialogue in response.dialogues)),
        )


def _bare(persona: Persona) -> Persona:
    """Return a persona without the texts that the study already contains, and without its row."""
    bare: dict[str, Any] = {"text": "", "goal": "", "starter": "", "parameters": {}, "style": (), "material": ""}
    return replace(persona, name=persona.key, **bare)


def public_study(study: Study) -> Study:
    """Return a study without addresses, names of keys, code, rows of personas and contacts."""
    return replace(
        study,
        applications=tuple(_public_application(application) for application in study.applications),
        models=tuple(
            replace(model, url="", key="", key_header="", network=NetworkSettings()) for model in study.models
        ),
        personas=tuple(replace(persona, rows=()) for persona in study.personas),
        scenarios=tuple(
            replace(
                scenario, scripts=tuple(replace(script, prompts=()) for script in scenario.scripts), instructions={}
            )
            for scenario in study.scenarios
        ),
        event=replace(study.event, contact="", screening=()) if study.event else None,
        annotator_attributes={},
        translations=(),
        reference=replace(study.reference, column="") if study.reference else None,
        preregistered=None,
    )


def _public_application(application: Application) -> Application:
    connection = RecordedFile(file="dialogues.jsonl", sha256="", columns={}, where={"application": application.name})
    return replace(application, connection=connection)


def released_evidence(records: ReleasedRecords) -> Evidence:
    """Return the evidence that a release is measured from."""
    evidence = listed_evidence(
        records.study,
        records.run,
        records.sessions,
        dialogues=records.dialogues,
        annotations=records.annotations,
        adjudications=records.adjudications,
        failures=records.failures,
        responses=records.responses,
        assignments=[(assignment.annotator, assignment.dialogue) for assignment in records.assignments],
    )
    dialogues = {unit.dialogue for sample in records.samples for unit in sample.dialogues}
    positions = {
        dialogue.key: evidence.sessions.find(dialogue.label)
        for dialogue in records.dialogues
        if dialogue.key in dialogues
    }
    return replace(
        evidence,
        samples=records.samples,
        drawn={key: position for key, position in positions.items() if position is not None},
        annotator_attributes=records.annotator_attributes,
    )
