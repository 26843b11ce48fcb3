"""The dialogue table: texts, labels, failures, time and cost in one row for each turn and label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import Adjudication, Annotation, Answer, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.dialogue import Dialogue, TesterType, Turn
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.plan import TesterKind, expected_of
from theodolite.domain.run import Failure
from theodolite.domain.status import Call, spent_on
from theodolite.reporting.queries.cases import pseudonyms

COLUMNS: Mapping[str, type] = {
    "dialogue": str,
    "application": str,
    "scenario": str,
    "persona": str,
    "case": str,
    "repeat": int,
    "turn": int,
    "prompt": str,
    "response": str,
    "expected": str,
    "tools": str,
    "judge": str,
    "label": str,
    "score": float,
    "defect": bool,
    "reason": str,
    "quote": str,
    "failure": str,
    "latency_s": float,
    "cost_usd": float,
    "run": int,
    "id": str,
    "application_version": str,
    "level": str,
    "tester_type": str,
    "turns": int,
    "context": str,
    "withheld": str,
    "judge_kind": str,
    "guideline": str,
    "question": str,
    "asked_about": str,
    "outcome": str,
    "votes": str,
    "judge_cost_usd": float,
    "failure_source": str,
    "failure_message": str,
}
"""Columns that every study has, with the type of their values."""

_CASES = frozenset({TesterKind.SCRIPT, TesterKind.ATTACK})
"""Testers that are test cases: scripts, recorded items and planned attacks."""

_CHUNK = 256
"""Maximum number of sessions with texts in memory; count."""


@dataclass(slots=True)
class RecordChunk:
    """The records of a few sessions in order of the plan.

    Attributes:
        positions: Positions of the sessions in the plan.
        dialogues: The dialogues, by label of the session.
        annotations: Annotations, by key of the dialogue.
        finals: Final labels, by key of the dialogue.
        failures: Failures of sessions and annotators, by label of the session.
        calls: Calls, by key of the dialogue or of the annotation's unit.
    """

    positions: range
    dialogues: dict[str, Dialogue] = field(default_factory=dict)
    annotations: dict[str, list[Annotation]] = field(default_factory=dict)
    finals: dict[str, list[Adjudication]] = field(default_factory=dict)
    failures: dict[str, list[Failure]] = field(default_factory=dict)
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    """One label of a dialogue or turn, by any annotator or from a review."""

    judge: str
    judge_kind: str
    guideline: str
    answer: Answer
    votes: str = ""
    cost_usd: float | None = None
    failure: Failure | None = None


def dialogue_columns(evidence: Evidence) -> dict[str, type]:
    """Return the columns of a run's dialogue table: those of every study, then a column `group_NAME` for each group."""
    return dict(COLUMNS) | {f"group_{name}": str for name in _group_names(evidence)}


def _group_names(evidence: Evidence) -> tuple[str, ...]:
    settings = (evidence.sessions.setting(position) for position in range(len(evidence.sessions)))
    return tuple(sorted({name for setting in settings for name in setting.groups}))


def dialogue_rows(
    evidence: Evidence, guideline: str = "", *, include_text: bool = False
) -> Iterator[dict[str, object]]:
    """Yield the rows of the dialogue table in order of the plan.

    Each turn has at least one row, and each label is in exactly one row: a
    label of a turn in a row of that turn, a label of the whole dialogue in a row
    of the last turn. A session without a dialogue has one row that names the failure,
    or the outcome `missing` where it was not run. `latency_s` and `cost_usd` belong
    to the turn and `judge_cost_usd` to the annotation; they repeat on further
    rows of the same turn or annotation.

    Args:
        evidence: All records of one run.
        guideline: Only labels by this guideline, and only sessions that it applies to; empty for all.
        include_text: Whether texts of sessions with people are included. If not, `withheld` marks it.
    """
    groups, people = _group_names(evidence), pseudonyms(evidence)
    for chunk in record_chunks(evidence):
        for position in chunk.positions:
            for row in _session_rows(evidence, chunk, position, guideline, groups, people):
                yield row if include_text else _without_words_of_people(row)


def record_chunks(evidence: Evidence) -> Iterator[RecordChunk]:
    """Yield the records of a run a few hundred sessions at a time, so that memory stays bounded."""
    for start in range(0, len(evidence.sessions), _CHUNK):
        yield _read(evidence, range(start, min(start + _CHUNK, len(evidence.sessions))))


