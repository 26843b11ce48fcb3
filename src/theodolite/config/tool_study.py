"""Studies made from other tools' results: a table of dialogues and labels, and a study file that reads it."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theodolite.config.assembly import study_text
from theodolite.config.tool_results import Criterion, ToolDialogue, ToolResults, ToolScore, criteria_of
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.instrument import MOST_POINTS

TABLE, PROVENANCE = "dialogues.csv", "provenance.json"
"""Files next to the study file: the rows, and their source."""

COLUMNS = ("id", "turn", "application", "prompt", "response", "context", "withheld", "source_file", "source_line")
"""Columns of every table."""

MOST_LABELS = 20
"""Maximum number of different texts that count as labels of a scale; more are free text."""

_LONGEST_LABEL = 60
_BAD = re.compile(r"fail|unsafe|wrong|incorrect|hit|harm|refus|bad|false|no\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStudy:
    """The files of a study made from results.

    Attributes:
        files: Content by name; `study.yaml` first.
        n_dialogues: Dialogues; count.
        n_answers: Answers with a value; count.
        n_unanswered: Answers without a value, which become missing labels; count.
        to_check: Defect rules that the files do not state.
        partial: Annotators whose tool scored only some of the dialogues, with that count.
    """

    files: Mapping[str, str]
    n_dialogues: int
    n_answers: int
    n_unanswered: int
    to_check: tuple[str, ...]
    partial: Mapping[str, int]


def study_of_results(name: str, results: Sequence[ToolResults]) -> ToolStudy:
    """Return the files of a study with the dialogues and scores of results files.

    Each question of a tool becomes a question of a guideline, each scorer an annotator with a column of labels.

    Args:
        name: Name of the study.
        results: The files, without errors.
    """
    criteria = criteria_of(results)
    columns = _label_columns(criteria)
    rows = list(_rows(results, columns))
    extra = list(dict.fromkeys(key for row in rows for key in row if key not in COLUMNS))
    to_check: list[str] = []
    study = _study(name, rows, _labelling(criteria), columns, to_check)
    n_dialogues = sum(len(each.dialogues) for each in results)
    n_scores = sum(map(len, criteria.values()))
    n_answers = sum(bool(score.value) for scores in criteria.values() for score in scores)
    return ToolStudy(
        files={
            "study.yaml": study,
            TABLE: _csv([*(column for column in COLUMNS if any(row[column] for row in rows)), *extra], rows),
            PROVENANCE: json.dumps(_provenance(results), ensure_ascii=False, indent=1) + "\n",
        },
        n_dialogues=n_dialogues,
        n_answers=n_answers,
        n_unanswered=n_scores - n_answers,
        to_check=tuple(to_check),
        partial={columns[each]: n for each in criteria if (n := _n_scored(results, each)) < n_dialogues},
    )


def _n_scored(results: Sequence[ToolResults], criterion: Criterion) -> int:
    dialogues = (dialogue for each in results for dialogue in each.dialogues)
    return sum(any(score.criterion == criterion for score in dialogue.scores) for dialogue in dialogues)


def _labelling(criteria: Mapping[Criterion, Sequence[ToolScore]]) -> dict[Criterion, Sequence[ToolScore]]:
    """Return the questions of guidelines; a guideline with only free text can have no defect and stays a column."""
    closed = {each.guideline for each, scores in criteria.items() if _scale(each, scores) != "text"}
    return {each: scores for each, scores in criteria.items() if each.guideline in closed}


def _label_columns(criteria: Mapping[Criterion, Sequence[ToolScore]]) -> dict[Criterion, str]:
    """Return the column of each question: the annotator's name, plus the question if the annotator has several."""
    of_annotator = Counter(criterion.annotator for criterion in criteria)
    columns: dict[Criterion, str] = {}
    for criterion in criteria:
        parts = [criterion.annotator, criterion.guideline, criterion.question]
        parts = parts[:1] if of_annotator[criterion.annotator] == 1 else list(dict.fromkeys(parts))
        name = " ".join(parts)
        reserved = {*COLUMNS, PEOPLE, *columns.values()}
        columns[criterion] = f"{name} label" if name in reserved else name
    return columns


