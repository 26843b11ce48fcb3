"""Traces as dialogues: runs of LangSmith, traces of Langfuse, spans of OpenTelemetry."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    feedback: dict[str, Record] = {}
    for _, run in runs:  # people and judges score a trace or one of its runs
        trace = str(run.get("trace_id") or run.get("id"))
        feedback[trace] = {**feedback.get(trace, {}), **(run.get("feedback_stats") or {})}
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
        words = (stats.get("values") or {}) if isinstance(stats, dict) else {}
        if isinstance(value, int | float):
            yield number_score(score_criterion(name, AnnotatorKind.MODEL), value)
        elif len(words) == 1:
            criterion = Criterion(guideline=plain_name(name), annotator=plain_name(name), kind=AnnotatorKind.MODEL)
            yield ToolScore(criterion=criterion, value=str(next(iter(words))))


def _longest(source: ResultSource, dialogues: list[ToolDialogue]) -> list[ToolDialogue]:
    """Return dialogues without the calls that a later call of the same dialogue continues."""
    stored, n_left = without_prefixes(dialogues)
    _note_earlier(source, n_left)
    return stored


def _note_earlier(source: ResultSource, n_left: int) -> None:
    if n_left:
        source.notes.append(f"{n_left} model calls are earlier turns of the same dialogues")


@dataclass(slots=True)
class _LangfuseTrace:
    """The rows of one trace.

    Attributes:
        path: Path of its first row.
        traces: Row of the trace itself; empty if the file has only observations.
        observations: Its spans and model calls.
        scores: Its scores.
    """

    path: JsonPath
    traces: list[Record] = field(default_factory=list)
    observations: list[Record] = field(default_factory=list)
    scores: list[Record] = field(default_factory=list)

    @property
    def outer(self) -> list[Record]:
        """The trace, and observations without a parent, which have the input and output of the whole trace."""
        return [*self.traces, *(row for row in self.observations if not _field(row, "parent_observation_id"))]

    @property
    def calls(self) -> list[Record]:
        """Model calls, in order of time."""
        calls = [row for row in self.observations if row.get("type") == "GENERATION"]
        return sorted(calls, key=lambda row: str(_field(row, "start_time")))

    def named(self, *names: str) -> str:
        """Return the first value of some fields in any row; empty if there is none."""
        rows = (*self.traces, *self.observations)
        return next((str(value) for name in names for row in rows if (value := _field(row, name))), "")


def langfuse_dialogues(source: ResultSource) -> list[ToolDialogue]:
    """Return traces of Langfuse with their scores, from rows of traces, observations and scores.

    A trace is read from its own input and output, or those of its outermost observation, if they are chats or plain
    texts; else from its model calls.
    """
    traces: dict[str, _LangfuseTrace] = {}
    for path, row in _langfuse_rows(source):
        key = _field(row, "trace_id") or _scored_trace(row)
        trace = traces.setdefault(str(key or row.get("id")), _LangfuseTrace(path))
        is_score = key and "type" not in row
        (trace.scores if is_score else trace.observations if key else trace.traces).append(row)
        if not key:
            trace.observations += [one for one in row.get("observations") or () if isinstance(one, dict)]
            trace.scores += [one for one in row.get("scores") or () if isinstance(one, dict)]
            _note_bare_scores(source, row)
    # Only calls of one trace continue each other: traces of one session have separate scores.
    shortened = [without_prefixes(list(_langfuse_trace(source, key, trace))) for key, trace in traces.items()]
    _note_earlier(source, sum(n_left for _, n_left in shortened))
    return [dialogue for dialogues, _ in shortened for dialogue in dialogues]


def _scored_trace(score: Record) -> object:
    """Return the trace that a score of the current API concerns; None if it names none."""
    subject = score.get("subject")
    if not isinstance(subject, dict):
        return None
    return subject.get("id") if subject.get("kind") == "trace" else _field(subject, "trace_id")


def _note_bare_scores(source: ResultSource, trace: Record) -> None:
    """Note that a list of traces has identifiers instead of scores, as returned by `trace.list`."""
    text = "scores are identifiers alone; export each trace with `trace.get`, or add rows of scores"
    if any(isinstance(one, str) for one in trace.get("scores") or ()) and text not in source.notes:
        source.notes.append(text)


def _field(row: Record, name: str) -> Any:
    """Return a field by its snake_case or camelCase name."""
    first, *others = name.split("_")
    return row.get(name) or row.get(first + "".join(word.title() for word in others))


def _langfuse_rows(source: ResultSource) -> Iterator[tuple[JsonPath, Record]]:
    """Yield the rows of a list, of a page of the API, or of a downloaded trace."""
    document = first_of(source.records)
    if isinstance(document.get("trace"), dict):
        yield ("trace",), document["trace"]
        nested = document["trace"].get("observations")
        yield from () if nested else source.items("observations")
    else:
        yield from source.items("data") if "data" in document else source.items()


def _langfuse_trace(source: ResultSource, key: str, trace: _LangfuseTrace) -> Iterator[ToolDialogue]:
    """Yield the dialogues of one trace; an error if it has none."""
    shown = [row for row in trace.outer if _is_chat_row(row)][:1] or trace.calls or trace.outer[:1]
    pairs = [(row, _langfuse_chat(row)) for row in shown]
    problem = messages_fault(pairs[0][1], "input") if pairs else "scores a trace that the file does not have"
    if problem:
        source.faults.add(trace.path, problem)
        return
    names = ("name", "trace_name") if trace.traces else ("trace_name", "provided_model_name", "model", "name")
    scores = tuple(_langfuse_score(score) for score in trace.scores)
    for number, (row, messages) in enumerate(pairs):
        turns, system = turns_of(messages)
        session, user = trace.named("session_id"), trace.named("user_id")
        columns = {"system_prompt": system, "session": session, "user": user}
        yield ToolDialogue(
            key=str(row.get("id")) if number else key,
            application=trace.named(*names) or DEFAULT_APPLICATION,
            turns=turns,
            line=source.line(trace.path),
            columns={name: text for name, text in columns.items() if text},
            scores=scores,
        )


def _is_chat_row(row: Record) -> bool:
    """Return whether input and output are chats or plain texts, rather than arguments of a function."""
    values = [_as_json(row.get(name)) for name in ("input", "output")]
    return bool(values[0]) and all(_langfuse_messages("user", value) for value in values if value)


def _langfuse_chat(row: Record) -> list[Record]:
    """Return the messages of a row; other values become JSON."""
    values = [("user", _as_json(row.get("input"))), ("assistant", _as_json(row.get("output")))]
    chats = [(role, value, _langfuse_messages(role, value)) for role, value in values if value]
    return [
        message
        for role, value, chat in chats
        for message in chat or [{"role": role, "content": json.dumps(value, ensure_ascii=False)}]
    ]


def _langfuse_messages(role: str, value: object) -> list[Record]:
    """Return a chat or a plain text as messages; empty for any other value."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, list) and not messages_fault(value):
        return value
    if isinstance(value, dict) and role_of(value):
        return [value]
    return [{"role": role, "content": value}] if isinstance(value, str) and value else []


