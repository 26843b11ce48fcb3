"""Labels of other annotation tools as rows of a label file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.imports.label_files import ABOUT, ANNOTATOR, LabelKey, ReadLabels, read_label_rows
from theodolite.config.tables import InputTable, decoded, read_table, unreadable
from theodolite.domain.fault import did_you_mean

ITEM, TURN, GUIDELINE, QUESTION, ANSWER, REASON = "item", "turn", "guideline", "question", "answer", "reason"

_AT_TURN = "@"
"""Stands between question and turn in the names of Label Studio's controls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportColumns:
    """Which column of a foreign table means what.

    Attributes:
        dialogue: Names the dialogue: by its label, or as the recorded file named it.
        annotator: Who labelled; empty where `by` says so for all.
        answers: Question, or guideline and question with a dot between them, to the column that holds
            its answer; empty where a row names its question and answer in the columns `question` and `answer`.
        turn: Number of the turn; empty where dialogues as a whole were labelled.
        reason: Words of the annotator; empty for none.
        spelling: What the table writes to the label that is meant.
        about: Attribute of the annotator to the column that tells it.
    """

    dialogue: str
    annotator: str = ""
    answers: Mapping[str, str] | None = None
    turn: str = ""
    reason: str = ""
    spelling: Mapping[str, str] | None = None
    about: Mapping[str, str] | None = None


def read_import(
    path: Path, key: LabelKey, names: Mapping[str, str], columns: ImportColumns, *, by: str = "", repeats: bool = False
) -> ReadLabels:
    """Return the labels of a foreign file; what is wrong with it stands in `faults`, all at once.

    Args:
        path: A table (CSV, TSV, JSON lines), or Label Studio's export where it ends in `.json`.
        key: What is asked of which dialogue.
        names: What the file may call a dialogue, to what a label file calls it.
        columns: What the columns of a table mean.
        by: Who labelled, where the file does not say.
        repeats: Whether one person may have labelled the same thing several times.
    """
    table = label_studio_table(path) if path.suffix == ".json" else _renamed(read_table(path, path.name), columns)
    if table.faults:
        return ReadLabels(labels=(), n_open=0, faults=table.faults)
    known, faults = _with_items(table, names)
    read = read_label_rows(known, key, by=by, repeats=repeats)
    return replace(read, faults=tuple(sorted((*faults, *read.faults), key=lambda fault: fault.line)))


def _renamed(table: InputTable, columns: ImportColumns) -> InputTable:
    """Return a table with the columns of a label file, one row an answer."""
    if table.faults or (missing := _missing(table, columns)):
        return table if table.faults else replace(table, faults=missing)
    rows = [
        (found, line)
        for row, line in zip(table.rows, table.lines, strict=True)
        for found in _answers(row, columns)
        if found[ANSWER].strip()
    ]
    told = tuple(f"{ABOUT}{attribute}" for attribute in columns.about or {})
    return replace(
        table,
        columns=(ITEM, TURN, GUIDELINE, QUESTION, ANSWER, REASON, ANNOTATOR, *told),
        rows=tuple(row for row, _ in rows),
        lines=tuple(line for _, line in rows),
    )


def _missing(table: InputTable, columns: ImportColumns) -> tuple[LocatedDiagnostic, ...]:
    answers = list((columns.answers or {QUESTION: QUESTION, ANSWER: ANSWER}).values())
    has = f"; it has {', '.join(table.columns)}"
    about = (columns.about or {}).values()
    wanted = [columns.dialogue, columns.annotator, columns.turn, columns.reason, *answers, *about]
    return tuple(
        LocatedDiagnostic(
            file=table.file,
            line=1,
            message=f"has no column `{name}`{did_you_mean(name, table.columns) or has}",
        )
        for name in dict.fromkeys(wanted)
        if name and name not in table.columns
    )


