"""Dialogues and annotations of a run page by page, under the names and without the texts that exports leave out."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import Annotation, Answer
from theodolite.domain.dialogue import Dialogue, Level, TesterType, Turn
from theodolite.domain.errors import NotFound
from theodolite.domain.evidence import Archive
from theodolite.domain.identity import digest
from theodolite.domain.plan import Sessions, TesterKind
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import person_numbers

CHUNK = 64
"""Maximum number of sessions with texts in memory; count."""

WITHHELD = "session of a person; texts need a finished privacy review and `include_text`"
"""Reason for a missing text of a person's session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """The records of one run.

    Attributes:
        study: The study, with all human annotators.
        run: The run.
        sessions: Sessions of the plan, then those of people.
        archive: The records.
        include_text: Whether texts of sessions with people are included.
    """

    study: Study
    run: Run
    sessions: Sessions
    archive: Archive
    include_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """The records that a list is limited to; empty values admit everything.

    Attributes:
        application: Name of an application.
        scenario: Name of a scenario.
        level: Level of testing.
        guideline: Name of a guideline; for annotations only.
    """

    application: str = ""
    scenario: str = ""
    level: Level | None = None
    guideline: str = ""

    def admits(self, sessions: Sessions, position: int) -> bool:
        """Return whether the dialogue at a position belongs to the list."""
        setting = sessions.setting(position)
        return (
            self.application in {"", setting.application}
            and self.scenario in {"", setting.scenario}
            and self.level in {None, setting.level}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """One page of records.

    Attributes:
        records: The records, as JSON takes them.
        after: Position at which the next page starts; None on the last page.
    """

    records: tuple[dict[str, object], ...]
    after: int | None


def dialogue_page(source: RunRecords, criteria: RecordFilter, *, start: int, limit: int) -> RecordPage:
    """Return the completed dialogues from a position on, in order of the plan, without their turns.

    Positions of dialogues do not change during a run, so pages neither skip nor repeat a dialogue.

    Args:
        source: The records.
        criteria: Filter.
        start: First position.
        limit: Maximum number of dialogues per page; count.
    """
    result: list[tuple[int, Dialogue]] = []
    for chunk in _chunks(source, criteria, start):
        result += sorted(_placed(source, chunk).items())
        if len(result) > limit:
            break
    shown = result[:limit]
    return RecordPage(
        records=tuple(dialogue_record(source, position, dialogue) for position, dialogue in shown),
        after=shown[-1][0] + 1 if len(result) > limit else None,
    )


def annotation_page(source: RunRecords, criteria: RecordFilter, *, start: int, limit: int) -> RecordPage:
    """Return the annotations of whole dialogues from a position on, until there are at least `limit`.

    Args:
        source: The records.
        criteria: Filter.
        start: First position.
        limit: Annotations after which the page ends with its dialogue; count.
    """
    records: list[dict[str, object]] = []
    for chunk in _chunks(source, criteria, start):
        for position, result in _annotations(source, chunk, criteria.guideline):
            if len(records) >= limit and result:
                return RecordPage(records=tuple(records), after=position)
            records += result
    return RecordPage(records=tuple(records), after=None)


def dialogue_at(source: RunRecords, label: str) -> dict[str, object]:
    """Return a dialogue with its turns.

    Raises:
        NotFound: If the run has no completed dialogue of this label.
    """
    position = source.sessions.find(label)
    dialogue = _placed(source, [position]).get(position) if position is not None else None
    if dialogue is None or position is None:
        message = f"run {source.run.number} has no completed dialogue `{label}`"
        raise NotFound(message)
    is_hidden = _is_hidden(source, position)
    turns = [
        _turn(turn, is_hidden=is_hidden, is_timed=dialogue.held_by is not TesterType.RECORDED)
        for turn in dialogue.turns
    ]
    context = None if is_hidden else dialogue.context or None
    return dialogue_record(source, position, dialogue) | {"context": context, "turns": turns}


def annotation_at(source: RunRecords, name: str) -> dict[str, object]:
    """Return one annotation.

    Args:
        source: The records.
        name: Its id in a list.

    Raises:
        NotFound: If the run has no such annotation.
    """
    written, _, _ = name.partition("-")
    position = int(written) if written.isascii() and written.isdecimal() else len(source.sessions)
    if position < len(source.sessions):
        for _, result in _annotations(source, [position], ""):
            for annotation in result:
                if annotation["id"] == name:
                    return annotation
    message = f"run {source.run.number} has no annotation `{name}`"
    raise NotFound(message)


def dialogue_record(source: RunRecords, position: int, dialogue: Dialogue) -> dict[str, object]:
    """Return a dialogue's fields other than its texts, under the names of the dialogue table."""
    setting = source.sessions.setting(position)
    by_person = setting.held_by is TesterType.PERSON
    is_persona = setting.kind is TesterKind.PERSONA and not by_person
    is_case = setting.kind in {TesterKind.SCRIPT, TesterKind.ATTACK}
    return {
        "id": item_of(dialogue.key),
        "dialogue": dialogue.label,
        "run": source.run.number,
        "application": dialogue.application,
        "application_version": dialogue.application_version,
        "scenario": dialogue.scenario,
        "level": dialogue.level.value,
        "tester_type": dialogue.held_by.value,
        "persona": setting.tester if is_persona else None,
        "case": setting.tester if is_case else None,
        "repeat": dialogue.repeat,
        "n_turns": len(dialogue.turns),
        "ending": dialogue.ending.value,
        "groups": dict(dialogue.groups),
    }