def _rows(results: Sequence[ToolResults], columns: Mapping[Criterion, str]) -> Iterator[dict[str, str]]:
    first_prompts: dict[tuple[str, str], tuple[str, str]] = {}
    for each in results:
        for dialogue in each.dialogues:
            prompt = dialogue.turns[0].prompt
            known_file, known = first_prompts.setdefault((dialogue.application, dialogue.key), (each.file, prompt))
            is_other = known != prompt and known_file != each.file
            key = f"{each.file}:{dialogue.key}" if is_other else dialogue.key
            yield from _dialogue_rows(dialogue, key, each.file, columns)


def _dialogue_rows(
    dialogue: ToolDialogue, key: str, file: str, columns: Mapping[Criterion, str]
) -> Iterator[dict[str, str]]:
    taken = {*COLUMNS, *columns.values()}
    for number, turn in enumerate(dialogue.turns, start=1):
        row = {
            "id": key,
            "turn": str(number),
            "application": dialogue.application,
            "prompt": turn.prompt,
            "response": turn.response,
            "context": turn.context,
            "withheld": turn.withheld,
            "source_file": file,
            "source_line": str(dialogue.line) if dialogue.line else "",
        }
        row |= {f"{name} value" if name in taken else name: text for name, text in dialogue.columns.items()}
        for score in dialogue.scores:
            if score.turn == number or (score.turn is None and number == 1):
                column = columns[score.criterion]
                row[column] = score.value
                if score.reason:
                    row[f"{column} reason"] = score.reason
        yield row


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _provenance(results: Sequence[ToolResults]) -> list[dict[str, Any]]:
    return [
        {
            "file": each.file,
            "sha256": each.sha256,
            "tool": each.tool,
            "version": each.version,
            "dialogues": len(each.dialogues),
            "figures": [
                {"name": one.name, "stated": one.stated, "recomputed": one.recomputed, "n": one.n}
                for one in each.figures
            ],
            "notes": list(each.notes),
        }
        for each in results
    ]


def _study(
    name: str,
    rows: Sequence[Mapping[str, str]],
    criteria: Mapping[Criterion, Sequence[ToolScore]],
    columns: Mapping[Criterion, str],
    to_check: list[str],
) -> str:
    connection = {"kind": "recorded", "file": TABLE}
    used = [column for column in COLUMNS[:7] if any(row.get(column) for row in rows)]
    connection |= {
        column: column for column in dict.fromkeys(["id", "turn", "application", "prompt", "response", *used])
    }
    content: dict[str, Any] = {"study": name, "applications": {"recorded": connection}}
    by_guideline: dict[str, list[Criterion]] = defaultdict(list)
    for criterion in criteria:
        if criterion.question not in {each.question for each in by_guideline[criterion.guideline]}:
            by_guideline[criterion.guideline].append(criterion)
    content["guidelines"] = {
        guideline: _guideline(questions, criteria, to_check) for guideline, questions in by_guideline.items()
    }
    reference = next((criterion for criterion in criteria if criterion.annotator == REFERENCE), None)
    if reference is not None:
        content["reference"] = {"column": columns[reference], "guideline": reference.guideline}
    content["annotators"] = {
        _annotator_name(column): {
            "who": criterion.kind.value,
            "guideline": criterion.guideline,
            "column": column,
            **({"question": criterion.question} if len(by_guideline[criterion.guideline]) > 1 else {}),
        }
        for criterion, column in columns.items()
        if criterion in criteria and criterion != reference
    }
    groups = _groups(rows, columns)
    content |= {"groups": groups} if groups else {}
    return study_text({key: value for key, value in content.items() if value})


def _annotator_name(column: str) -> str:
    return f"{column} labels" if column in {REFERENCE, PEOPLE} else column


def _groups(rows: Sequence[Mapping[str, str]], columns: Mapping[Criterion, str]) -> list[str]:
    """Return the columns that split the dialogues into a few groups."""
    first = [row for row in rows if row["turn"] == "1"]
    labels = set(columns.values())
    skipped = {*COLUMNS, "system_prompt", "expected", "error", *labels, *(f"{name} reason" for name in labels)}
    result = []
    for name in dict.fromkeys(key for row in first for key in row if key not in skipped):
        values = Counter(row.get(name, "") for row in first)
        if 2 <= len(values) <= MOST_LABELS and min(values.values()) > 1 and "" not in values:
            result.append(name)
    return result


