"""Results of other tools as records: dialogues, scores, and the figures that the tool states about them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.live import RecordedTurn

PASS, FAIL = "pass", "fail"
"""Labels of a verdict: the tool's own decision whether a reply passes."""

VERDICT: Mapping[str, str] = {PASS: "", FAIL: ""}
"""Scale of a verdict."""

DEFAULT_APPLICATION = "application"
"""Name of the application if a file names none."""

Record = Mapping[str, Any]

JsonPath = tuple[str | int, ...]
"""Keys and indices that lead to a value of a JSON document."""

_CLOSE = 1e-6
"""Relative difference up to which a recomputed figure counts as equal to the stated one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A question that a tool answers about dialogues.

    Attributes:
        guideline: Name of the guideline that it becomes.
        question: Name of the question.
        annotator: Name of the scorer, judge or person.
        kind: Kind of annotator.
        labels: Labels and their meanings, if the tool defines them; empty if the values decide.
        defect: Condition of a defect, e.g. `== fail`; empty if the tool does not define one.
        ask: Text of the question; empty for a default.
        per_turn: Whether it is answered for each turn.
    """

    guideline: str
    question: str = "label"
    annotator: str
    kind: AnnotatorKind = AnnotatorKind.RULE
    labels: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    defect: str = field(default="", compare=False)
    ask: str = field(default="", compare=False)
    per_turn: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScore:
    """A tool's answer about one dialogue or turn.

    Attributes:
        criterion: The question.
        value: The label or number as text; empty if the tool has none.
        turn: Number of the turn; None for the dialogue.
        reason: Explanation of the tool.
        outcome: Outcome: answered, or the reason why there is no value.
        defect: Whether the file marks the value as a defect; None if not stated.
    """

    criterion: Criterion
    value: str
    turn: int | None = None
    reason: str = ""
    outcome: Outcome = Outcome.ANSWERED
    defect: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDialogue:
    """A dialogue of a results file.

    Attributes:
        key: Id of the item in the file; the same for all applications and repeats.
        application: Name of the application or model.
        turns: Prompts and responses.
        line: Line of the record in the file, from 1; 0 if unknown.
        columns: Further values of the record, e.g. expected answer, category, error.
        scores: Answers of the tool.
    """

    key: str
    application: str
    turns: tuple[RecordedTurn, ...]
    line: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[ToolScore, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFigure:
    """A figure stated by a tool, and the same figure recomputed from the scores in its file.

    Attributes:
        name: Name of the figure.
        stated: Value in the file.
        recomputed: Value from the scores; None if the scores do not allow it.
        n: Scores behind the recomputed value; count.
    """

    name: str
    stated: float
    recomputed: float | None
    n: int

    @property
    def agrees(self) -> bool:
        """Whether both values are equal up to rounding."""
        return self.recomputed is not None and math.isclose(self.stated, self.recomputed, rel_tol=_CLOSE, abs_tol=1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResults:
    """The content of a results file.

    Attributes:
        tool: Name of the tool and format.
        version: Version of the tool; empty if the file does not state it.
        file: Name of the file for messages.
        sha256: Hash of the file's bytes.
        dialogues: Dialogues with their scores, in the file's order.
        figures: Figures that the file states.
        notes: Notes on omissions or changes.
        faults: All errors, with their lines.
    """

    tool: str
    version: str = ""
    file: str = ""
    sha256: str = ""
    dialogues: tuple[ToolDialogue, ...] = ()
    figures: tuple[StatedFigure, ...] = ()
    notes: tuple[str, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()


def mean_figures(stated: Mapping[str, float], values: Mapping[str, Sequence[float]], name: str) -> list[StatedFigure]:
    """Return a tool's mean and standard error together with those recomputed from its scores.

    The standard error is the sample standard deviation over the square root of n. Repeats of an item
    are averaged first, as Inspect's `mean` reducer does (Miller 2024, "Adding Error Bars to Evals",
    arXiv:2411.00640, equations 1 and 2).

    Args:
        stated: Figures named `accuracy`, `mean` or `stderr`; others are ignored.
        values: Scores by item.
        name: Name of the scorer.
    """
    means = [fmean(scores) for scores in values.values() if scores]
    center = fmean(means) if means else None
    error = stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    recomputed = {"accuracy": center, "mean": center, "stderr": error}
    return [
        StatedFigure(name=f"{name} {key}", stated=float(value), recomputed=recomputed[key], n=len(means))
        for key, value in stated.items()
        if key in recomputed
    ]


class FormatFaults:
    """Collects the errors of a file as paths into its content; lines are looked up at the end."""

    def __init__(self, file: str, text: str, lines: Sequence[int]) -> None:
        """Start without errors.

        Args:
            file: Name of the file.
            text: Its content.
            lines: Line of each record, for JSON Lines; empty for one JSON document.
        """
        self._file, self._text, self._lines = file, text, lines
        self._faults: list[tuple[JsonPath, str]] = []

    def add(self, path: JsonPath, message: str) -> None:
        """Add an error at a path into the content."""
        self._faults.append((path, message))

    def line_of(self, path: JsonPath) -> int:
        """Return the line of a value, from 1."""
        if self._lines and path:
            return self._lines[int(path[0])]
        return line_at(self._text, path) if not self._lines else 0

    def located(self) -> tuple[LocatedDiagnostic, ...]:
        """Return the errors with their lines, in order of the file."""
        placed = [
            LocatedDiagnostic(file=self._file, line=self.line_of(path), message=message)
            for path, message in dict.fromkeys(self._faults)
        ]
        return tuple(sorted(placed, key=lambda diagnostic: diagnostic.line))


_BLANK = re.compile(r"[ \t\r\n]*")

_DECODER = json.JSONDecoder()


def line_at(text: str, path: Sequence[str | int]) -> int:
    r"""Return the line at which a value of a JSON document starts, from 1; else that of the deepest existing part.

    Example:
        >>> line_at('{"a":\n [1,\n  {"b": 2}]}', ("a", 1, "b"))
        3
    """
    at = _skip(text, 0)
    for step in path:
        entry = next((index for key, index in _entries(text, at) if key == step), None)
        if entry is None:
            break
        at = entry
    return text.count("\n", 0, at) + 1


def _entries(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """Yield the key or position of each entry of the object or list at an index, and the start of its value."""
    if at >= len(text) or text[at] not in "{[":
        return
    is_object, number = text[at] == "{", 0
    at = _skip(text, at + 1)
    while at < len(text) and text[at] not in "}]":
        key: str | int = number
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield key, at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        at, number = (_skip(text, at + 1) if text[at : at + 1] == "," else at), number + 1


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def plain_name(text: str) -> str:
    """Return a name that a study can use, with hyphens for other characters.

    Example:
        >>> plain_name("Names the city [GEval]"), plain_name("openai/gpt-4o-mini")
        ('names-the-city-geval', 'openai-gpt-4o-mini')
    """
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-._") or "unnamed"


def number_text(value: float) -> str:
    """Return a number as a label, without a decimal point if it is an integer.

    Example:
        >>> number_text(5.0), number_text(0.25)
        ('5', '0.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def criteria_of(results: Iterable[ToolResults]) -> dict[Criterion, list[ToolScore]]:
    """Return each question with its scores, in order of appearance."""
    result: dict[Criterion, list[ToolScore]] = {}
    for each in results:
        for dialogue in each.dialogues:
            for score in dialogue.scores:
                result.setdefault(score.criterion, []).append(score)
    return result


def outcome_of(word: object, *, has_value: bool) -> Outcome:
    """Return the outcome that a file states in the terms of our exports; otherwise the value decides."""
    known = next((each for each in Outcome if each.value == word), None)
    if known is None or (known is Outcome.ANSWERED) != has_value:
        return Outcome.ANSWERED if has_value else Outcome.MISSING
    return known


def kind_of(word: object) -> AnnotatorKind:
    """Return the kind of annotator stated by our exports; a person by default."""
    return next((each for each in AnnotatorKind if each.value == word), AnnotatorKind.PERSON)


@dataclass(slots=True, kw_only=True)
class ResultSource:
    """The records of a file, with errors and notes.

    Attributes:
        records: The records: lines of JSON Lines, or one document.
        faults: Errors so far.
        figures: Figures that the file states.
        notes: Remarks.
        version: Version of the tool.
    """

    records: Sequence[Any]
    faults: FormatFaults
    figures: list[StatedFigure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str = ""

    def items(self, *keys: str) -> Iterator[tuple[JsonPath, Record]]:
        """Yield the objects of a list with their paths: of the document's list at `keys`, or the records."""
        document: Any = self.records[0] if keys and self.records else self.records
        for key in keys:
            document = document.get(key) if isinstance(document, dict) else None
        for number, entry in enumerate(document if isinstance(document, Sequence) else ()):
            path: JsonPath = (*keys, number)
            if isinstance(entry, dict):
                yield path, entry
            else:
                self.faults.add(path, "is not a JSON object; expected an object for each record")

    def line(self, path: JsonPath) -> int:
        """Return the line of a record."""
        return self.faults.line_of(path)


def first_of(records: Sequence[Any]) -> Record:
    """Return the first record; an empty one if it is not an object."""
    return records[0] if isinstance(records[0], dict) else {}


def verdict(criterion: Criterion, *, passed: object, reason: object = "") -> ToolScore:
    """Return a verdict; without a decision it is missing."""
    if not isinstance(passed, bool):
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING, reason=text_of(reason))
    return ToolScore(criterion=criterion, value=PASS if passed else FAIL, reason=text_of(reason))


def number_score(criterion: Criterion, value: object, reason: object = "") -> ToolScore:
    """Return a number; without one it is missing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING, reason=text_of(reason))
    return ToolScore(criterion=criterion, value=number_text(float(value)), reason=text_of(reason))


def verdict_criterion(name: str, kind: AnnotatorKind, ask: str = "", annotator: str = "") -> Criterion:
    """Return the question for a tool's own decision whether a reply passes."""
    return Criterion(
        guideline=plain_name(name), question="verdict", annotator=annotator or plain_name(name), kind=kind,
        labels=VERDICT, defect=f"== {FAIL}", ask=ask,
    )  # fmt: skip


def score_criterion(name: str, kind: AnnotatorKind, annotator: str = "") -> Criterion:
    """Return the question for a tool's number."""
    return Criterion(guideline=plain_name(name), question="score", annotator=annotator or plain_name(name), kind=kind)


# --- messages as turns


def text_of(content: Any) -> str:
    """Return the text of a message's content: a string, or parts of several kinds."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return _part_text(content)
    return "" if content is None else str(content)


def _part_text(part: Mapping[str, Any]) -> str:
    """Return the text of a part: its text, a tool call or result, or its kind in brackets."""
    kind = str(part.get("type", "part"))
    if kind in {"tool_call", "function_call", "tool_use"}:
        return _call_text(part)
    if kind in {"reasoning", "thinking"}:
        return ""
    inner = next((part[key] for key in ("text", "content", "response", "result") if part.get(key) is not None), None)
    return f"[{kind}]" if inner is None else text_of(inner)


_SIDES = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "gpt", "bot", "chatgpt", "model", "function_call"),
    "system": ("system", "developer"),
    "tool": ("tool", "function", "observation"),
}

_ROLES = {name: side for side, names in _SIDES.items() for name in names}
"""Side of a dialogue for each role."""


def role_of(message: Mapping[str, Any]) -> str:
    """Return the side of a message: `user`, `assistant`, `system` or `tool`; empty if unknown."""
    named = message.get("role") or message.get("from") or message.get("type")
    return _ROLES.get(str(named).lower(), "")


def _call_text(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("input", {}))
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"[tool call] {function if isinstance(function, str) else inner.get('name', '')}({shown})"


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message, with its tool calls."""
    content = next((message[key] for key in ("content", "parts", "value") if message.get(key) is not None), "")
    calls = message.get("tool_calls")
    texts = [text_of(content), *(_call_text(call) for call in calls or () if isinstance(call, dict))]
    return "\n".join(filter(None, texts))


def turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[RecordedTurn, ...], str]:
    """Return the turns of chat messages, and the system prompt.

    Consecutive messages of one side are joined. Results of tools are source material of their turn.
    """
    system: list[str] = []
    turns: list[dict[str, list[str]]] = []
    for message in messages:
        role, text = role_of(message), message_text(message)
        if role == "system":
            system.append(text)
            continue
        if not turns or (role == "user" and turns[-1]["assistant"]):
            turns.append({"user": [], "assistant": [], "tool": []})
        turns[-1][role].append(text)
    joined = [{side: "\n\n".join(filter(None, texts)) for side, texts in turn.items()} for turn in turns]
    rows = [RecordedTurn(prompt=one["user"], response=one["assistant"], context=one["tool"]) for one in joined]
    return tuple(rows), "\n\n".join(filter(None, system))


def messages_fault(messages: Any, key: str = "messages") -> str:
    """Return the error in a list of chat messages; empty if there is none."""
    if not isinstance(messages, list) or not messages:
        return f"has no `{key}`; expected a list of messages with `role` and `content`"
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict):
            return f"`{key}` {number} is not an object; expected one with `role` and `content`"
        if not role_of(message):
            named = message.get("role", message.get("from"))
            return f"`{key}` {number} has the role `{named}`; expected user, assistant, system or tool"
    if not any(role_of(message) in {"user", "assistant"} for message in messages):
        return f"`{key}` contains neither a user nor an assistant message"
    return ""


def without_prefixes(dialogues: Sequence[ToolDialogue]) -> tuple[list[ToolDialogue], int]:
    """Return dialogues without those that a later one continues, and the number omitted; count.

    A trace has one record for each model call, and each call repeats the messages before it.
    """
    texts = [
        (dialogue.application, tuple((turn.prompt, turn.response) for turn in dialogue.turns)) for dialogue in dialogues
    ]
    continued = Counter((application, turns[:end]) for application, turns in texts for end in range(1, len(turns)))
    stored = [one for one, (name, turns) in zip(dialogues, texts, strict=True) if not continued[name, turns]]
    return stored, len(dialogues) - len(stored)
