"""Traces as dialogues: runs of LangSmith, traces of Langfuse, spans of OpenTelemetry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from theodolite.config.tool_results import (
    DEFAULT_APPLICATION,
    Criterion,
    JsonPath,
    Record,
    ResultSource,
    ToolDialogue,
    ToolScore,
    first_of,
    messages_fault,
    number_score,
    plain_name,
    role_of,
    score_criterion,
    text_of,
    turns_of,
    without_prefixes,
)
from theodolite.domain.annotation import AnnotatorKind, Outcome


def langsmith_dialogues(source: ResultSource) -> list[ToolDialogue]:
    """Return the model calls among runs of LangSmith, with the feedback on their traces."""
    runs = list(source.items() if "runs" not in first_of(source.records) else source.items("runs"))
    feedback = {str(run.get("trace_id") or run.get("id")): run.get("feedback_stats") or {} for _, run in runs}
    dialogues = []
    for path, run in runs:
        if run.get("run_type") != "llm":
            continue
        inputs, outputs = run.get("inputs") or {}, run.get("outputs") or {}
        messages = inputs.get("messages")
        messages = (
            messages[0] if isinstance(messages, list) and messages and isinstance(messages[0], list) else messages
        )
        replies = [message for message in (_reply_in(outputs),) if message]
        if problem := messages_fault(messages):
            source.faults.add((*path, "inputs"), problem)
            continue
        turns, system = turns_of([*(messages or ()), *replies])
        metadata = (run.get("extra") or {}).get("metadata") or {}
        trace = str(run.get("trace_id") or run.get("id"))
        columns = {"system_prompt": system, "session": str(run.get("session_name") or run.get("session_id") or "")}
        dialogues.append(
            ToolDialogue(
                key=trace,
                application=str(metadata.get("ls_model_name") or inputs.get("model") or run.get("name")),
                turns=turns,
                line=source.line(path),
                columns={name: text for name, text in columns.items() if text},
                scores=tuple(_langsmith_scores(feedback.get(trace, {}))),
            )
        )
    return _longest(source, dialogues)


def _reply_in(outputs: Record) -> Record | None:
    """Return the assistant's message of a model call: chat completions, or LangChain generations."""
    choices, generations = outputs.get("choices"), outputs.get("generations")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return {**(choices[0].get("message") or {}), "role": "assistant"}
    if isinstance(generations, list) and generations:
        first = generations[0][0] if isinstance(generations[0], list) and generations[0] else generations[0]
        return {"role": "assistant", "content": text_of(first)}
    text = outputs.get("output", outputs.get("content"))
    return {"role": "assistant", "content": text_of(text)} if text is not None else None


def _langsmith_scores(feedback: Record) -> Iterator[ToolScore]:
    for name, stats in feedback.items():
        value = stats.get("avg") if isinstance(stats, dict) else stats
        if isinstance(value, int | float):
            yield number_score(score_criterion(name, AnnotatorKind.MODEL), value)


def _longest(source: ResultSource, dialogues: list[ToolDialogue]) -> list[ToolDialogue]:
    """Return dialogues without the calls that a later call of the same dialogue continues."""
    stored, n_left = without_prefixes(dialogues)
    if n_left:
        source.notes.append(f"{n_left} model calls are earlier turns of the same dialogues")
    return stored


def langfuse_dialogues(source: ResultSource) -> list[ToolDialogue]:
    """Return traces of Langfuse with their scores."""
    dialogues = []
    for path, trace in source.items() if "data" not in first_of(source.records) else source.items("data"):
        messages = [
            *_langfuse_messages("user", trace.get("input")),
            *_langfuse_messages("assistant", trace.get("output")),
        ]
        if problem := messages_fault(messages, "input"):
            source.faults.add(path, problem)
            continue
        turns, system = turns_of(messages)
        columns = {"system_prompt": system, "session": trace.get("sessionId"), "user": trace.get("userId")}
        dialogues.append(
            ToolDialogue(
                key=str(trace.get("id")),
                application=str(trace.get("name") or DEFAULT_APPLICATION),
                turns=turns,
                line=source.line(path),
                columns={name: str(text) for name, text in columns.items() if text},
                scores=tuple(_langfuse_score(score) for score in trace.get("scores") or () if isinstance(score, dict)),
            )
        )
    return dialogues


def _langfuse_messages(role: str, value: object) -> list[Record]:
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, list) and not messages_fault(value):
        return value
    if isinstance(value, dict) and role_of(value):
        return [value]
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value else ""
    return [{"role": role, "content": shown}] if shown else []


_LANGFUSE_SOURCES = {"ANNOTATION": AnnotatorKind.PERSON, "EVAL": AnnotatorKind.MODEL, "API": AnnotatorKind.RULE}


