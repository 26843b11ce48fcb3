"""Files that other tools wrote; `make test-wire` reads logs with Inspect itself."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from theodolite.config.tool_formats import read_results
from theodolite.config.tool_study import inspect_results

DATA = Path(__file__).parents[3] / "data" / "tool_results"

CAPITAL = ("What is the capital of France?", "The capital of France is Paris.")
REFUND = ("How do I get a refund?", "You have 30 days to return an item, and the refund takes a week.")
WEATHER = ("What is the weather?", "I would rather not say.")
PROCESS = ("How do I stop a Python process?", "Use the task manager to stop it.")


def read(name):
    results = read_results((DATA / name).read_bytes(), name)
    assert not results.faults
    return results


def texts(results):
    return [[(turn.prompt, turn.response) for turn in one.turns] for one in results.dialogues]


def scores(results):
    return [
        {(score.criterion.annotator, score.criterion.question): score.value for score in one.scores}
        for one in results.dialogues
    ]


def figures(results):
    return {one.name: (one.stated, one.recomputed, one.n) for one in results.figures}


def test_promptfoo():
    results = read("promptfoo.json.gz")
    assert (results.tool, results.version) == ("promptfoo", "0.121.20")
    assert texts(results) == [[CAPITAL], [REFUND], [WEATHER]]
    assert scores(results)[0] == {
        ("test", "verdict"): "pass",
        ("names-city", "verdict"): "pass",
        ("names-city", "score"): "5",
        ("not-contains-rather-not", "verdict"): "pass",
    }
    assert scores(results)[2][("contains-sunny", "verdict")] == "fail"
    assert figures(results) == {"tests passed": (1.0, 1.0, 3)}
    kinds = {score.criterion.annotator: score.criterion.kind.value for score in results.dialogues[0].scores}
    assert kinds == {"test": "rule", "names-city": "model", "not-contains-rather-not": "rule"}
    assert all("error" not in one.columns for one in results.dialogues), "a failed assertion is no error"
    assert [one.line for one in results.dialogues] == sorted(one.line for one in results.dialogues)
    assert results.dialogues[0].line > 1


def test_deepeval():
    results = read("deepeval.json.gz")
    assert texts(results) == [[CAPITAL], [PROCESS], [WEATHER]]
    assert [one[("exact-match", "verdict")] for one in scores(results)] == ["pass", "fail", "fail"]
    assert [one[("names-the-city-geval", "score")] for one in scores(results)] == ["0.5", "0.1", "0.1"]
    assert figures(results) == {"tests passed": (1.0, 1.0, 3)}
    assert results.dialogues[0].turns[0].context == "France is a country. Its capital is Paris."
    assert results.dialogues[0].columns == {"expected": "The capital of France is Paris."}

    conversation = read("deepeval-conversation.json.gz")
    assert texts(conversation) == [[REFUND, ("And what is the capital of France?", CAPITAL[1])]]


def test_azure_ai_evaluation():
    results = read("azure-ai-evaluation.json.gz")
    assert texts(results) == [[CAPITAL], [PROCESS], [WEATHER]]
    assert [one[("coherence", "score")] for one in scores(results)] == ["5", "1", "1"]
    assert [one[("coherence", "verdict")] for one in scores(results)] == ["pass", "fail", "fail"]
    assert figures(results)["coherence.coherence mean"] == (pytest.approx(7 / 3), pytest.approx(7 / 3), 3)
    assert all(one.agrees for one in results.figures)


def test_langsmith():
    results = read("langsmith.jsonl.gz")
    assert texts(results) == [[REFUND], [CAPITAL], [WEATHER]]
    assert {one.application for one in results.dialogues} == {"bot"}
    assert results.dialogues[0].columns == {"system_prompt": "You help customers.", "session": "demo"}
    assert [one.line for one in results.dialogues] == [2, 4, 6]


def test_langsmith_runs_with_feedback():
    """As `client.list_runs` returns them: newest first, with feedback on the trace and not on the model's call."""
    results = read("langsmith-list-runs.jsonl.gz")
    assert texts(results) == [[WEATHER], [REFUND]]
    assert scores(results) == [
        {("helpful", "score"): "0", ("tone", "label"): "plain"},
        {("helpful", "score"): "1", ("tone", "label"): "plain"},
    ]


def test_langfuse():
    """Rows of observations and scores of the current API: chats are JSON in texts, and scores name their trace."""
    results = read("langfuse.jsonl.gz")
    assert texts(results) == [[WEATHER], [REFUND, ("And what is the capital of France?", CAPITAL[1])]]
    assert results.notes == ("1 model calls are earlier turns of the same dialogues",)
    assert scores(results) == [
        {("helpful", "label"): "False", ("topic", "label"): "small talk"},
        {("tone", "score"): "0.5"},
    ]
    assert results.dialogues[0].columns == {"system_prompt": "You help customers.", "session": "s2", "user": "u1"}
    assert results.dialogues[1].scores[0].reason == "plain"


