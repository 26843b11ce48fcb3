"""Recordings: rows of a file as dialogues, and the applications that they belong to."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from theodolite.config.applications import named
from theodolite.config.lookup import Desk, Entry
from theodolite.config.places import PlacedFault, few_of
from theodolite.config.shapes.applications import RecordedShape
from theodolite.config.tables import Table
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.fault import did_you_mean
from theodolite.domain.recording import RecordedDialogue, RecordedTurn

MEANINGS = ("id", "turn", "prompt", "response", "context", "withheld", "application")
"""What a column of a recorded file may mean."""

_TEXT_KEYS = ("text", "content", "page_content", "passage")
"""Keys under which retrievers store the words of a passage."""

_LONGEST_LITERAL = 1_000_000
"""Characters of a list in Python's notation that is read as one; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What one recorded file brings.

    Attributes:
        applications: One, or one for each value of the application column, in order of appearance.
        dialogues: All dialogues, application by application, in the file's order.
        table: The rows; None where they could not be read.
    """

    applications: tuple[Application, ...] = ()
    dialogues: tuple[RecordedDialogue, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    cells: Mapping[str, str]
    turn: int


def recorded_of(entry: Entry[RecordedShape], desk: Desk) -> Recorded:
    """Return the applications and dialogues of a recorded file; what is wrong becomes faults."""
    table = desk.table(entry, "file", name=entry.shape.file)
    if table is None:
        return Recorded()
    columns = _columns(entry, table, desk)
    if not table.rows and not table.faults:
        desk.complaints.add(entry.fault("file", message=f"`{table.file}` has column names and no rows"))
    by_application = _split(entry, table, columns)
    applications = tuple(_application(entry, name, table, columns) for name in by_application)
    faults: list[PlacedFault] = []
    dialogues = tuple(
        dialogue
        for name, rows in by_application.items()
        for dialogue in recorded_dialogues(name, rows, table, columns, faults)
    )
    desk.complaints.add(*few_of(faults, table.file))
    return Recorded(applications=applications, dialogues=dialogues, table=table)


def _columns(entry: Entry[RecordedShape], table: Table, desk: Desk) -> dict[str, str]:
    """Return meaning to column for the columns that are there."""
    kept: dict[str, str] = {}
    for meaning in MEANINGS:
        column = getattr(entry.shape, meaning)
        if column in table.columns:
            kept[meaning] = column
        elif column:
            near = did_you_mean(column, table.columns) or f"; columns are {', '.join(table.columns)}"
            desk.complaints.add(entry.fault(meaning, message=f"`{table.file}` has no column `{column}`{near}"))
    return kept


def _split(entry: Entry[RecordedShape], table: Table, columns: Mapping[str, str]) -> dict[str, list[int]]:
    if "application" not in columns:
        return {entry.name: list(range(len(table.rows)))}
    rows: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(table.rows):
        rows[row[columns["application"]].strip() or entry.name].append(place)
    return dict(rows)


def _application(entry: Entry[RecordedShape], name: str, table: Table, columns: Mapping[str, str]) -> Application:
    where = {columns["application"]: name} if "application" in columns else {}
    meanings = {meaning: column for meaning, column in columns.items() if meaning != "application"}
    connection = RecordedFile(file=entry.shape.file, sha256=table.sha256, columns=meanings, where=where)
    return named(entry, name, connection)


def recorded_dialogues(
    application: str,
    places: Iterable[int],
    table: Table,
    columns: Mapping[str, str],
    faults: list[PlacedFault],
) -> list[RecordedDialogue]:
    """Return rows as dialogues: rows of one item are its turns, or repeats where no column numbers turns.

    Args:
        application: What was asked in all of them.
        places: Which rows of the table; from 0.
        table: The rows.
        columns: Meaning to column.
        faults: Takes what is wrong with rows, which are left out.
    """
    spoken = {columns.get("prompt"), columns.get("response"), columns.get("context")}
    groups: dict[tuple[str, int], list[_Row]] = {}
    seen: dict[tuple[str, int], int] = defaultdict(int)
    for place in places:
        row, line = table.rows[place], table.lines[place]
        key, turn, problem = _identity(row, place, columns)
        if problem:
            faults.append(PlacedFault(file=table.file, line=line, message=problem))
            continue
        seen[key, turn] += 1
        groups.setdefault((key, seen[key, turn]), []).append(_Row(line=line, cells=row, turn=turn))
    return [
        RecordedDialogue(
            key=key,
            application=application,
            turns=tuple(_turn(row.cells, columns) for row in sorted(rows, key=lambda row: row.turn)),
            columns={name: text for name, text in rows[0].cells.items() if name not in spoken},
            line=rows[0].line,
            repeat=repeat,
        )
        for (key, repeat), rows in groups.items()
    ]


def _identity(row: Mapping[str, str], place: int, columns: Mapping[str, str]) -> tuple[str, int, str]:
    """Return a row's item, its turn, and what is wrong with either."""
    key = row[columns["id"]].strip() if "id" in columns else f"row-{place + 1}"
    if not key:
        return "", 0, f"has nothing in column `{columns['id']}`, which identifies the item"
    if "turn" not in columns:
        return key, 0, ""
    number = row[columns["turn"]].strip()
    if not number.isdigit():
        return key, 0, f"has `{number}` in column `{columns['turn']}`; expected the number of the turn"
    return key, int(number), ""


def _turn(row: Mapping[str, str], columns: Mapping[str, str]) -> RecordedTurn:
    withheld = row[columns["withheld"]].strip() if "withheld" in columns else ""
    return RecordedTurn(
        prompt="" if withheld else row.get(columns.get("prompt", ""), ""),
        response="" if withheld else row.get(columns.get("response", ""), ""),
        withheld=withheld,
        context="" if withheld else context_text(row.get(columns.get("context", ""), "")),
    )


def context_text(cell: str) -> str:
    r"""Return the source material that a cell holds; the passages of a list stand one below the other.

    Retrievers write lists: as JSON, or in Python's notation where a data frame was saved as CSV.

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
    """Return the passages of a list; nothing where it is no list of passages."""
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
