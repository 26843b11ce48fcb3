"""Imports labels: files filled in with a spreadsheet, and exports of other tools."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from theodolite.config.tables import InputTable, decoded, read_table, unreadable
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.annotating.label_sample import GivenLabel, LabelSlip
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import did_you_mean
from theodolite.domain.instrument import Question, ScaleKind

JSON_LINES = (".jsonl", ".ndjson")
"""Suffixes of files with one JSON object per line; all other files are tables."""

COLUMNS = (
    "item",
    "turn",
    "guideline",
    "version",
    "question",
    "ask",
    "allowed",
    "answer",
    "reason",
    "annotator",
    "material",
    "dialogue",
)
"""Columns in the file's order."""

NEEDED = ("item", "question", "answer")
"""Columns required to read labels back."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters that spreadsheets interpret as a formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedItem:
    """Questions about one item.

    Attributes:
        guideline: Name of the guideline.
        version: First characters of the guideline's current content hash.
        questions: The turns that each question concerns; None for the dialogue as a whole.
    """

    guideline: str
    version: str
    questions: Mapping[str, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelKey:
    """Study, dialogues and questions for reading a label file.

    Attributes:
        items: Permitted answers by dialogue name in the file and guideline name.
        questions: Guideline and question to the question.
        own_words: Meaning of each word that may replace a label.
        annotators: People whom the study names; others may label too.
        judges: Names that people cannot use, since they are judges'.
    """

    items: Mapping[tuple[str, str], AskedItem]
    questions: Mapping[tuple[str, str], Question]
    own_words: Mapping[str, Outcome]
    annotators: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLabels:
    """Content of a label file.

    Attributes:
        labels: Valid answers, in the order of the file.
        n_open: Rows without an answer; count.
        faults: All errors, in the order of the file.
        annotator_attributes: Attributes of people in the file: annotator to attribute to group.
    """

    labels: tuple[GivenLabel, ...]
    n_open: int
    faults: tuple[LocatedDiagnostic, ...]
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def label_file_text(slips: Iterable[LabelSlip], *, name: str, by: str = "") -> str:
    """Return the text of a label file with empty answers.

    Args:
        slips: The questions.
        name: Name of the file; its suffix determines the format.
        by: The annotator; empty if people write their names themselves.
    """
    rows = [_row(slip, by) for slip in slips]
    if name.endswith(JSON_LINES):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({column: _harmless(value) for column, value in row.items()} for row in rows)
    return "\ufeff" + text.getvalue()  # spreadsheets recognise UTF-8 by the mark


def _row(slip: LabelSlip, by: str) -> dict[str, str]:
    return {
        "item": slip.item,
        "turn": "" if slip.turn is None else str(slip.turn),
        "guideline": slip.guideline,
        "version": slip.version,
        "question": slip.question,
        "ask": slip.ask,
        "allowed": slip.allowed,
        "answer": "",
        "reason": "",
        "annotator": by,
        "material": slip.material,
        "dialogue": slip.dialogue,
    }


def _harmless(text: str) -> str:
    """Return a text that no spreadsheet interprets as a formula, with an apostrophe in front if necessary."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def is_label_file(path: Path) -> bool:
    """Return whether the first line of a file has the columns that only `label_file_text` writes."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            columns = re.split(r"[^a-z]+", file.readline(100_000))
    except (OSError, UnicodeDecodeError):
        return False
    return {"item", "version", "answer"} <= {*columns}


def read_label_file(path: Path, key: LabelKey, *, by: str = "") -> ReadLabels:
    """Return the answers of a label file; all errors are in `faults`.

    Args:
        path: The file.
        key: The expected content.
        by: Annotator, unless the file names one.
    """
    table = read_table(path, path.name)
    missing = [column for column in NEEDED if column not in table.columns] if table.columns else []
    if table.faults or missing:
        return ReadLabels(labels=(), n_open=0, faults=(*table.faults, *_missing_columns(table, missing)))
    return read_label_rows(table, key, by=by)


def read_label_rows(table: InputTable, key: LabelKey, *, by: str = "", repeats: bool = False) -> ReadLabels:
    """Return the answers of rows that have the columns of a label file.

    Args:
        table: The rows.
        key: The expected content.
        by: Annotator, unless the rows name one.
        repeats: Whether one person may have answered the same question about the same
            dialogue several times; each is then a replicate, in the order of the rows.
    """
    reader = _LabelReader(table=table, key=key, by=by, repeats=repeats)
    labels = [label for row, line in zip(table.rows, table.lines, strict=True) if (label := reader.label(row, line))]
    people = annotator_attributes_of(table)
    diagnostics = tuple(sorted((*reader.faults, *people.faults), key=lambda diagnostic: diagnostic.line))
    labelled = {label.annotator for label in labels}
    return ReadLabels(
        labels=tuple(labels),
        n_open=reader.n_open,
        faults=diagnostics,
        annotator_attributes={name: groups for name, groups in people.groups(by).items() if name in labelled},
    )


def _missing_columns(table: InputTable, missing: Sequence[str]) -> list[LocatedDiagnostic]:
    spare = [column for column in table.columns if column not in COLUMNS]
    return [
        LocatedDiagnostic(
            file=table.file,
            line=1,
            message=f"has no column `{column}`{_near(column, spare, table.columns)}",
        )
        for column in missing
    ]


def _near(word: str, likely: Sequence[str], all_of_them: Sequence[str]) -> str:
    return did_you_mean(word, likely) or f"; it has {', '.join(all_of_them)}"


class _LabelReader:
    """Reads the rows of one label file and collects their errors."""

    def __init__(self, *, table: InputTable, key: LabelKey, by: str, repeats: bool) -> None:
        self._table, self._key, self._by, self._repeats = table, key, by, repeats
        self._asked_of: dict[str, list[AskedItem]] = defaultdict(list)
        for (item, _), question in key.items.items():
            self._asked_of[item].append(question)
        self._times: Counter[tuple[str, str, str, int | None, str]] = Counter()
        self._seen: dict[tuple[str, str, str, int | None, str], tuple[str, int]] = {}
        self.faults: list[LocatedDiagnostic] = []
        self.n_open = 0

    def label(self, row: Mapping[str, str], line: int) -> GivenLabel | None:
        """Return the answer of a row; None if it is empty or invalid."""
        cells = {column: row.get(column, "").strip() for column in COLUMNS}
        if not cells["answer"]:
            self.n_open += 1
            return None
        requested = self._item(cells, line)
        question = self._question(cells, requested, line) if requested else None
        annotator = self._annotator(cells, line)
        if requested is None or question is None or not annotator:
            return None
        turn = self._turn(cells, requested, line)
        answer = self._answer(cells["answer"], question, line)
        if turn == -1 or answer is None:
            return None
        label = GivenLabel(
            item=cells["item"],
            turn=turn,
            guideline=requested.guideline,
            question=question.name,
            outcome=answer[0],
            value=answer[1],
            reason=cells["reason"],
            annotator=annotator,
        )
        if self._repeats:
            return self._numbered(label)
        return None if self._is_repeated(label, line) else label

    def _numbered(self, label: GivenLabel) -> GivenLabel:
        answer_key = (label.item, label.guideline, label.question, label.turn, label.annotator)
        self._times[answer_key] += 1
        return replace(label, replicate=self._times[answer_key])

    def _complain(self, line: int, message: str) -> None:
        self.faults.append(LocatedDiagnostic(file=self._table.file, line=line, message=message))

    def _item(self, cells: Mapping[str, str], line: int) -> AskedItem | None:
        result = self._asked_of.get(cells["item"])
        if result is None:
            near = did_you_mean(cells["item"], [item for item, _ in self._key.items])
            self._complain(line, f"there is no dialogue `{cells['item']}` in the latest run{near}")
            return None
        named = [question for question in result if cells["guideline"] in {"", question.guideline}]
        if len(named) > 1:  # a row without a guideline means the only one with the question
            named = [question for question in named if cells["question"] in question.questions] or named
        if len(named) != 1:
            names = [question.guideline for question in result]
            came = f"`guideline` is `{cells['guideline']}`" if cells["guideline"] else "`guideline` is empty"
            self._complain(line, f"{came}{_near(cells['guideline'], names, names)}")
            return None
        if cells["version"] not in {"", named[0].version}:
            message = (
                f"the file asks version {cells['version']} of guideline `{named[0].guideline}`, which is now"
                f" {named[0].version}; write a new file with --sample"
            )
            self._complain(line, message)
            return None
        return named[0]

    def _question(self, cells: Mapping[str, str], item: AskedItem, line: int) -> Question | None:
        if cells["question"] in item.questions:
            return self._key.questions[item.guideline, cells["question"]]
        names = list(item.questions)
        near = _near(cells["question"], names, names)
        self._complain(line, f"guideline `{item.guideline}` has no question `{cells['question']}`{near}")
        return None

    def _annotator(self, cells: Mapping[str, str], line: int) -> str:
        written = cells["annotator"]
        if written and self._by and written != self._by:
            self._complain(
                line, f"`annotator` is `{written}`, but --annotator-name says `{self._by}`; leave one of the two out"
            )
            return ""
        name = written or self._by
        if not name:
            self._complain(
                line, "nobody says who answered; fill in `annotator`, or name the person with --annotator-name"
            )
        elif name in self._key.judges:
            self._complain(line, f"`{name}` is a judge of the study; a person needs a name of her own")
            return ""
        elif name not in self._key.annotators and (near := did_you_mean(name, self._key.annotators)):
            self._complain(line, f"the study names no person `{name}`{near}")
            return ""
        return name

    def _turn(self, cells: Mapping[str, str], item: AskedItem, line: int) -> int | None:
        """Return the turn of a row; -1 and an error if the question does not concern it."""
        turns = item.questions[cells["question"]]
        written = cells["turn"].removesuffix(".0")
        turn = int(written) if written.isdecimal() and written.isascii() else None if not written else -1
        if turn in turns:
            return turn
        requested = "leave `turn` empty" if turns == (None,) else f"`turn` is one of {', '.join(map(str, turns))}"
        self._complain(line, f"`turn` is `{cells['turn']}`; for question `{cells['question']}` {requested}")
        return -1

    def _answer(self, written: str, question: Question, line: int) -> tuple[Outcome, str | None] | None:
        if question.scale.kind is ScaleKind.TEXT:
            return Outcome.ANSWERED, written
        tidy = " ".join(written.removeprefix("'").split())
        label = question.scale.matched(tidy)
        if label is not None:
            return Outcome.ANSWERED, label
        plain = tidy.casefold()
        allowed = {Outcome.MISSING: question.may_be_unable, Outcome.NOT_APPLICABLE: question.may_not_apply}
        own = [text for text, outcome in self._key.own_words.items() if allowed.get(outcome)]
        if plain in own:
            return self._key.own_words[plain], None
        known = [*question.scale.categories, *own]
        near = did_you_mean(plain, known) or f"; allowed: {_scale_text(known)}"
        self._complain(line, f"`{_short(written)}` is not an answer to `{question.name}`{near}")
        return None

    def _is_repeated(self, label: GivenLabel, line: int) -> bool:
        answer_key = (label.item, label.guideline, label.question, label.turn, label.annotator)
        answers = label.value or label.outcome.value
        earlier = self._seen.setdefault(answer_key, (answers, line))
        if earlier == (answers, line):
            return False
        if earlier[0] != answers:
            what = f"`{label.annotator}` answers `{answers}` here and `{earlier[0]}` in line {earlier[1]}"
            self._complain(line, f"{what}, to the same question about the same dialogue; keep one")
        return True


def _scale_text(points: Sequence[str]) -> str:
    return ", ".join(points) if len(points) <= 8 else f"{points[0]} to {points[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


ANNOTATOR = "annotator"
"""Column with the name of the annotator."""

ABOUT = f"{ANNOTATOR}."
"""Prefix of columns with attributes of the annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorAttributes:
    """A label file's attributes of annotators.

    Attributes:
        said: Annotator as in the file, to attribute to group; empty cells are skipped.
        faults: Rows that contradict each other.
    """

    said: Mapping[str, Mapping[str, str]]
    faults: tuple[LocatedDiagnostic, ...]

    def groups(self, by: str) -> dict[str, Mapping[str, str]]:
        """Return annotator to attribute to group; rows without a name belong to `by`."""
        return {name or by: groups for name, groups in self.said.items() if name or by}