def _read(evidence: Evidence, positions: range) -> RecordChunk:
    archive, at, chunk = evidence.archive, set(positions), RecordChunk(positions)
    chunk.dialogues = {dialogue.label: dialogue for dialogue in archive.dialogues(at)}
    for annotation in archive.annotations(at):
        chunk.annotations.setdefault(annotation.dialogue, []).append(annotation)
    for final in archive.adjudications(at):
        chunk.finals.setdefault(final.dialogue, []).append(final)
    for failure in archive.failures(at):
        chunk.failures.setdefault(failure.label, []).append(failure)
    annotations = [annotation for listed in chunk.annotations.values() for annotation in listed]
    chunk.calls = archive.calls(tuple(chunk.dialogues.values()), annotations)
    return chunk


def _session_rows(
    evidence: Evidence,
    chunk: RecordChunk,
    position: int,
    guideline: str,
    groups: Sequence[str],
    people: Mapping[str, str],
) -> Iterator[dict[str, object]]:
    session = evidence.sessions[position]
    dialogue = chunk.dialogues.get(session.label)
    failures = chunk.failures.get(session.label, [])
    setting = evidence.sessions.setting(position)
    by_person = setting.held_by is TesterType.PERSON
    base: dict[str, object] = dict.fromkeys(COLUMNS) | {
        "run": evidence.run.number,
        "dialogue": session.label,
        "application": setting.application,
        "scenario": setting.scenario,
        "level": setting.level.value,
        "tester_type": setting.held_by.value,
        "persona": setting.tester if setting.kind is TesterKind.PERSONA and not by_person else None,
        "case": setting.tester if setting.kind in _CASES else None,
        "repeat": session.repeat,
        "expected": expected_of(session.tester) or None,
    }
    base |= {f"group_{name}": setting.groups.get(name) for name in groups}
    if dialogue is None:
        failed = next((failure for failure in failures if not failure.annotator), None)
        outcome = Outcome.FAILED if failed else Outcome.MISSING
        yield base | _failure_cells(failed) | {"outcome": outcome.value}
        return
    if not evidence.study.labelled_by(dialogue, guideline):
        return
    labels = list(_labels(evidence, chunk, dialogue, guideline, people, failures))
    base |= {
        "id": item_of(dialogue.key),
        "application_version": dialogue.application_version,
        "turns": len(dialogue.turns),
    }
    yield from _dialogue_rows(evidence, dialogue, base, labels, chunk.calls.get(dialogue.key, ()))


def _dialogue_rows(
    evidence: Evidence, dialogue: Dialogue, base: Mapping[str, object], labels: Sequence[_Label], calls: Sequence[Call]
) -> Iterator[dict[str, object]]:
    guidelines = {guideline.name: guideline for guideline in evidence.study.guidelines}
    last = len(dialogue.turns)
    known = {turn.number for turn in dialogue.turns}
    for turn in dialogue.turns or (None,):
        number = turn.number if turn else None
        row = {**base, **(_turn_cells(dialogue, turn, calls) if turn else {})}
        of_turn = [
            label
            for label in labels
            if turn is None or label.answer.turn == number or (label.answer.turn not in known and number == last)
        ]
        for label in of_turn:
            yield row | _label_cells(label, guidelines.get(label.guideline), dialogue)
        if not of_turn:
            yield row


def _without_words_of_people(row: dict[str, object]) -> dict[str, object]:
    if row["tester_type"] != TesterType.PERSON.value or row["prompt"] is None:
        return row
    hidden = dict.fromkeys(("prompt", "response", "context", "quote", "reason"))
    return row | hidden | {"withheld": "session of a person; exported with --include-text"}


def _turn_cells(dialogue: Dialogue, turn: Turn, calls: Sequence[Call]) -> dict[str, object]:
    positions = [
        position for position in (turn.prompt_at, turn.response_at) if position is not None and position < len(calls)
    ]
    return {
        "turn": turn.number,
        "prompt": None if turn.withheld else turn.prompt,
        "response": None if turn.withheld else turn.response,
        "context": (turn.context or dialogue.context or None) if not turn.withheld else None,
        "withheld": turn.withheld or None,
        "latency_s": None if dialogue.held_by is TesterType.RECORDED else turn.latency_s,
        "cost_usd": _cost_usd([calls[position] for position in positions]),
    }


