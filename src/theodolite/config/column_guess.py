"""Guesses which columns of a table contain prompts, responses and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.config.tables import InputTable

_PROMPT = ("prompt", "question", "query", "input", "instruction", "user", "user_message")

_RESPONSE = ("response", "completion", "answer", "output", "reply", "generation", "assistant")

_ID = ("id", "item", "item_id", "example_id", "prompt_id", "key", "uid")

_TURN = ("turn", "turn_number", "turn_id")

_APPLICATION = ("application", "system", "model", "bot", "model_name", "system_name")

_WITHHELD = ("withheld",)

_CONTEXT = (
    "context",
    "contexts",
    "source",
    "sources",
    "source_material",
    "passage",
    "passages",
    "document",
    "documents",
    "retrieved",
    "retrieved_context",
    "retrieved_contexts",
    "retrieved_documents",
    "retrieved_passages",
    "retrieval",
    "evidence",
    "grounding",
    "ground_truth_context",
    "reference_text",
    "knowledge",
)

_REFERENCE = re.compile(r"(?:^|_)(?:final|gold|consensus|adjudicated|majority|reference)(?:_|$)")

_PERSON = re.compile(r"(?:^|_)(?:annotation|annotator|rater|human|label|labeler|coder|expert)(?:_|\d|$)")

_MODEL = re.compile(r"gpt|llm|judge|claude|gemini|llama|mistral|(?:^|_)(?:auto|model)(?:_|$)")

_RULE = re.compile(r"strmatch|keyword|regex|rule|string")

_DEFECT = re.compile(r"refus|defect|bad|wrong|unsafe|toxic|fail|violat|abus|hate|harm|incorrect|^yes$|^1$")

_MOST_LABELS = 12

_MOST_GROUPS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What the columns of a recorded file seem to be; columns that mean nothing known are left out.

    Attributes:
        columns: Meaning (`id`, `turn`, `prompt`, `response`, `context`, `withheld`, `application`) to column.
        persons: Columns with labels of people.
        models: Columns with labels of models.
        rules: Columns with labels of rules.
        reference: Column with final labels; empty for none.
        groups: Columns that dialogues may be split by.
        labels: Labels in the order of their first appearance.
        defect: The label that sounds most like a defect.
    """

    columns: Mapping[str, str]
    persons: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    reference: str = ""
    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    defect: str = ""

    @property
    def annotators(self) -> tuple[tuple[str, str], ...]:
        """Kind of annotator and column, people first."""
        kinds = (("person", self.persons), ("model", self.models), ("rule", self.rules))
        return tuple((kind, column) for kind, columns in kinds for column in columns)


def guess_columns(table: InputTable) -> Guess:
    """Return what the columns seem to be, by their names and by what stands in them."""
    columns = {
        meaning: column
        for meaning, names in (
            ("id", _ID),
            ("turn", _TURN),
            ("prompt", _PROMPT),
            ("response", _RESPONSE),
            ("context", _CONTEXT),
            ("withheld", _WITHHELD),
            ("application", _APPLICATION),
        )
        if (column := _named(table.columns, names))
    }
    values = {column: _values(table, column) for column in table.columns if column not in columns.values()}
    kinds = {column: _kind(column) for column in values}
    labels = _labels([values[column] for column, kind in kinds.items() if kind in {"person", "reference"}])
    fitting = [column for column in kinds if kinds[column] and _fits(values[column], labels)]
    return Guess(
        columns=columns,
        persons=tuple(column for column in fitting if kinds[column] == "person"),
        models=tuple(column for column in fitting if kinds[column] == "model"),
        rules=tuple(column for column in fitting if kinds[column] == "rule"),
        reference=next((column for column in fitting if kinds[column] == "reference"), ""),
        groups=tuple(column for column, kind in kinds.items() if not kind and _splits(values[column])),
        labels=labels,
        defect=next((label for label in labels if _DEFECT.search(label.lower())), labels[-1] if labels else ""),
    )


def context_column(columns: Sequence[str]) -> str:
    """Return the column that looks like source material by its name; empty for none."""
    return _named(columns, _CONTEXT)


def guess_lines(table: InputTable, guess: Guess) -> tuple[str, ...]:
    """Return the guess as people are shown it, with what fits no label."""
    lines = [f"{table.file}: {table.described}. Detected columns:"]
    for meaning, column in guess.columns.items():
        first = next((row[column] for row in table.rows if row[column].strip()), "")
        shown = first if len(first) <= 32 else first[:29] + "..."
        lines.append(f'  {meaning:<11} <- {column:<12} "{shown}"')
    for kind, columns in (("person", guess.persons), ("model", guess.models), ("rule", guess.rules)):
        if columns:
            lines.append(f"  {kind:<11} <- {', '.join(columns)}")
    if guess.reference:
        lines.append(f"  {'final label':<11} <- {guess.reference}")
    for _, column in guess.annotators:
        unfit = [value for value in _values(table, column) if value not in guess.labels]
        if unfit:
            shown = unfit[0] if len(unfit[0]) <= 32 else unfit[0][:29] + "..."
            words = f"{len(unfit)} values of {column} fit" if len(unfit) > 1 else f"1 value of {column} fits"
            lines.append(f'             ({words} no label, e.g. "{shown}")')
    return tuple(lines)


def _named(columns: Sequence[str], names: Sequence[str]) -> str:
    plain = {column.strip().lower().replace(" ", "_"): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), "")


def _values(table: InputTable, column: str) -> list[str]:
    return [text for row in table.rows if (text := row[column].strip())]


def _kind(column: str) -> str:
    """Return who a column's labels seem to come from; empty where it seems to hold none."""
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    for kind, pattern in (("reference", _REFERENCE), ("rule", _RULE), ("model", _MODEL), ("person", _PERSON)):
        if pattern.search(name):
            return kind
    return ""


def _labels(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    small = [set(values) for values in columns if 1 < len(set(values)) <= min(_MOST_LABELS, max(2, len(values) // 2))]
    return tuple(sorted({label for labels in small for label in labels}))


def _fits(values: Sequence[str], labels: Sequence[str]) -> bool:
    return bool(values) and sum(value in labels for value in values) >= 0.6 * len(values)


def _splits(values: Sequence[str]) -> bool:
    return 1 < len(set(values)) <= min(_MOST_GROUPS, len(values) // 2)