def _answers(row: Mapping[str, str], columns: ImportColumns) -> Iterator[dict[str, str]]:
    known = {
        ITEM: row[columns.dialogue],
        TURN: row[columns.turn] if columns.turn else "",
        REASON: row[columns.reason] if columns.reason else "",
        ANNOTATOR: row[columns.annotator] if columns.annotator else "",
        **{f"{ABOUT}{attribute}": row[column] for attribute, column in (columns.about or {}).items()},
    }
    pairs = [(question, row[name]) for question, name in columns.answers.items()] if columns.answers else []
    spelling = columns.spelling or {}
    for asked, answer in pairs or [(row[QUESTION], row[ANSWER])]:
        guideline, _, question = asked.rpartition(".")
        named = {GUIDELINE: guideline or row.get(GUIDELINE, ""), QUESTION: question}
        yield {**known, **named, ANSWER: spelling.get(answer.strip(), answer)}


def _with_items(table: InputTable, names: Mapping[str, str]) -> tuple[InputTable, list[LocatedDiagnostic]]:
    """Return the rows whose dialogue is known, under the names of a label file, and what is wrong with the others."""
    faults, rows, lines = [], [], []
    strange: dict[str, int] = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        item = names.get(row[ITEM].strip())
        if item is None:
            strange.setdefault(row[ITEM].strip(), line)
            continue
        rows.append({**row, ITEM: item})
        lines.append(line)
    for name, line in strange.items():
        near = did_you_mean(name, list(names))
        faults.append(LocatedDiagnostic(file=table.file, line=line, message=f"there is no dialogue `{name}`{near}"))
    return replace(table, rows=tuple(rows), lines=tuple(lines)), faults


def label_studio_table(path: Path) -> InputTable:
    """Return the annotations of Label Studio's JSON export as rows, one an answer.

    A task names its dialogue in `data.item` and its guideline in `data.guideline`; each
    result names its question, with `@` and the number of the turn where it is about one. The task's place in the
    file, from 1, stands for the line.
    """
    try:
        tasks = json.loads(decoded(path.read_bytes())[0])
    except OSError as error:
        return _broken(path, f"cannot be read: {unreadable(error)}")
    except ValueError as error:
        return _broken(path, f"is no JSON: {error}")
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        return _broken(path, "should hold a list of tasks, as Label Studio exports them in the format JSON")
    rows = [(row, number) for number, task in enumerate(tasks, 1) for row in _task_rows(task)]
    return InputTable(
        file=path.name,
        columns=(ITEM, TURN, GUIDELINE, QUESTION, ANSWER, REASON, ANNOTATOR),
        rows=tuple(row for row, _ in rows),
        lines=tuple(number for _, number in rows),
    )


def _broken(path: Path, message: str) -> InputTable:
    return InputTable(file=path.name, faults=(LocatedDiagnostic(file=path.name, message=message),))


def _task_rows(task: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    data = task.get("data", {})
    for annotation in task.get("annotations") or []:
        if annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result") or []:
            question, _, turn = str(result.get("from_name", "")).partition(_AT_TURN)
            answer = _value(result.get("value") or {})
            if answer:
                yield {
                    ITEM: str(data.get("item", "")),
                    TURN: turn,
                    GUIDELINE: str(data.get("guideline", "")),
                    QUESTION: question,
                    ANSWER: answer,
                    REASON: "",
                    ANNOTATOR: _who(annotation.get("completed_by")),
                }


def _value(value: Mapping[str, Any]) -> str:
    """Return what one control holds, whichever kind it is."""
    for kind in ("choices", "text", "rating", "number"):
        found = value.get(kind)
        if isinstance(found, list) and found:
            return str(found[0])
        if found is not None and not isinstance(found, list):
            return str(int(found)) if isinstance(found, float) and found.is_integer() else str(found)
    return ""


def _who(completed_by: Any) -> str:
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or completed_by.get("id") or "")
    return (
        ""
        if completed_by is None
        else f"annotator-{completed_by}"
        if isinstance(completed_by, int)
        else str(completed_by)
    )


def spelling_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return `written=meant` pairs as a mapping."""
    return dict(pair.split("=", 1) for pair in pairs)