def test_chat_messages():
    """Dialogues of a simulated user, in the form of OpenAI."""
    results = read("chat-messages.jsonl.gz")
    assert texts(results) == [[REFUND, ("And what is the capital of France?", CAPITAL[1])], [WEATHER]]
    assert [one.line for one in results.dialogues] == [1, 2]


def test_sharegpt():
    results = read("sharegpt.json.gz")
    assert texts(results) == [[REFUND, ("And what is the capital of France?", CAPITAL[1])], [WEATHER]]


@pytest.mark.parametrize("name", ["opentelemetry-otlp.jsonl.gz", "openinference.jsonl.gz"])
def test_traces_of_other_instrumentations(name):
    """OTLP with messages as log records, and OpenInference with one attribute for each field of a message."""
    results = read(name)
    assert texts(results) == [[REFUND, ("And what is the capital of France?", CAPITAL[1])], [WEATHER]]
    assert {one.application for one in results.dialogues} == {"bot"}
    assert results.dialogues[0].columns["system_prompt"] == "You help customers."
    assert results.notes == ("1 model calls are earlier turns of the same dialogues",)


def test_opentelemetry():
    results = read("opentelemetry.jsonl.gz")
    assert texts(results) == [[REFUND, ("And what is the capital of France?", CAPITAL[1])], [WEATHER]]
    assert results.notes == ("1 model calls are earlier turns of the same dialogues",)


def test_garak():
    results = read("garak.report.jsonl.gz")
    assert (results.tool, results.version) == ("garak", "0.17.1")
    assert len(results.dialogues) == 16, "8 prompts with 2 generations each"
    assert results.dialogues[0].turns[0].response == "I would rather not say."
    assert results.dialogues[0].columns["probe"] == "test.Test"
    assert [one[("always.fail", "label")] for one in scores(results)] == ["hit"] * 16
    assert figures(results)["test.Test always.Pass passed"] == (16.0, 16.0, 16)
    assert figures(results)["test.Test always.Fail passed"] == (0.0, 0.0, 16)
    assert len(results.figures) == 3
    assert all(one.agrees for one in results.figures)


def test_pyrit():
    results = read("pyrit.jsonl.gz")
    assert (results.tool, results.version) == ("PyRIT", "1.1.0")
    assert texts(results) == [[CAPITAL], [REFUND]]
    assert results.notes == ("2 conversations with other models than the target are left out",)
    assert {one.application for one in results.dialogues} == {"bot"}
    assert [one[("substringscorer", "label")] for one in scores(results)] == ["True", "False"]
    assert [one[("attack-outcome", "label")] for one in scores(results)] == ["failure", "failure"]
    kinds = {one.criterion.guideline: one.criterion.kind.value for one in results.dialogues[0].scores}
    assert kinds == {"city": "rule", "task_achieved": "model", "attack-outcome": "rule"}
    assert [one.turn for one in results.dialogues[0].scores] == [1, 1, None]


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
        return json.loads(archive.read("header.json")), samples


PUBLISHED = {
    "security-guide": ("security_guide model_graded_fact", 0.6875, 0.1196784, 16),
    "popularity": ("popularity match", 0.63, 0.0485237, 100),
    "theory-of-mind": ("theory_of_mind model_graded_fact", 0.83, 0.0377525, 100),
}
"""Scorer, accuracy, standard error and number of samples that published logs state."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_inspect_results_are_recomputed_from_a_log(name):
    header, samples = parts_of(DATA / f"inspect-{name}.eval")
    scorer, accuracy, error, n = PUBLISHED[name]
    results = inspect_results(header, samples, file="log.eval", sha256="")
    close = pytest.approx(error, abs=1e-7)
    assert results.version == "0.3.133"
    assert figures(results) == {
        f"{scorer} accuracy": (pytest.approx(accuracy), pytest.approx(accuracy), n),
        f"{scorer} stderr": (close, close, n),
    }
    assert all(one.agrees for one in results.figures)
    assert {one.application for one in results.dialogues} == {"openai/gpt-4o-mini"}


def test_inspect_labels_are_preserved():
    header, samples = parts_of(DATA / "inspect-security-guide.eval")
    results = inspect_results(header, samples, file="log.eval", sha256="")
    values = [one.scores[0].value for one in results.dialogues]
    assert (values.count("C"), values.count("I")) == (11, 5)
    assert results.dialogues[0].scores[0].criterion.kind.value == "model"
