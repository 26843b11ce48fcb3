"""Applications of kind `recorded`: rows of a file as dialogues."""

from __future__ import annotations

import ast
import json
from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, overload

from theodolite.config.connections import ApplicationSpec, named
from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.tables import InputTable, OnRows, counted
from theodolite.config.validation import Filled
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.application import (
    Application,
    RecordedFile,
)
from theodolite.domain.errors import did_you_mean

if TYPE_CHECKING:
    from theodolite.domain.live import RecordedDialogue, RecordedTurn


class RecordedSpec(ApplicationSpec):
    """Recorded replies; the keys name the file's columns."""

    kind: Literal["recorded"]
    """`recorded`: dialogues come from a file."""
    file: Filled
    """CSV, TSV or JSONL file, plain or `.gz`, in the study's folder."""
    id: str = ""
    """Column that identifies the item; default: row numbers."""
    turn: str = ""
    """Column with the number of the turn, for dialogues of several rows."""
    prompt: Filled
    """Column with the prompt."""
    response: Filled
    """Column with the response."""
    context: str = ""
    """Column with the source material of the response; a list contains several passages."""
    expected: str = ""
    """Column with the expected answer, for judges, functions and rules such as `equals: "{{ expected }}"`."""
    withheld: str = ""
    """Column with the reason why a row's texts are withheld."""
    application: str = ""
    """Column with the application, for files with several applications."""


MEANINGS = ("id", "turn", "prompt", "response", "context", "expected", "withheld", "application")
"""Roles of a recorded file's columns."""

_TEXT_KEYS = ("text", "content", "page_content", "passage")
"""Keys under which retrievers store the text of a passage."""

_LONGEST_LITERAL = 1_000_000
"""Maximum length of a list in Python notation that is parsed; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Content of a recorded file.

    Attributes:
        applications: One application, or one for each value of the application column, in order of appearance.
        dialogues: All dialogues, application by application, in file order.
        table: The rows; None if they could not be read.
    """

    applications: tuple[Application, ...] = ()
    dialogues: Sequence[RecordedDialogue] = ()
    table: InputTable | None = None


def recorded_to_domain(entry: Entry[RecordedSpec], context: LoadContext) -> Recorded:
    """Return the applications and dialogues of a recorded file; its errors are reported."""
    table = context.table(entry, "file", name=entry.spec.file)
    if table is None:
        return Recorded()
    columns = _columns(entry, table, context)
    if not table.rows and not table.faults:
        context.diagnostics.add(entry.diagnostic("file", message=f"`{table.file}` has column names and no rows"))
    by_application = _split(entry, table, columns)
    applications = tuple(_application(entry, name, table, columns) for name in by_application)
    diagnostics: list[LocatedDiagnostic] = []
    parts = [
        recorded_dialogues(name, rows, table, columns, diagnostics, context.on_rows)
        for name, rows in by_application.items()
    ]
    dialogues = parts[0] if len(parts) == 1 else JoinedDialogues(parts)
    context.diagnostics.add(*few_of(diagnostics, table.file))
    return Recorded(applications=applications, dialogues=dialogues, table=table)


def _columns(entry: Entry[RecordedSpec], table: InputTable, context: LoadContext) -> dict[str, str]:
    """Return the column of each role that exists."""
    stored: dict[str, str] = {}
    for meaning in MEANINGS:
        column = getattr(entry.spec, meaning)
        if column in table.columns:
            stored[meaning] = column
        elif column:
            near = did_you_mean(column, table.columns) or f"; columns are {', '.join(table.columns)}"
            context.diagnostics.add(entry.diagnostic(meaning, message=f"`{table.file}` has no column `{column}`{near}"))
    return stored


def _split(entry: Entry[RecordedSpec], table: InputTable, columns: Mapping[str, str]) -> dict[str, Sequence[int]]:
    if "application" not in columns:
        return {entry.name: range(len(table.rows))}
    rows: dict[str, array[int]] = defaultdict(lambda: array("L"))
    for index, row in enumerate(table.rows):
        rows[row[columns["application"]].strip() or entry.name].append(index)
    return dict(rows)


def _application(entry: Entry[RecordedSpec], name: str, table: InputTable, columns: Mapping[str, str]) -> Application:
    where = {columns["application"]: name} if "application" in columns else {}
    meanings = {meaning: column for meaning, column in columns.items() if meaning != "application"}
    connection = RecordedFile(file=entry.spec.file, sha256=table.sha256, columns=meanings, where=where)
    return named(entry, name, connection)


class _ReadOnDemand(Sequence["RecordedDialogue"]):
    """Dialogues that are read on request."""

    @overload
    def __getitem__(self, position: int) -> RecordedDialogue: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[RecordedDialogue]: ...

    def __getitem__(self, position: int | slice) -> RecordedDialogue | Sequence[RecordedDialogue]:
        """Return the dialogue at an index, or those of a slice."""
        if isinstance(position, slice):
            return [self[item] for item in range(*position.indices(len(self)))]
        at = range(len(self))[position]
        return self._dialogue(at)

    @abstractmethod
    def _dialogue(self, at: int) -> RecordedDialogue: ...


