"""Dialogues in the formats of other tools: lines of chat messages, a corpus of ConvoKit, and traces."""

from __future__ import annotations

import json
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
from theodolite.domain.identity import version_of
from theodolite.domain.run import Failure
from theodolite.reporting.exporting.dialogue_rows import (
    RecordChunk,
    dialogue_columns,
    is_defect,
    record_chunks,
    score_of,
)
from theodolite.reporting.queries.cases import pseudonyms

_FEATURES: Mapping[type, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}


def chat_lines(evidence: Evidence, guideline: str = "", *, include_text: bool = False) -> Iterator[str]:
    """Yield a line of JSON for each dialogue: its chat messages as chat APIs take them, and its labels as metadata.

    Dialogues with withheld texts are left out, because a line without messages is of no use to
    programs that read chats; so are sessions without a dialogue.

    Args:
        evidence: All records of one run.
        guideline: Only labels by this guideline, and only dialogues that it applies to; empty for all.
        include_text: Whether sessions with people are included.
    """
    people = pseudonyms(evidence)
    for chunk, dialogue in _dialogues(evidence, guideline, include_text=include_text):
        labels = list(_labels(evidence, chunk, dialogue, guideline, people))
        line = {"messages": _messages(dialogue), "metadata": _metadata(evidence, dialogue) | {"labels": labels}}
        yield _json(line) + "\n"


def _dialogues(evidence: Evidence, guideline: str, *, include_text: bool) -> Iterator[tuple[RecordChunk, Dialogue]]:
    """Yield the dialogues whose texts may be written, each with the records around it."""
    for chunk in record_chunks(evidence):
        for position in chunk.positions:
            dialogue = chunk.dialogues.get(evidence.sessions.label(position))
            if dialogue is None or dialogue.withheld or not evidence.study.labelled_by(dialogue, guideline):
                continue
            if dialogue.held_by is not TesterType.PERSON or include_text:
                yield chunk, dialogue


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def convokit_utterances(evidence: Evidence, guideline: str = "", *, include_text: bool = False) -> Iterator[str]:
    """Yield a line of `utterances.jsonl` of a ConvoKit corpus for each prompt and each response.

    Dialogues are left out as in `chat_lines`. Runs store no time of single messages, so `timestamp` is null.

    Args:
        evidence: All records of one run.
        guideline: Only dialogues that it applies to; empty for all.
        include_text: Whether sessions with people are included.
    """
    for _, dialogue in _dialogues(evidence, guideline, include_text=include_text):
        before: str | None = None
        for turn in dialogue.turns:
            sides = (("tester", _tester(dialogue), turn.prompt), ("application", dialogue.application, turn.response))
            for side, speaker, text in sides:
                if text:
                    key = f"{dialogue.label}/{turn.number}/{side}"
                    meta = {"turn": turn.number, "side": side}
                    line = {"id": key, "conversation_id": dialogue.label, "text": text, "speaker": speaker}
                    yield _json(line | {"meta": meta, "reply-to": before, "timestamp": None, "vectors": []}) + "\n"
                    before = key


def convokit_files(evidence: Evidence, guideline: str = "", *, include_text: bool = False) -> dict[str, str]:
    """Return the other files of a ConvoKit corpus; labels are in the metadata of conversations.

    Args:
        evidence: All records of one run.
        guideline: Only labels by this guideline; empty for all.
        include_text: Whether sessions with people are included.
    """
    people, study = pseudonyms(evidence), evidence.study
    conversations, speakers = {}, {}
    for chunk, dialogue in _dialogues(evidence, guideline, include_text=include_text):
        labels = list(_labels(evidence, chunk, dialogue, guideline, people))
        conversations[dialogue.label] = {"meta": _metadata(evidence, dialogue) | {"labels": labels}, "vectors": []}
        speakers[_tester(dialogue)] = {"meta": {"side": "tester", "type": dialogue.held_by.value}, "vectors": []}
        version = {"side": "application", "version": dialogue.application_version}
        speakers[dialogue.application] = {"meta": version, "vectors": []}
    levels = ("utterances-index", "speakers-index", "conversations-index", "overall-index")
    return {
        "speakers.json": _json(speakers),
        "conversations.json": _json(conversations),
        "corpus.json": _json({"name": study.name, "run": evidence.run.number}),
        "index.json": _json({level: {} for level in levels} | {"version": 1, "vectors": []}),
    }


def _tester(dialogue: Dialogue) -> str:
    return f"tester of {dialogue.label}"


def _messages(dialogue: Dialogue) -> list[dict[str, str]]:
    texts = (
        pair for turn in dialogue.turns for pair in (("user", turn.prompt), ("assistant", turn.response)) if pair[1]
    )
    return [{"role": role, "content": text} for role, text in texts]