_LANGFUSE_SOURCES = {"ANNOTATION": AnnotatorKind.PERSON, "EVAL": AnnotatorKind.MODEL, "API": AnnotatorKind.RULE}


def _langfuse_score(score: Record) -> ToolScore:
    name, kind = str(score.get("name", "score")), _LANGFUSE_SOURCES.get(str(score.get("source")), AnnotatorKind.RULE)
    reason, data_type, value = score.get("comment"), _field(score, "data_type"), score.get("value")
    word = _field(score, "string_value") or (value if isinstance(value, str) else "")
    if data_type == "BOOLEAN":
        criterion = Criterion(
            guideline=plain_name(name), annotator=plain_name(name), kind=kind, labels={"True": "", "False": ""}
        )
        if value in {0, 1}:
            return ToolScore(criterion=criterion, value="True" if value else "False", reason=text_of(reason))
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING)
    if data_type == "CATEGORICAL" and word:
        criterion = Criterion(guideline=plain_name(name), annotator=plain_name(name), kind=kind)
        return ToolScore(criterion=criterion, value=str(word), reason=text_of(reason))
    return number_score(score_criterion(name, kind), value, reason)


def opentelemetry_dialogues(source: ResultSource) -> list[ToolDialogue]:
    """Return the model calls among spans that follow OpenTelemetry's GenAI conventions, or those of OpenInference."""
    dialogues = []
    logged = _logged_events(source)
    for path, span in _spans(source):
        span["events"] += logged.get((span["trace"], span["key"]), [])
        attributes = span["attributes"]
        if not any(name.startswith(("gen_ai.", "llm.")) for name in attributes):
            continue
        messages = _span_messages(span)
        if not messages:
            continue
        if problem := messages_fault(messages, "gen_ai.input.messages"):
            source.faults.add(path, problem)
            continue
        turns, system = turns_of(messages)
        names = ("gen_ai.agent.name", "gen_ai.request.model", "llm.model_name")
        model = next((attributes[name] for name in names if attributes.get(name)), DEFAULT_APPLICATION)
        session = attributes.get("gen_ai.conversation.id") or attributes.get("session.id") or ""
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
            if "resourceLogs" in record:
                continue
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