class RecordedDialogues(_ReadOnDemand):
    """The dialogues of one application, each read from its rows on demand.

    Attributes:
        label_columns: Columns with human labels; a dialogue with an empty response and such a label is labelled.
    """

    def __init__(self, application: str, table: InputTable, columns: Mapping[str, str]) -> None:
        """Start without dialogues."""
        self.label_columns: tuple[str, ...] = ()
        self._application, self._table, self._columns = application, table, columns
        self._spoken = {columns.get("prompt"), columns.get("response"), columns.get("context")}
        self._first = array("L")
        self._more: dict[int, tuple[int, ...]] = {}
        self._repeats: dict[int, int] = {}

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return len(self._first)

    def add(self, rows: Sequence[int], repeat: int) -> None:
        """Add the rows of one dialogue, in the order of its turns; ties keep file order."""
        at = len(self._first)
        self._first.append(rows[0])
        if len(rows) > 1:
            self._more[at] = tuple(rows[1:])
        if repeat > 1:
            self._repeats[at] = repeat

    def _dialogue(self, at: int) -> RecordedDialogue:
        from theodolite.domain.live import RecordedDialogue

        first = self._first[at]
        row = self._table.rows[first]
        others = [self._table.rows[position] for position in self._more.get(at, ())]
        rows = sorted([row, *others], key=self._turn_number)
        turns = tuple(_turn(item, self._columns) for item in rows)
        further = tuple(self._unspoken(item) for item in rows) if others else ()
        columns = self._unspoken(row)
        return RecordedDialogue(
            key=_key(row, first, self._columns),
            application=self._application,
            turns=turns,
            columns=columns,
            turn_columns=further,
            line=self._table.lines[first],
            repeat=self._repeats.get(at, 1),
            labelled=self._is_labelled(turns, further or (columns,)),
            expected=self._expected(rows),
        )

    def _expected(self, rows: Sequence[Mapping[str, str]]) -> str:
        """Return the expected answer of the last turn that has one."""
        column = self._columns.get("expected", "")
        return next((text for row in reversed(rows) if (text := row.get(column, "").strip())), "") if column else ""

    def _unspoken(self, row: Mapping[str, str]) -> dict[str, str]:
        return {name: text for name, text in row.items() if name not in self._spoken}

    def contradictions(self, column: str, meaning: Callable[[str], str]) -> Iterator[LocatedDiagnostic]:
        """Yield an error for each row whose label of the whole dialogue differs from that of an earlier turn.

        Args:
            column: Column of the labels.
            meaning: Returns the label for a text.
        """
        table = self._table
        for at, others in self._more.items():
            first: tuple[str, int] | None = None
            for position in sorted((self._first[at], *others), key=lambda item: self._turn_number(table.rows[item])):
                text = table.rows[position].get(column, "").strip()
                if text and first is None:
                    first = text, table.lines[position]
                elif text and first and meaning(text) != meaning(first[0]):
                    message = (
                        f"has `{text}` in column `{column}`, and line {first[1]} of the same dialogue has `{first[0]}`;"
                        " expected one label for the whole dialogue. Write it in one row, or ask the question with"
                        " `level: turn` for a label of each turn"
                    )
                    yield LocatedDiagnostic(file=table.file, line=table.lines[position], message=message)

    def _turn_number(self, row: Mapping[str, str]) -> int:
        return int(row[self._columns["turn"]].strip()) if "turn" in self._columns else 0

    def _is_labelled(self, turns: Sequence[RecordedTurn], rows: Sequence[Mapping[str, str]]) -> bool:
        if all(turn.response.strip() or turn.withheld for turn in turns):
            return False
        return any(row.get(column, "").strip() for row in rows for column in self.label_columns)


class JoinedDialogues(_ReadOnDemand):
    """The dialogues of several applications or files, concatenated."""

    def __init__(self, parts: Sequence[Sequence[RecordedDialogue]]) -> None:
        """Concatenate the parts."""
        self.parts = parts
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return self._ends[-1] if self._ends else 0

    def _dialogue(self, at: int) -> RecordedDialogue:
        part = bisect_right(self._ends, at)
        return self.parts[part][at - (self._ends[part] - len(self.parts[part]))]

    def __iter__(self) -> Iterator[RecordedDialogue]:
        """Yield them in order."""
        return (item for part in self.parts for item in part)


def joined(parts: Sequence[Sequence[RecordedDialogue]], label_columns: tuple[str, ...]) -> Sequence[RecordedDialogue]:
    """Return the dialogues of several files, with the columns of human labels."""
    for item in (item for part in parts for item in by_application(part)):
        item.label_columns = label_columns
    return parts[0] if len(parts) == 1 else JoinedDialogues(parts)