def annotator_attributes_of(table: InputTable) -> AnnotatorAttributes:
    """Return the annotators' attributes from the rows of a label file.

    Args:
        table: Rows with the columns of a label file.
    """
    columns = [column for column in table.columns if column.startswith(ABOUT) and column != ABOUT]
    texts: dict[str, dict[str, str]] = {}
    first: dict[tuple[str, str], int] = {}
    diagnostics: list[LocatedDiagnostic] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        name = row.get(ANNOTATOR, "").strip()
        for column in columns:
            group, attribute = " ".join(row.get(column, "").split()), column.removeprefix(ABOUT)
            if not group:
                continue
            known = texts.setdefault(name, {}).setdefault(attribute, group)
            earlier = first.setdefault((name, attribute), line)
            if known != group:
                whose = f" of `{name}`" if name else ""
                message = f"`{column}`{whose} is `{group}` here and `{known}` in line {earlier}; keep one"
                diagnostics.append(LocatedDiagnostic(file=table.file, line=line, message=message))
    return AnnotatorAttributes(said=texts, faults=tuple(diagnostics))


ITEM, TURN, GUIDELINE, QUESTION, ANSWER, REASON = "item", "turn", "guideline", "question", "answer", "reason"

_AT_TURN = "@"
"""Separates question and turn in the names of Label Studio's controls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportColumns:
    """Roles of the columns of a foreign table.

    Attributes:
        dialogue: Column of the dialogue, by its label or its name in the recorded file.
        annotator: Column of the annotator; empty if `by` names one annotator for all.
        answers: Question, or guideline and question separated by a dot, to the column that contains
            its answer; empty if a row names its question and answer in the columns `question` and `answer`.
        turn: Number of the turn; empty if dialogues as a whole were labelled.
        reason: Column with the annotator's reason; empty for none.
        spelling: Spellings in the table, mapped to the intended label.
        about: Column of each annotator attribute.
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
    """Return the labels of a foreign file; all errors are in `faults`.

    Args:
        path: A table (CSV, TSV, JSON Lines), or Label Studio's export if it ends in `.json`.
        key: Dialogue and question.
        names: Possible names of a dialogue in the file, to its name in a label file.
        columns: Meanings of the columns of a table.
        by: Annotator, unless the file names one.
        repeats: Whether one person may have labelled the same dialogue several times.
    """
    table = label_studio_table(path) if path.suffix == ".json" else _renamed(read_table(path, path.name), columns)
    if table.faults:
        return ReadLabels(labels=(), n_open=0, faults=table.faults)
    known, diagnostics = _with_items(table, names)
    read = read_label_rows(known, key, by=by, repeats=repeats)
    return replace(read, faults=tuple(sorted((*diagnostics, *read.faults), key=lambda diagnostic: diagnostic.line)))


