"""Dialogues as traces with assessments, for tools that store traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from theodolite.domain.annotation import AnnotatorKind, Answer, Outcome
from theodolite.domain.dialogue import Dialogue, TesterType, Turn
from theodolite.domain.estimate import Findings
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import Estimate
from theodolite.domain.run import Failure
from theodolite.reporting.exporting.dialogue_rows import RecordChunk, is_defect, record_chunks, score_of
from theodolite.reporting.queries.cases import pseudonyms

_UNNAMEABLE = re.compile(r"[^\w\-. /]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """One turn.

    Attributes:
        prompt: Text of the user.
        response: Text of the application.
        context: Source material of the turn.
        started: Start, from the start of the run plus the latencies before it.
        seconds: Latency; 0 if unknown.
    """

    prompt: str
    response: str
    context: str
    started: datetime
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAssessment:
    """One answer of an annotator.

    Attributes:
        name: Guideline and question.
        value: Label, or number on numeric scales; None without an answer.
        annotator: Name of the annotator; a pseudonym for people.
        kind: Kind of annotator; None for final labels.
        reason: Explanation.
        error: Outcome of an answer without a value; empty with one.
        metadata: Turn, outcome, label and whether it is a defect, as texts.
    """

    name: str
    value: float | str | None
    annotator: str
    kind: AnnotatorKind | None
    reason: str = ""
    error: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueTrace:
    """One session.

    Attributes:
        name: Label of the dialogue.
        started: Start.
        spans: Turns.
        metadata: Application, scenario, level and groups, as texts.
        assessments: Answers of all annotators.
        error: Failure of the session; empty if it has a dialogue.
    """

    name: str
    started: datetime
    spans: tuple[TraceSpan, ...]
    metadata: Mapping[str, str]
    assessments: tuple[TraceAssessment, ...] = ()
    error: str = ""


def rate_metrics(findings: Findings) -> dict[str, float]:
    """Return the defect rates with interval and n, by names that experiment trackers accept."""
    metrics: dict[str, float] = {}
    for one in findings.measurements:
        if one.measure is Measure.DEFECT_RATE and one.subject.group is None and isinstance(one.result, Estimate):
            subject = one.subject
            parts = (subject.application or "", f"{subject.guideline}.{subject.rule}", " and ".join(subject.annotators))
            name = "/".join(_UNNAMEABLE.sub("-", part) for part in parts)
            shares = {"rate": one.result.value, "low": one.result.low, "high": one.result.high, "n": one.result.n}
            metrics |= {f"{name}/{key}": float(value) for key, value in shares.items() if value is not None}
    return metrics


def dialogue_traces(evidence: Evidence, *, include_text: bool = False) -> Iterator[DialogueTrace]:
    """Yield a trace for each session that has a dialogue or failed, in order of the plan.

    Args:
        evidence: All records of one run.
        include_text: Whether texts of sessions with people are included.
    """
    people = pseudonyms(evidence)
    for chunk in record_chunks(evidence):
        for position in chunk.positions:
            label = evidence.sessions.label(position)
            dialogue = chunk.dialogues.get(label)
            if dialogue is not None:
                yield _trace(evidence, chunk, dialogue, people, include_text=include_text)
            elif failed := [one for one in chunk.failures.get(label, []) if not one.annotator]:
                setting = evidence.sessions.setting(position)
                about = {"application": setting.application, "scenario": setting.scenario, "level": setting.level.value}
                started, error = evidence.run.started, _failure_text(failed[0])
                yield DialogueTrace(name=label, started=started, spans=(), metadata=about, error=error)


def _failure_text(failure: Failure) -> str:
    return f"{failure.party.value}: {failure.kind.value}. {failure.message}"


def _trace(
    evidence: Evidence, chunk: RecordChunk, dialogue: Dialogue, people: Mapping[str, str], *, include_text: bool
) -> DialogueTrace:
    hidden = dialogue.held_by is TesterType.PERSON and not include_text
    started, spans = evidence.run.started, []
    for turn in dialogue.turns:
        spans.append(_span(turn, started, hidden=hidden))
        started += timedelta(seconds=turn.latency_s or 0)
    return DialogueTrace(
        name=dialogue.label,
        started=evidence.run.started,
        spans=tuple(spans),
        metadata={
            "application": dialogue.application,
            "application_version": dialogue.application_version,
            "scenario": dialogue.scenario,
            "level": dialogue.level.value,
            "tester_type": dialogue.held_by.value,
            "repeat": str(dialogue.repeat),
            **{f"group_{name}": value for name, value in dialogue.groups.items()},
        },
        assessments=tuple(_assessments(evidence, chunk, dialogue, people, hidden=hidden)),
    )


def _span(turn: Turn, started: datetime, *, hidden: bool) -> TraceSpan:
    withheld = "session of a person" if hidden else turn.withheld
    shown = f"[{withheld}]" if withheld else ""
    return TraceSpan(
        prompt=shown or turn.prompt,
        response=shown or turn.response,
        context="" if shown else turn.context,
        started=started,
        seconds=turn.latency_s or 0,
    )


def _assessments(
    evidence: Evidence, chunk: RecordChunk, dialogue: Dialogue, people: Mapping[str, str], *, hidden: bool
) -> Iterator[TraceAssessment]:
    guidelines = {one.name: one for one in evidence.study.guidelines}
    kinds = {annotator.name: annotator.kind for annotator in evidence.study.annotators}
    answers: list[tuple[str, AnnotatorKind | None, str, Answer]] = [
        (one.annotator, kinds.get(one.annotator, AnnotatorKind.PERSON), one.guideline, answer)
        for one in chunk.annotations.get(dialogue.key, [])
        for answer in one.answers
    ]
    for final in chunk.finals.get(dialogue.key, []):
        answer = Answer(question=final.question, outcome=final.outcome, value=final.value)
        answers.append(("reference", None, final.guideline, answer))
    for annotator, kind, name, answer in answers:
        guideline = guidelines.get(name)
        number = score_of(answer, guideline)
        about: dict[str, Any] = {"turn": answer.turn, "label": answer.value, "outcome": answer.outcome.value}
        about["defect"] = is_defect(answer, guideline, dialogue)
        yield TraceAssessment(
            name=f"{name}.{answer.question}",
            value=answer.value if number is None else number,
            annotator=people.get(annotator, annotator),
            kind=kind,
            reason="" if hidden else answer.reasoning,
            error="" if answer.outcome is Outcome.ANSWERED else answer.outcome.value,
            metadata={
                key: str(value).lower() if isinstance(value, bool) else str(value)
                for key, value in about.items()
                if value is not None
            },
        )
    for failure in chunk.failures.get(dialogue.label, []):
        if failure.annotator:
            judge = people.get(failure.annotator, failure.annotator)
            kind = kinds.get(failure.annotator, AnnotatorKind.MODEL)
            error = f"{Outcome.FAILED.value}: {failure.kind.value}"
            yield TraceAssessment(
                name="annotation", value=None, annotator=judge, kind=kind, error=error, reason=failure.message
            )