def _metadata(evidence: Evidence, dialogue: Dialogue) -> dict[str, Any]:
    return {
        "study": evidence.study.name,
        "run": evidence.run.number,
        "dialogue": dialogue.label,
        "application": dialogue.application,
        "application_version": dialogue.application_version,
        "scenario": dialogue.scenario,
        "level": dialogue.level.value,
        "tester_type": dialogue.held_by.value,
        "repeat": dialogue.repeat,
        "groups": dict(dialogue.groups),
    }


def _labels(
    evidence: Evidence, chunk: RecordChunk, dialogue: Dialogue, guideline: str, people: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    guidelines = {one.name: one for one in evidence.study.guidelines}
    kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
    labels = [
        (
            people.get(annotation.annotator, annotation.annotator),
            kinds.get(annotation.annotator, "person"),
            annotation.guideline,
            answer,
        )
        for annotation in chunk.annotations.get(dialogue.key, [])
        for answer in annotation.answers
    ]
    labels += [
        (
            "reference",
            "person",
            final.guideline,
            Answer(question=final.question, outcome=final.outcome, value=final.value),
        )
        for final in chunk.finals.get(dialogue.key, [])
    ]
    for judge, kind, name, answer in labels:
        if guideline in {"", name}:
            yield {
                "judge": judge,
                "judge_kind": kind,
                "guideline": name,
                "question": answer.question,
                "turn": answer.turn,
                "outcome": answer.outcome.value,
                "label": answer.value,
                "defect": is_defect(answer, guidelines.get(name), dialogue),
            }


def dataset_card(evidence: Evidence, n_rows: int, file: str) -> str:
    """Return the card of a data set with the dialogue table as rows, in the layout of Hugging Face.

    Args:
        evidence: All records of one run.
        n_rows: Rows of the table; count.
        file: Path of the Parquet file within the data set.
    """
    study, run = evidence.study, evidence.run
    features = "".join(
        f"  - name: {name}\n    dtype: {_FEATURES[kind]}\n" for name, kind in dialogue_columns(evidence).items()
    )
    guidelines = "".join(
        f"- `{guideline.name}` (SHA-256 {version_of(guideline)[:12]}): "
        f"{guideline.definition or guideline.question.text}\n"
        for guideline in study.guidelines
    )
    applications = "".join(
        f"- `{application.name}`, version `{study.application_version(application.name)[:12]}`\n"
        for application in study.applications
    )
    withheld = sum(bool(dialogue.withheld) for dialogue in evidence.archive.dialogues())
    return (
        f"---\npretty_name: {json.dumps(study.title or study.name)}\nconfigs:\n- config_name: default\n"
        f"  data_files:\n  - split: train\n    path: {file}\ndataset_info:\n  features:\n{features}"
        f"  splits:\n  - name: train\n    num_examples: {n_rows}\n---\n\n"
        f"# {study.title or study.name}\n\n{study.about}\n\n"
        f"Study `{study.name}`, run {run.number} of {run.started:%Y-%m-%d}, written by Theodolite.\n\n"
        f"## Applications\n\n{applications}\n"
        f"## Guidelines\n\n{guidelines}\n"
        "## Rows\n\nOne row is one label. Each turn has at least one row, and each label has exactly one: a label of\n"
        "the whole dialogue is in the row of its last turn. `latency_s` and `cost_usd` belong to the turn and\n"
        "`judge_cost_usd` to the annotation; they repeat on further rows of the same turn or annotation.\n"
        "Labels that failed, were refused or could not be read are rows with their `outcome`.\n\n"
        f"Planned sessions: {len(evidence.sessions):,}. Dialogues whose texts are withheld: {withheld:,}.\n\n"
        "## Licence and privacy\n\nAdd the licence of the texts before you publish this data set. Check that the\n"
        "participants have consented to it.\n"
    )


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
    for measurement in findings.measurements:
        if (
            measurement.measure is Measure.DEFECT_RATE
            and measurement.subject.group is None
            and isinstance(measurement.result, Estimate)
        ):
            subject = measurement.subject
            parts = (subject.application or "", f"{subject.guideline}.{subject.rule}", " and ".join(subject.annotators))
            name = "/".join(_UNNAMEABLE.sub("-", part) for part in parts)
            shares = {
                "rate": measurement.result.value,
                "low": measurement.result.low,
                "high": measurement.result.high,
                "n": measurement.result.n,
            }
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
            elif failed := [failure for failure in chunk.failures.get(label, []) if not failure.annotator]:
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
        (annotation.annotator, kinds.get(annotation.annotator, AnnotatorKind.PERSON), annotation.guideline, answer)
        for annotation in chunk.annotations.get(dialogue.key, [])
        for answer in annotation.answers
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