def read_sent_rows(
    rows: Sequence[Mapping[str, str]], key: LabelKey, names: Mapping[str, str], *, by: str
) -> ReadLabels:
    """Return the labels of rows that came without a file; the line of a fault is the number of its row, from 1."""
    table = InputTable(file="labels", columns=COLUMNS, rows=tuple(rows), lines=range(1, len(rows) + 1))
    known, diagnostics = _with_items(table, names)
    read = read_label_rows(known, key, by=by)
    return replace(read, faults=tuple(sorted((*diagnostics, *read.faults), key=lambda diagnostic: diagnostic.line)))


def _renamed(table: InputTable, columns: ImportColumns) -> InputTable:
    """Return a table with the columns of a label file, one row per answer."""
    if table.faults or (missing := _missing(table, columns)):
        return table if table.faults else replace(table, faults=missing)
    rows = [
        (result, line)
        for row, line in zip(table.rows, table.lines, strict=True)
        for result in _answers(row, columns)
        if result[ANSWER].strip()
    ]
    details = tuple(f"{ABOUT}{attribute}" for attribute in columns.about or {})
    return replace(
        table,
        columns=(ITEM, TURN, GUIDELINE, QUESTION, ANSWER, REASON, ANNOTATOR, *details),
        rows=tuple(row for row, _ in rows),
        lines=tuple(line for _, line in rows),
    )


