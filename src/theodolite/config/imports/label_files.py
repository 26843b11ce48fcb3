"""Label files: rows that people fill in with a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.tables import InputTable, read_table
from theodolite.domain.annotating.label_sample import GivenLabel, LabelSlip
from theodolite.domain.annotation import Outcome
from theodolite.domain.fault import did_you_mean
from theodolite.domain.instrument import Question, ScaleKind

JSON_LINES = (".jsonl", ".ndjson")
"""Endings of the names of files with one JSON object a line; all others are tables."""

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
"""Columns without which nothing can be read back."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings that spreadsheets take for a formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedItem:
    """What may be answered about one item.

    Attributes:
        guideline: Name of the guideline.
        version: First characters of the guideline's content hash, as it is now.
        questions: Question to the turns that it is asked about; None for the dialogue as a whole.
    """

    guideline: str
    version: str
    questions: Mapping[str, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelKey:
    """What a label file is read against.

    Attributes:
        items: What the file calls a dialogue, and a guideline's name, to what may be answered about it.
        questions: Guideline and question to the question.
        own_words: What may be written in place of a label, to what it means.
        annotators: People whom the study names; others may label too.
        judges: Names that people cannot take, since they are judges'.
    """

    items: Mapping[tuple[str, str], AskedItem]
    questions: Mapping[tuple[str, str], Question]
    own_words: Mapping[str, Outcome]
    annotators: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLabels:
    """What a label file holds.

    Attributes:
        labels: Valid answers, in the order of the file.
        n_open: Rows without an answer; count.
        faults: Everything that is wrong, in the order of the file.
        annotator_attributes: What it says of people: annotator to attribute to group.
    """

    labels: tuple[GivenLabel, ...]
    n_open: int
    faults: tuple[LocatedDiagnostic, ...]
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def label_file_text(slips: Iterable[LabelSlip], *, name: str, by: str = "") -> str:
    """Return the text of a label file with its answers left open.

    Args:
        slips: What is asked.
        name: Name of the file; its ending tells the form.
        by: Who will label; empty where people write their names themselves.
    """
    rows = [_row(slip, by) for slip in slips]
    if name.endswith(JSON_LINES):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({column: _harmless(value) for column, value in row.items()} for row in rows)
    return "\ufeff" + text.getvalue()  # spreadsheets tell UTF-8 by the mark


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
    """Return a text that no spreadsheet takes for a formula: one that begins like it gets an apostrophe."""
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
    """Return the answers of a label file; what is wrong with it stands in `faults`, all at once.

    Args:
        path: The file.
        key: What it is read against.
        by: Who labelled, where the file does not say.
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
        key: What they are read against.
        by: Who labelled, where the rows do not say.
        repeats: Whether one person may have answered the same question about the same
            dialogue several times; each is then a replicate, in the order of the rows.
    """
    reader = _LabelReader(table=table, key=key, by=by, repeats=repeats)
    labels = [label for row, line in zip(table.rows, table.lines, strict=True) if (label := reader.label(row, line))]
    people = annotator_attributes_of(table)
    faults = tuple(sorted((*reader.faults, *people.faults), key=lambda fault: fault.line))
    labelled = {label.annotator for label in labels}
    return ReadLabels(
        labels=tuple(labels),
        n_open=reader.n_open,
        faults=faults,
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
    """Reads the rows of one label file and keeps what is wrong with them."""

    def __init__(self, *, table: InputTable, key: LabelKey, by: str, repeats: bool) -> None:
        self._table, self._key, self._by, self._repeats = table, key, by, repeats
        self._asked_of: dict[str, list[AskedItem]] = defaultdict(list)
        for (item, _), asked in key.items.items():
            self._asked_of[item].append(asked)
        self._times: Counter[tuple[str, str, str, int | None, str]] = Counter()
        self._seen: dict[tuple[str, str, str, int | None, str], tuple[str, int]] = {}
        self.faults: list[LocatedDiagnostic] = []
        self.n_open = 0

    def label(self, row: Mapping[str, str], line: int) -> GivenLabel | None:
        """Return the answer of a row; None where there is none, or a fault."""
        cells = {column: row.get(column, "").strip() for column in COLUMNS}
        if not cells["answer"]:
            self.n_open += 1
            return None
        asked = self._asked(cells, line)
        question = self._question(cells, asked, line) if asked else None
        annotator = self._annotator(cells, line)
        if asked is None or question is None or not annotator:
            return None
        turn = self._turn(cells, asked, line)
        answer = self._answer(cells["answer"], question, line)
        if turn == -1 or answer is None:
            return None
        label = GivenLabel(
            item=cells["item"],
            turn=turn,
            guideline=asked.guideline,
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
        place = (label.item, label.guideline, label.question, label.turn, label.annotator)
        self._times[place] += 1
        return replace(label, replicate=self._times[place])

    def _complain(self, line: int, message: str) -> None:
        self.faults.append(LocatedDiagnostic(file=self._table.file, line=line, message=message))

    def _asked(self, cells: Mapping[str, str], line: int) -> AskedItem | None:
        found = self._asked_of.get(cells["item"])
        if found is None:
            near = did_you_mean(cells["item"], [item for item, _ in self._key.items])
            self._complain(line, f"there is no dialogue `{cells['item']}` in the latest run{near}")
            return None
        named = [asked for asked in found if cells["guideline"] in {"", asked.guideline}]
        if len(named) > 1:  # who names no guideline means the only one that asks the question
            named = [asked for asked in named if cells["question"] in asked.questions] or named
        if len(named) != 1:
            names = [asked.guideline for asked in found]
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

    def _question(self, cells: Mapping[str, str], asked: AskedItem, line: int) -> Question | None:
        if cells["question"] in asked.questions:
            return self._key.questions[asked.guideline, cells["question"]]
        names = list(asked.questions)
        near = _near(cells["question"], names, names)
        self._complain(line, f"guideline `{asked.guideline}` has no question `{cells['question']}`{near}")
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

    def _turn(self, cells: Mapping[str, str], asked: AskedItem, line: int) -> int | None:
        """Return the turn that is meant; -1 and a fault where it is not asked about."""
        turns = asked.questions[cells["question"]]
        written = cells["turn"].removesuffix(".0")
        turn = int(written) if written.isdecimal() and written.isascii() else None if not written else -1
        if turn in turns:
            return turn
        wanted = "leave `turn` empty" if turns == (None,) else f"`turn` is one of {', '.join(map(str, turns))}"
        self._complain(line, f"`turn` is `{cells['turn']}`; for question `{cells['question']}` {wanted}")
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
        own = [words for words, outcome in self._key.own_words.items() if allowed.get(outcome)]
        if plain in own:
            return self._key.own_words[plain], None
        known = [*question.scale.categories, *own]
        near = did_you_mean(plain, known) or f"; allowed: {_scale_text(known)}"
        self._complain(line, f"`{_short(written)}` is no answer to `{question.name}`{near}")
        return None

    def _is_repeated(self, label: GivenLabel, line: int) -> bool:
        place = (label.item, label.guideline, label.question, label.turn, label.annotator)
        given = label.value or label.outcome.value
        earlier = self._seen.setdefault(place, (given, line))
        if earlier == (given, line):
            return False
        if earlier[0] != given:
            what = f"`{label.annotator}` answers `{given}` here and `{earlier[0]}` in line {earlier[1]}"
            self._complain(line, f"{what}, to the same question about the same dialogue; keep one")
        return True


def _scale_text(points: Sequence[str]) -> str:
    return ", ".join(points) if len(points) <= 8 else f"{points[0]} to {points[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


ANNOTATOR = "annotator"
"""Column that names who answered."""

ABOUT = f"{ANNOTATOR}."
"""Beginning of the names of columns that say something of the annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorAttributes:
    """What a label file says of those who labelled.

    Attributes:
        said: Annotator, as the file names one, to attribute to group; empty cells say nothing.
        faults: Where two rows contradict each other.
    """

    said: Mapping[str, Mapping[str, str]]
    faults: tuple[LocatedDiagnostic, ...]

    def groups(self, by: str) -> dict[str, Mapping[str, str]]:
        """Return annotator to attribute to group; rows that name nobody are `by`'s."""
        return {name or by: groups for name, groups in self.said.items() if name or by}


def annotator_attributes_of(table: InputTable) -> AnnotatorAttributes:
    """Return what the rows of a label file say of those who labelled.

    Args:
        table: Rows with the columns of a label file.
    """
    columns = [column for column in table.columns if column.startswith(ABOUT) and column != ABOUT]
    said: dict[str, dict[str, str]] = {}
    first: dict[tuple[str, str], int] = {}
    faults: list[LocatedDiagnostic] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        name = row.get(ANNOTATOR, "").strip()
        for column in columns:
            group, attribute = " ".join(row.get(column, "").split()), column.removeprefix(ABOUT)
            if not group:
                continue
            known = said.setdefault(name, {}).setdefault(attribute, group)
            earlier = first.setdefault((name, attribute), line)
            if known != group:
                whose = f" of `{name}`" if name else ""
                message = f"`{column}`{whose} is `{group}` here and `{known}` in line {earlier}; keep one"
                faults.append(LocatedDiagnostic(file=table.file, line=line, message=message))
    return AnnotatorAttributes(said=said, faults=tuple(faults))
