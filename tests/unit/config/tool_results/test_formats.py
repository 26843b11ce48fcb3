"""Formats that are written here from their documentation, and errors with their lines."""

from __future__ import annotations

import gzip
import json

import pytest

from theodolite.config.tool_formats import read_results
from theodolite.config.tool_results import line_at, mean_figures, turns_of
from theodolite.domain.annotation import Outcome


def lines(*records):
    return "\n".join(map(json.dumps, records)).encode()


def faults(stored, name="r.jsonl"):
    return [(one.line, one.message) for one in read_results(stored, name).faults]


def test_openai_chat_with_tools():
    chat = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "look_up", "arguments": '{"q": "x"}'}}],
            },
            {"role": "tool", "content": "Found: y"},
            {"role": "assistant", "content": "It is y."},
            {"role": "user", "content": "Thanks"},
        ]
    }
    results = read_results(lines(chat), "chat.jsonl")
    (dialogue,) = results.dialogues
    assert [(turn.prompt, turn.response, turn.context) for turn in dialogue.turns] == [
        ("Look:\n[image_url]", '[tool call] look_up({"q": "x"})\n\nIt is y.', "Found: y"),
        ("Thanks", "", ""),
    ]
    assert dialogue.columns == {"system_prompt": "Be brief."}
    assert dialogue.key == "chat-1"


def test_sharegpt():
    record = {"id": "s1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
    (dialogue,) = read_results(json.dumps([record]).encode(), "sharegpt.json").dialogues
    assert (dialogue.key, dialogue.turns[0].prompt, dialogue.turns[0].response) == ("s1", "Hi", "Hello")


def test_langfuse():
    """As https://langfuse.com/docs/api-and-data-platform documents traces with their scores."""
    trace = {
        "id": "t1",
        "name": "support-bot",
        "sessionId": "s",
        "input": {"messages": [{"role": "user", "content": "Hi"}]},
        "output": {"role": "assistant", "content": "Hello"},
        "scores": [
            {"name": "tone", "value": 0.5, "dataType": "NUMERIC", "source": "EVAL", "comment": "ok"},
            {"name": "Polite", "value": 1, "dataType": "BOOLEAN", "source": "ANNOTATION"},
            {"name": "topic", "value": 0, "stringValue": "greeting", "dataType": "CATEGORICAL", "source": "API"},
        ],
    }
    (dialogue,) = read_results(json.dumps({"data": [trace], "meta": {}}).encode(), "traces.json").dialogues
    assert (dialogue.application, dialogue.turns[0].response) == ("support-bot", "Hello")
    assert [(one.criterion.annotator, one.criterion.kind.value, one.value, one.reason) for one in dialogue.scores] == [
        ("tone", "model", "0.5", "ok"),
        ("polite", "person", "True", ""),
        ("topic", "rule", "greeting", ""),
    ]


def test_opentelemetry_protocol_and_events():
    """OTLP JSON, with messages as span events, as conventions before 1.37 have them."""

    def text(value):
        return {"stringValue": value}

    span = {
        "traceId": "a",
        "spanId": "b",
        "attributes": [{"key": "gen_ai.request.model", "value": text("bot")}],
        "events": [
            {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": text("Hi")}]},
            {"name": "gen_ai.choice", "attributes": [{"key": "message", "value": text('{"content": "Hello"}')}]},
        ],
    }
    plain = {"traceId": "a", "spanId": "c", "attributes": [{"key": "http.method", "value": text("GET")}]}
    stored = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [plain, span]}]}]}).encode()
    (dialogue,) = read_results(stored, "otlp.json").dialogues
    assert (dialogue.key, dialogue.application) == ("b", "bot")
    assert (dialogue.turns[0].prompt, dialogue.turns[0].response) == ("Hi", "Hello")


def test_spans_without_messages_state_the_option_to_enable():
    span = {"name": "chat", "context": {"trace_id": "1", "span_id": "2"}, "attributes": {"gen_ai.system": "openai"}}
    results = read_results(lines(span), "spans.jsonl")
    assert "capture of message content" in results.notes[0]
    assert results.faults[0].message == "contains no dialogue in the format of OpenTelemetry"


def test_promptfoo_errors_are_missing_labels():
    result = {
        "prompt": {"raw": '[{"role": "user", "content": "Hi"}]'},
        "provider": {"id": "bot"},
        "error": "HTTP 500",
        "failureReason": 2,
        "success": False,
        "testIdx": 0,
        "promptIdx": 0,
    }
    stored = json.dumps({"results": {"results": [result], "stats": {"successes": 0}}}).encode()
    (dialogue,) = read_results(stored, "p.json").dialogues
    assert dialogue.columns["error"] == "HTTP 500"
    assert (dialogue.turns[0].prompt, dialogue.turns[0].response) == ("Hi", "")
    assert [one.outcome for one in dialogue.scores] == [Outcome.MISSING]


def test_all_errors_are_reported_at_once_with_their_lines():
    stored = b'{"messages": [{"role": "user", "content": "a"}]}\n\n{"messages": []}\n{broken\n' + lines(
        {"messages": [{"role": "wizard", "content": "a"}]}, [1]
    )
    assert faults(stored) == [
        (3, "has no `messages`; expected a list of messages with `role` and `content`"),
        (4, "is not JSON; expected an object per line"),
        (5, "`messages` 1 has the role `wizard`; expected user, assistant, system or tool"),
        (6, "is not a JSON object; expected an object for each record"),
    ]


def test_errors_in_one_document_have_lines_too():
    stored = b'{"testCases": [\n  {"input": "a", "actualOutput": "b"},\n  {"actualOutput": "b"}\n]}'
    assert faults(stored, "run.json") == [(3, "has no `input`; expected a test case of DeepEval")]


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"", "is empty"),
        (b"not json", "neither JSON nor JSON Lines"),
        (b'{"a": 1}', "has no known format of results; known formats: promptfoo, garak"),
        (gzip.compress(b"{}", mtime=0)[:12], "is cut off"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=["empty", "text", "unknown", "cut", "deep"],
)
def test_unusable_files(stored, message):
    assert message in faults(stored)[0][1]


def test_lines_of_values_are_accepted():
    text = '{\n "a": [\n  {"b": "x\\ny"},\n  2\n ]\n}'
    assert [line_at(text, path) for path in [(), ("a",), ("a", 0, "b"), ("a", 1), ("a", 9)]] == [1, 2, 3, 4, 2]


def test_standard_error_is_that_of_the_mean_over_items():
    """Hand-checked: means 1, 0.5, 0 have the sample standard deviation 0.5, so 0.5 / sqrt(3)."""
    accuracy, stderr = mean_figures({"accuracy": 0.5, "stderr": 0.1}, {"a": [1], "b": [1, 0], "c": [0]}, "match")
    assert (accuracy.recomputed, accuracy.agrees) == (0.5, True)
    assert (stderr.recomputed, stderr.agrees) == (pytest.approx(0.5 / 3**0.5), False)


def test_consecutive_messages_of_one_side_are_one():
    turns, _ = turns_of(
        [{"role": role, "content": text} for role, text in zip(["ai", "user", "user"], "abc", strict=True)]
    )
    assert [(turn.prompt, turn.response) for turn in turns] == [("", "a"), ("b\n\nc", "")]