def _langfuse_score(score: Record) -> ToolScore:
    name, kind = str(score.get("name", "score")), _LANGFUSE_SOURCES.get(str(score.get("source")), AnnotatorKind.RULE)
    reason, word = score.get("comment"), score.get("stringValue")
    if score.get("dataType") == "BOOLEAN":
        value = score.get("value")
        criterion = Criterion(
            guideline=plain_name(name), annotator=plain_name(name), kind=kind, labels={"True": "", "False": ""}
        )
        if value in {0, 1}:
            return ToolScore(criterion=criterion, value="True" if value else "False", reason=text_of(reason))
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING)
    if score.get("dataType") == "CATEGORICAL" and word:
        criterion = Criterion(guideline=plain_name(name), annotator=plain_name(name), kind=kind)
        return ToolScore(criterion=criterion, value=str(word), reason=text_of(reason))
    return number_score(score_criterion(name, kind), score.get("value"), reason)


def opentelemetry_dialogues(source: ResultSource) -> list[ToolDialogue]:
    """Return the model calls among spans that follow OpenTelemetry's GenAI conventions."""
    dialogues = []
    for path, span in _spans(source):
        attributes = span["attributes"]
        if not any(name.startswith("gen_ai.") for name in attributes):
            continue
        messages = _span_messages(span)
        if not messages:
            continue
        if problem := messages_fault(messages, "gen_ai.input.messages"):
            source.faults.add(path, problem)
            continue
        turns, system = turns_of(messages)
        model = attributes.get("gen_ai.agent.name") or attributes.get("gen_ai.request.model") or DEFAULT_APPLICATION
        session = attributes.get("gen_ai.conversation.id", "")
        columns = {"system_prompt": system, "session": str(session), "trace": str(span["trace"])}
        dialogues.append(
            ToolDialogue(
                key=str(span["key"]),
                application=str(model),
                turns=turns,
                line=source.line(path),
                columns={name: text for name, text in columns.items() if text},
            )
        )
    if not dialogues:
        source.notes.append(
            "spans contain no messages; switch on the capture of message content in the instrumentation"
        )
    return _longest(source, dialogues)


def _spans(source: ResultSource) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
    """Yield spans of OTLP JSON and of Python's console exporter in one form."""
    for path, record in source.items():
        if "resourceSpans" not in record:
            context = record.get("context") or {}
            yield (
                path,
                {
                    "attributes": record.get("attributes") or {},
                    "events": [
                        (event.get("name"), event.get("attributes") or {}) for event in record.get("events") or ()
                    ],
                    "key": context.get("span_id"),
                    "trace": context.get("trace_id"),
                },
            )
            continue
        scopes = [scope for resource in record["resourceSpans"] for scope in resource.get("scopeSpans") or ()]
        for span in (span for scope in scopes for span in scope.get("spans") or ()):
            events = [(event.get("name"), _otlp(event.get("attributes"))) for event in span.get("events") or ()]
            yield (
                path,
                {
                    "attributes": _otlp(span.get("attributes")),
                    "events": events,
                    "key": span.get("spanId"),
                    "trace": span.get("traceId"),
                },
            )


def _otlp(attributes: object) -> dict[str, Any]:
    """Return OTLP's list of keys and typed values as a mapping."""
    entries = attributes if isinstance(attributes, list) else []
    return {
        entry["key"]: _otlp_value(entry.get("value")) for entry in entries if isinstance(entry, dict) and "key" in entry
    }


def _otlp_value(value: object) -> Any:
    if not isinstance(value, dict) or not value:
        return value
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        return [_otlp_value(entry) for entry in inner.get("values") or ()]
    return _otlp(inner.get("values")) if kind == "kvlistValue" else int(inner) if kind == "intValue" else inner


def _span_messages(span: Mapping[str, Any]) -> list[Record]:
    """Return the messages of a model call: as attributes (since 1.37), or as events of the span before."""
    attributes = span["attributes"]
    keys = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")
    parts = [_as_json(attributes.get(key)) for key in keys]
    if any(parts[1:]):
        system = [{"role": "system", "content": parts[0]}] if parts[0] else []
        return [*system, *_messages_in(parts[1]), *_messages_in(parts[2])]
    messages: list[Record] = []
    for name, fields in span["events"]:
        if name == "gen_ai.choice":
            inner = _as_json(fields.get("message"))
            messages.append(
                {"role": "assistant", **inner} if isinstance(inner, dict) else {"role": "assistant", "content": inner}
            )
        elif name and name.startswith("gen_ai.") and name.endswith(".message"):
            messages.append({"role": name.split(".")[1], "content": fields.get("content", "")})
    return messages


def _messages_in(value: object) -> list[Record]:
    return [message for message in value if isinstance(message, dict)] if isinstance(value, list) else []


def _as_json(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