def _logged_events(source: ResultSource) -> dict[tuple[object, object], list[tuple[Any, Any]]]:
    """Return the events logged during each span: conventions of 2024 and 2025 log the messages."""
    result: dict[tuple[object, object], list[tuple[Any, Any]]] = defaultdict(list)
    resources = (one for _, record in source.items() for one in record.get("resourceLogs") or ())
    scopes = (scope for resource in resources for scope in resource.get("scopeLogs") or ())
    records = [record for scope in scopes for record in scope.get("logRecords") or ()]
    for record in sorted(records, key=lambda one: int(one.get("timeUnixNano") or 0)):
        name = record.get("eventName") or _otlp(record.get("attributes")).get("event.name")
        body = _otlp_value(record.get("body"))
        if isinstance(body, dict):
            result[record.get("traceId"), record.get("spanId")].append((name, body))
    return result


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
    if flat := [*_flat_messages(attributes, "gen_ai.prompt"), *_flat_messages(attributes, "llm.input_messages")]:
        replies = [*_flat_messages(attributes, "gen_ai.completion"), *_flat_messages(attributes, "llm.output_messages")]
        return [*flat, *replies]
    messages: list[Record] = []
    for name, fields in span["events"]:
        if name == "gen_ai.choice":
            inner = _as_json(fields.get("message"))
            messages.append(
                {"role": "assistant", **inner} if isinstance(inner, dict) else {"role": "assistant", "content": inner}
            )
        elif name and name.startswith("gen_ai.") and name.endswith(".message"):
            messages.append({"content": "", **fields, "role": name.split(".")[1]})
    return messages


def _flat_messages(attributes: Mapping[str, Any], prefix: str) -> list[Record]:
    """Return messages with one attribute for each field, as written by OpenLLMetry and OpenInference."""
    result: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        number, _, key = name.removeprefix(f"{prefix}.").partition(".")
        if name.startswith(f"{prefix}.") and number.isdigit():
            result.setdefault(int(number), {})[key.removeprefix("message.")] = value
    fields = [result[number] for number in sorted(result)]
    return [{"role": one.get("role"), "content": one.get("content", "")} for one in fields]


def _messages_in(value: object) -> list[Record]:
    return [message for message in value if isinstance(message, dict)] if isinstance(value, list) else []


def _as_json(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