def _missing(table: InputTable, columns: ImportColumns) -> tuple[LocatedDiagnostic, ...]:
    answers = list((columns.answers or {QUESTION: QUESTION, ANSWER: ANSWER}).values())
    has = f"; it has {', '.join(table.columns)}"
    about = (columns.about or {}).values()
    requested = [columns.dialogue, columns.annotator, columns.turn, columns.reason, *answers, *about]
    return tuple(
        LocatedDiagnostic(
            file=table.file,
            line=1,
            message=f"has no column `{name}`{did_you_mean(name, table.columns) or has}",
        )
        for name in dict.fromkeys(requested)
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
    for requested, answer in pairs or [(row[QUESTION], row[ANSWER])]:
        guideline, _, question = requested.rpartition(".")
        named = {GUIDELINE: guideline or row.get(GUIDELINE, ""), QUESTION: question}
        yield {**known, **named, ANSWER: spelling.get(answer.strip(), answer)}


def _with_items(table: InputTable, names: Mapping[str, str]) -> tuple[InputTable, list[LocatedDiagnostic]]:
    """Return the rows of known dialogues with the names of a label file, and errors for the others."""
    diagnostics, rows, lines = [], [], []
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
        diagnostics.append(
            LocatedDiagnostic(file=table.file, line=line, message=f"there is no dialogue `{name}`{near}")
        )
    return replace(table, rows=tuple(rows), lines=tuple(lines)), diagnostics


def label_studio_table(path: Path) -> InputTable:
    """Return the annotations of Label Studio's JSON export as rows, one per answer.

    A task names its dialogue in `data.item` and its guideline in `data.guideline`; each
    result names its question, with `@` and the turn number if it concerns a turn. The task's index in the
    file, from 1, serves as the line.
    """
    try:
        tasks = json.loads(decoded(path.read_bytes())[0])
    except OSError as error:
        return _broken(path, f"cannot be read: {unreadable(error)}")
    except ValueError as error:
        return _broken(path, f"is not JSON: {error}")
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
    """Return the value of one control of any kind."""
    for kind in ("choices", "text", "rating", "number"):
        result = value.get(kind)
        if isinstance(result, list) and result:
            return str(result[0])
        if result is not None and not isinstance(result, list):
            return str(int(result)) if isinstance(result, float) and result.is_integer() else str(result)
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