def _guideline(
    questions: Sequence[Criterion], criteria: Mapping[Criterion, Sequence[ToolScore]], to_check: list[str]
) -> dict[str, Any]:
    scores = {each.question: _scores_of(each, criteria) for each in questions}
    defects = {each.question: each.defect or _flagged(scores[each.question]) for each in questions}
    if not any(defects.values()):
        first = next(each for each in questions if _scale(each, scores[each.question]) != "text")
        defects[first.question] = _guessed_defect(_scale(first, scores[first.question]))
        to_check.append(f"{first.guideline}: {first.question} {defects[first.question]}")
    entries = {each.question: _question(each, scores[each.question]) for each in questions}
    stated = {question: rule for question, rule in defects.items() if rule}
    if len(questions) == 1:
        name = questions[0].question
        if name in {"label", "score"}:
            return entries[name] | {"defect": stated[name]}
    return {"questions": entries, "defects": {key: {"defect": f"{key} {rule}"} for key, rule in stated.items()}}


def _scores_of(criterion: Criterion, criteria: Mapping[Criterion, Sequence[ToolScore]]) -> list[ToolScore]:
    """Return the scores of all annotators on a question."""
    asked = (criterion.guideline, criterion.question)
    return [score for each, scores in criteria.items() if (each.guideline, each.question) == asked for score in scores]


def _flagged(scores: Sequence[ToolScore]) -> str:
    """Return the defect rule that a file's own marks imply; empty if there are none."""
    marked = dict.fromkeys(score.value for score in scores if score.defect and score.value)
    sound = {score.value for score in scores if score.defect is False}
    values = [value for value in marked if value not in sound and "," not in value]
    if not values:
        return ""
    return f"== {values[0]}" if len(values) == 1 else f"in {', '.join(values)}"


def _question(criterion: Criterion, scores: Sequence[ToolScore]) -> dict[str, Any]:
    ask = criterion.ask or f"Value of `{criterion.question}` by {criterion.guideline}"
    per_turn = {"level": "turn"} if any(score.turn is not None for score in scores) else {}
    return {"ask": ask, "scale": _scale(criterion, scores), **per_turn}


Scale = str | list[str] | dict[str, str]


def _scale(criterion: Criterion, scores: Sequence[ToolScore]) -> Scale:
    """Return the scale of a question: the tool's labels, or a scale that fits its values."""
    values = list(dict.fromkeys(score.value for score in scores if score.value))
    if criterion.labels:
        return dict(criterion.labels) | {value: "" for value in values if value not in criterion.labels}
    numbers = [number for value in values if (number := _as_number(value)) is not None]
    if values and len(numbers) == len(values):
        return _number_scale(numbers)
    if len(values) > MOST_LABELS or any(len(value) > _LONGEST_LABEL or "\n" in value for value in values):
        return "text"
    labels = sorted(values)
    return labels if len(labels) > 1 else [*labels, "other", "another"][: 2 if labels else 3]


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number_scale(numbers: Sequence[float]) -> str:
    lowest, highest = math.floor(min(numbers)), math.ceil(max(numbers))
    lowest = min(lowest, 0) if highest <= 1 else lowest
    highest = max(highest, lowest + 1)
    if all(number.is_integer() for number in numbers) and highest - lowest < MOST_POINTS:
        return f"{lowest}-{highest}"
    return f"{lowest}.0-{highest}.0"


def _guessed_defect(scale: Scale) -> str:
    """Return a default defect rule for a question: the lower half, or the label that sounds bad."""
    if isinstance(scale, str):
        low, high = map(float, re.fullmatch(r"(-?[\d.]+)-(-?[\d.]+)", scale).groups())  # type: ignore[union-attr]
        middle = (low + high) / 2
        return f"< {middle}" if "." in scale else f"<= {math.floor(middle - 0.5) if high - low > 1 else int(low)}"
    labels = list(scale)
    return f"== {next((label for label in labels if _BAD.search(label)), labels[-1])}"