def by_application(dialogues: Sequence[RecordedDialogue]) -> Iterator[RecordedDialogues]:
    """Yield the dialogues of each application of a recorded file."""
    for part in dialogues.parts if isinstance(dialogues, JoinedDialogues) else (dialogues,):
        if isinstance(part, RecordedDialogues):
            yield part


def recorded_dialogues(
    application: str,
    places: Sequence[int],
    table: InputTable,
    columns: Mapping[str, str],
    diagnostics: list[LocatedDiagnostic],
    on_rows: OnRows | None = None,
) -> RecordedDialogues:
    """Return rows as dialogues: rows of one item are its turns, or repeats if there is no turn column.

    Args:
        application: The common application of the comparisons.
        places: Indices of the rows; from 0.
        table: The rows.
        columns: Column of each role.
        diagnostics: Collects the errors of rows, which are omitted.
        on_rows: Called while the rows are read.
    """
    shared = _shared_keys(counted(places, f"Comparing ids of {table.file}", on_rows), table, columns)
    seen: dict[tuple[str, int], int] = defaultdict(int)
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    dialogues = RecordedDialogues(application, table, columns)
    singles = array("L")
    for position in counted(places, f"Grouping rows of {table.file}", on_rows):
        row = table.rows[position]
        key, turn, problem = _identity(row, position, columns)
        if problem:
            diagnostics.append(LocatedDiagnostic(file=table.file, line=table.lines[position], message=problem))
        elif shared is not None and hash(key) not in shared:
            singles.append(position)
        else:
            seen[key, turn] += 1
            groups.setdefault((key, seen[key, turn]), []).append((position, turn))
    together = ((rows[0][0], [position for position, _ in rows], repeat) for (_, repeat), rows in groups.items())
    alone = ((position, (position,), 1) for position in singles)
    for _, rows, repeat in merge(alone, together, key=itemgetter(0)):
        dialogues.add(rows, repeat)
    return dialogues


def _shared_keys(positions: Iterable[int], table: InputTable, columns: Mapping[str, str]) -> set[int] | None:
    """Return the hashes of the keys that occur in several rows.

    Without an id column each row has its own key. Two keys with the same hash count as equal.
    """
    if "id" not in columns:
        return set()
    column = columns["id"]
    met: set[int] = set()
    shared: set[int] = set()
    for position in positions:
        key = hash(table.rows[position][column].strip())
        (shared if key in met else met).add(key)
    return shared


def _key(row: Mapping[str, str], position: int, columns: Mapping[str, str]) -> str:
    return row[columns["id"]].strip() if "id" in columns else f"row-{position + 1}"


def _identity(row: Mapping[str, str], position: int, columns: Mapping[str, str]) -> tuple[str, int, str]:
    """Return a row's item, its turn, and their errors."""
    key = _key(row, position, columns)
    if not key:
        return "", 0, f"has nothing in column `{columns['id']}`, which identifies the item"
    if "turn" not in columns:
        return key, 0, ""
    number = row[columns["turn"]].strip()
    if not number.isdigit():
        return key, 0, f"has `{number}` in column `{columns['turn']}`; expected the number of the turn"
    return key, int(number), ""


def _turn(row: Mapping[str, str], columns: Mapping[str, str]) -> RecordedTurn:
    from theodolite.domain.live import RecordedTurn

    withheld = row[columns["withheld"]].strip() if "withheld" in columns else ""
    return RecordedTurn(
        prompt="" if withheld else row.get(columns.get("prompt", ""), ""),
        response="" if withheld else row.get(columns.get("response", ""), ""),
        withheld=withheld,
        context="" if withheld else context_text(row.get(columns.get("context", ""), "")),
    )


def context_text(cell: str) -> str:
    r"""Return the source material of a cell; the passages of a list are separated by blank lines.

    Retrievers write lists: as JSON, or in Python notation if a data frame was saved as CSV.

    Example:
        >>> context_text('["Open at nine.", {"text": "Closed on Sundays."}]')
        'Open at nine.\n\nClosed on Sundays.'
        >>> context_text("[1] Open at nine.")
        '[1] Open at nine.'
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return text
    passages = _passages(text)
    return "\n\n".join(passages) if passages else "" if text == "[]" else text


def _passages(text: str) -> list[str]:
    """Return the passages of a list; empty if it is not a list of passages."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = _literal(text)
    passages = [_passage(entry) for entry in entries] if isinstance(entries, list) else []
    return [passage for passage in passages if passage] if all(passage is not None for passage in passages) else []


def _literal(text: str) -> object:
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _passage(entry: object) -> str | None:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in _TEXT_KEYS if key in entry), None)
    return entry.strip() if isinstance(entry, str) else None