def _cost_usd(calls: Iterable[Call]) -> float | None:
    """Return the cost of calls; None without calls, or with one of unknown price."""
    spent = spent_on(calls)
    return spent.cost_microusd / 1e6 if spent.calls and not spent.unpriced_calls else None


def _labels(
    evidence: Evidence,
    chunk: RecordChunk,
    dialogue: Dialogue,
    guideline: str,
    people: Mapping[str, str],
    failures: Sequence[Failure],
) -> Iterator[_Label]:
    """Yield annotators' answers, final labels, and annotations that failed."""
    kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
    for annotation in chunk.annotations.get(dialogue.key, []):
        cost = _cost_usd(chunk.calls.get(annotation.unit, ()))
        for answer in annotation.answers if guideline in {"", annotation.guideline} else ():
            yield _Label(
                judge=people.get(annotation.annotator, annotation.annotator),
                judge_kind=kinds.get(annotation.annotator, ""),
                guideline=annotation.guideline,
                answer=answer,
                votes=_votes(annotation, answer),
                cost_usd=cost,
            )
    for final in chunk.finals.get(dialogue.key, []):
        if guideline in {"", final.guideline}:
            answer = Answer(
                question=final.question, outcome=final.outcome, value=final.value, reasoning=final.rationale
            )
            yield _Label(judge=REFERENCE, judge_kind="final label", guideline=final.guideline, answer=answer)
    by_name = {annotator.name: annotator.guideline for annotator in evidence.study.annotators}
    for failure in failures:
        guideline_name = by_name.get(failure.annotator, "")
        if failure.annotator and guideline in {"", guideline_name}:
            yield _Label(
                judge=people.get(failure.annotator, failure.annotator),
                judge_kind=kinds.get(failure.annotator, ""),
                guideline=guideline_name,
                answer=Answer(question="", outcome=Outcome.FAILED),
                failure=failure,
            )


def _votes(annotation: Annotation, answer: Answer) -> str:
    """Return the labels of a judge's votes in their order, with the outcome of each vote that has no label."""
    same = (
        other
        for vote in annotation.votes
        for other in vote.answers
        if (other.question, other.turn) == (answer.question, answer.turn)
    )
    return " | ".join(other.outcome.value if other.value is None else other.value for other in same)


def _label_cells(label: _Label, guideline: Guideline | None, dialogue: Dialogue) -> dict[str, object]:
    answer = label.answer
    return {
        "judge": label.judge,
        "judge_kind": label.judge_kind,
        "guideline": label.guideline,
        "question": answer.question or None,
        "asked_about": None if label.failure else ("turn" if answer.turn is not None else "dialogue"),
        "outcome": answer.outcome.value,
        "label": answer.value,
        "score": score_of(answer, guideline),
        "defect": is_defect(answer, guideline, dialogue),
        "reason": answer.reasoning or None,
        "quote": " | ".join(f"[{quote.turn}] {quote.text}" for quote in answer.evidence) or None,
        "votes": label.votes or None,
        "judge_cost_usd": label.cost_usd,
        **_failure_cells(label.failure),
    }


def _failure_cells(failure: Failure | None) -> dict[str, object]:
    if failure is None:
        return {}
    return {
        "failure": failure.kind.value,
        "failure_source": failure.party.value,
        "failure_message": failure.message,
    }


def score_of(answer: Answer, guideline: Guideline | None) -> float | None:
    """Return a label as a number, if the scale is one of numbers."""
    scale = (
        next((question.scale for question in guideline.instrument.questions if question.name == answer.question), None)
        if guideline
        else None
    )
    if scale is None or answer.value is None or scale.kind not in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}:
        return None
    try:
        return float(answer.value)
    except ValueError:
        return None


def is_defect(answer: Answer, guideline: Guideline | None, dialogue: Dialogue) -> bool | None:
    """Whether a label is a defect by a rule that applies to the dialogue; None without a rule or a label."""
    if guideline is None or answer.value is None:
        return None
    rules = [
        rule for rule in guideline.defect_rules if rule.question == answer.question and rule.applies_to(dialogue.groups)
    ]
    scale = next(
        (question.scale for question in guideline.instrument.questions if question.name == answer.question), None
    )
    if not rules or scale is None or not scale.admits(answer.value):
        return None
    return any(rule.is_defect(answer.value, scale) for rule in rules)