def _chunks(source: RunRecords, criteria: RecordFilter, start: int) -> Iterator[list[int]]:
    """Yield positions that a filter admits, a few at a time."""
    positions = (index for index in range(start, len(source.sessions)) if criteria.admits(source.sessions, index))
    while chunk := list(itertools.islice(positions, CHUNK)):
        yield chunk


def _placed(source: RunRecords, positions: Collection[int]) -> dict[int, Dialogue]:
    """Return the completed dialogues at some positions."""
    placed = ((source.sessions.find(one.label), one) for one in source.archive.dialogues(set(positions)))
    return {position: dialogue for position, dialogue in placed if position is not None}


def _is_hidden(source: RunRecords, position: int) -> bool:
    return not source.include_text and source.sessions.setting(position).held_by is TesterType.PERSON


def _turn(turn: Turn, *, is_hidden: bool, is_timed: bool) -> dict[str, object]:
    is_withheld = is_hidden or bool(turn.withheld)
    return {
        "turn": turn.number,
        "prompt": None if is_withheld else turn.prompt,
        "response": None if is_withheld else turn.response,
        "context": None if is_withheld else turn.context or None,
        "withheld": WITHHELD if is_hidden else turn.withheld or None,
        "latency_s": turn.latency_s if is_timed else None,
    }


def _annotations(
    source: RunRecords, positions: Collection[int], guideline: str
) -> Iterator[tuple[int, list[dict[str, object]]]]:
    """Yield the annotations of the dialogues at some positions, in order."""
    placed = _placed(source, positions)
    by_key: dict[str, list[Annotation]] = {}
    for annotation in source.archive.annotations(set(positions)):
        if guideline in {"", annotation.guideline}:
            by_key.setdefault(annotation.dialogue, []).append(annotation)
    people = person_numbers(source.study, source.run)
    kinds = {annotator.name: annotator.kind.value for annotator in source.study.annotators}
    for position, dialogue in sorted(placed.items()):
        yield (
            position,
            [
                _annotation_record(source, position, dialogue, annotation, people, kinds)
                for annotation in by_key.get(dialogue.key, [])
            ],
        )


def _annotation_record(
    source: RunRecords,
    position: int,
    dialogue: Dialogue,
    annotation: Annotation,
    people: Mapping[str, str],
    kinds: Mapping[str, str],
) -> dict[str, object]:
    name = digest(
        "annotation", annotation.dialogue, annotation.annotator, annotation.guideline, str(annotation.revision)
    )
    return {
        "id": f"{position}-{name[:12]}",
        "dialogue": dialogue.label,
        "guideline": annotation.guideline,
        "guideline_version": annotation.instrument_version,
        "annotator": people.get(annotation.annotator, annotation.annotator),
        "annotator_kind": kinds.get(annotation.annotator, ""),
        "revision": annotation.revision,
        "answers": [_answer(answer, is_hidden=_is_hidden(source, position)) for answer in annotation.answers],
    }


def _answer(answer: Answer, *, is_hidden: bool) -> dict[str, object]:
    quotes = [{"turn": quote.turn, "text": quote.text} for quote in answer.evidence]
    return {
        "question": answer.question,
        "turn": answer.turn,
        "outcome": answer.outcome.value,
        "value": answer.value,
        "replicate": answer.replicate,
        "reason": None if is_hidden else answer.reasoning or None,
        "evidence": [] if is_hidden else quotes,
    }
