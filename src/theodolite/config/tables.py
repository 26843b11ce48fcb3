"""Tables: rows of CSV, TSV and JSONL files, on demand from disk, and detection of their columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar, overload

from theodolite.config.yaml_source import LocatedDiagnostic

LONGEST_FIELD = 64 * 1024 * 1024
"""Maximum length of a field; characters. Python's own limit of 131,072 is less than one long document."""

HELD_WHOLE = 4_000_000
"""Size up to which a file's rows are kept in memory as mappings; bytes. Rows of larger files are read on demand."""

_PIECE = 1 << 20
"""Chunk size for reading; bytes."""

_SAMPLE = 50
"""Rows for detecting the delimiter; count."""

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}

MOST_UNPACKED = 2_000_000_000
"""Maximum unpacked size of a file with rows; bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTable:
    """Rows of a file, and its detected format.

    Attributes:
        file: Displayed path.
        columns: Names of the columns in file order.
        rows: Rows as mappings from column to value.
        lines: Line of each row in the file, from 1.
        encoding: Detected encoding, e.g. `UTF-8`.
        delimiter: `comma`, `semicolon`, `tab`, or `JSON lines`.
        sha256: Hash of the file's bytes.
        faults: Errors in unusable rows.
    """

    file: str
    columns: tuple[str, ...] = ()
    rows: Sequence[Mapping[str, str]] = ()
    lines: Sequence[int] = ()
    encoding: str = ""
    delimiter: str = ""
    sha256: str = ""
    faults: tuple[LocatedDiagnostic, ...] = field(default=())

    @property
    def described(self) -> str:
        """Detected format, e.g. `2,250 rows, UTF-8, comma`."""
        n_rows = f"{len(self.rows):,} row{'' if len(self.rows) == 1 else 's'}"
        return ", ".join(part for part in (n_rows, self.encoding, self.delimiter) if part)


def read_table(
    path: Path, file: str, *, on_rows: OnRows | None = None, read: Callable[[Path], bytes] = Path.read_bytes
) -> InputTable:
    """Return the rows of a file; its errors are in `faults`.

    Args:
        path: The file.
        file: Displayed path.
        on_rows: Called periodically with the number of rows read.
        read: Returns the bytes of the file.
    """
    try:
        stored = read(path)
    except OSError as error:
        return _broken(file, f"cannot be read: {unreadable(error)}")
    return table_of(stored, file, on_rows=on_rows)


def _unpacked(stored: bytes) -> bytes:
    """Return the content of a gzip file, limited to the maximum size: a few megabytes may unpack to terabytes."""
    with gzip.GzipFile(fileobj=io.BytesIO(stored)) as packed:
        return packed.read(MOST_UNPACKED + 1)


def table_of(stored: bytes, file: str, *, on_rows: OnRows | None = None) -> InputTable:
    """Return the rows of a file's bytes; their errors are in `faults`.

    Args:
        stored: The bytes, plain or gzipped.
        file: Displayed path; its suffix marks JSON lines.
        on_rows: Called periodically with the number of rows read.
    """
    sha256 = hashlib.sha256(stored).hexdigest()
    try:
        raw = _unpacked(stored) if stored[:2] == b"\x1f\x8b" else stored
    except (OSError, EOFError, zlib.error):
        return _broken(file, "is cut off or is not a gzip file; write it again")
    if len(raw) > MOST_UNPACKED:
        return _broken(file, f"unpacks to more than {MOST_UNPACKED // 1_000_000:,} MB; cut it in parts")
    plain, encoding = _as_utf8(raw)
    if re.search(rb"\S", plain) is None:
        return _broken(file, "is empty; expected a line of column names and rows")
    read = _read_json_lines if _is_json_lines(file, plain) else _read_csv
    return replace(read(plain, file, encoding, on_rows), sha256=sha256)


def _as_utf8(raw: bytes) -> tuple[bytes, str]:
    """Return a file's bytes as UTF-8 without a byte order mark, and the name of the detected encoding."""
    if not raw.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and _is_utf8(raw):
        return raw, "UTF-8"
    text, encoding = decoded(raw)
    return text.encode("utf-8", "replace"), encoding


def _is_utf8(raw: bytes) -> bool:
    """Return whether bytes are UTF-8 (and not UTF-16 without a byte order mark), checked in chunks."""
    if len(raw) >= 4 and any(raw[first:200:2].count(0) > 0.4 * len(raw[first:200:2]) for first in (0, 1)):
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(raw), _PIECE):
            decoder.decode(raw[begin : begin + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def unreadable(error: OSError) -> str:
    """Return the reason why a file cannot be read, as text."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "its permissions forbid it"
    return error.strerror or "the system does not say why"


def decoded(raw: bytes) -> tuple[str, str]:
    """Return a file's text and the name of the detected encoding.

    A byte order mark decides; without one, UTF-8 is tried, then UTF-16 if
    every second byte is zero, and finally Windows-1252, which decodes anything.
    """
    marks = ((codecs.BOM_UTF8, "utf-8-sig", "UTF-8"), (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"))
    for mark, codec, name in (*marks, (codecs.BOM_UTF16_BE, "utf-16", "UTF-16")):
        if raw.startswith(mark):
            return raw.decode(codec, "replace"), name
    if len(raw) >= 4 and raw[1:200:2].count(0) > 0.4 * len(raw[1:200:2]):
        return raw.decode("utf-16-le", "replace"), "UTF-16"
    if len(raw) >= 4 and raw[0:200:2].count(0) > 0.4 * len(raw[0:200:2]):
        return raw.decode("utf-16-be", "replace"), "UTF-16"
    try:
        return raw.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace"), "Windows-1252"


def _broken(file: str, message: str) -> InputTable:
    return InputTable(file=file, faults=(LocatedDiagnostic(file=file, message=message),))


def _is_json_lines(name: str, stored: bytes) -> bool:
    if name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        return True
    return not name.removesuffix(".gz").endswith((".csv", ".tsv")) and re.match(rb"\s*\{", stored) is not None


def _read_csv(stored: bytes, file: str, encoding: str, on_rows: OnRows | None) -> InputTable:
    delimiter = _delimiter_in(lambda: lines_of(stored))
    csv.field_size_limit(LONGEST_FIELD)
    source = CountedLines(lines_of(stored))
    reader = _numbered(csv.reader(source, delimiter=delimiter, strict=True), source)
    diagnostics: list[LocatedDiagnostic] = []
    spans, lines = array("Q"), array("L")
    columns: tuple[str, ...] = ()
    for line, begin, cells, problem in counted(reader, f"Reading {file}", on_rows):
        if problem:
            diagnostics.append(LocatedDiagnostic(file=file, line=line, message=problem))
        elif not columns:
            columns = tuple(cell.strip() for cell in cells)
            diagnostics += _header_diagnostics(columns, file, line)
        elif len(cells) != len(columns):
            diagnostics.append(_ragged(cells, columns, file, line))
        else:
            spans.extend((begin, source.n_bytes))
            lines.append(line)
    rows = _rows_in(stored, spans, CsvFormat(columns, delimiter), columns)
    return InputTable(
        file=file,
        columns=columns,
        rows=rows,
        lines=lines if isinstance(rows, StoredRows) else tuple(lines),
        encoding=encoding,
        delimiter=_DELIMITERS[delimiter],
        faults=tuple(diagnostics),
    )


def _rows_in(
    stored: bytes, spans: array[int], reading: RowFormat, columns: Sequence[str]
) -> Sequence[Mapping[str, str]]:
    """Return the rows of a file: as mappings if it is small, else as positions in its bytes."""
    rows = StoredRows(stored, spans, reading)
    # A header with a duplicate column is an error; its rows are not read.
    return rows if len(stored) > HELD_WHOLE or len(set(columns)) < len(columns) else tuple(rows)


def _numbered(reader: Iterable[list[str]], source: CountedLines) -> Iterator[tuple[int, int, list[str], str]]:
    """Yield each row with its first line and byte; blank lines are skipped."""
    rows = iter(reader)
    while True:
        line, begin = getattr(reader, "line_num", 0) + 1, source.n_bytes
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield line, begin, [], "a quoted field that begins here is not closed well; double a quote inside quotes"
            return
        if any(cell.strip() for cell in cells):
            yield line, begin, cells, ""


def delimiter_of(text: str) -> str:
    r"""Return `,`, `;` or tab: the delimiter that splits the first rows most evenly, then into most columns.

    Example:
        >>> delimiter_of("name;wish, exactly\nAna;a coat\n")
        ';'
    """
    return _delimiter_in(lambda: io.StringIO(text, newline=""))


def _delimiter_in(lines: Callable[[], Iterable[str]]) -> str:
    csv.field_size_limit(LONGEST_FIELD)
    return max(_DELIMITERS, key=lambda mark: _evenness(lines(), mark))


def _evenness(lines: Iterable[str], mark: str) -> tuple[bool, float, int]:
    """Return whether a delimiter splits the header, how many rows have the same number of fields, and that number."""
    reader = csv.reader(lines, delimiter=mark)
    try:
        rows = [row for row in islice(reader, _SAMPLE) if row]
    except csv.Error:
        return False, 0.0, 0
    n_columns = len(rows[0]) if rows else 0
    return n_columns > 1, sum(len(row) == n_columns for row in rows) / max(1, len(rows)), n_columns


def _header_diagnostics(columns: tuple[str, ...], file: str, line: int) -> list[LocatedDiagnostic]:
    twice = [name for name, n in Counter(columns).items() if n > 1 and name]
    diagnostics = [f"column `{name}` stands twice in the header; give each its own name" for name in twice]
    if "" in columns:
        diagnostics.append(f"column {columns.index('') + 1} has no name in the header")
    return [LocatedDiagnostic(file=file, line=line, message=message) for message in diagnostics]


def _ragged(cells: list[str], columns: tuple[str, ...], file: str, line: int) -> LocatedDiagnostic:
    text = f"has {len(cells)} field{'' if len(cells) == 1 else 's'} where the header names {len(columns)}"
    hint = "put a field that holds the delimiter in quotes" if len(cells) > len(columns) else "fill it in"
    return LocatedDiagnostic(file=file, line=line, message=f"{text}; {hint}")


def _read_json_lines(stored: bytes, file: str, encoding: str, on_rows: OnRows | None) -> InputTable:
    diagnostics: list[LocatedDiagnostic] = []
    spans, lines = array("Q"), array("L")
    columns: dict[str, None] = {}
    end = 0
    for number, record in enumerate(counted(io.BytesIO(stored), f"Reading {file}", on_rows), start=1):
        begin, end = end, end + len(record)
        if not record.strip():
            continue
        try:
            entry = json.loads(record)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            diagnostics.append(
                LocatedDiagnostic(file=file, line=number, message="is not a JSON object; expected one in each line")
            )
            continue
        columns.update(dict.fromkeys(map(str, entry)))
        spans.extend((begin, end))
        lines.append(number)
    names = tuple(columns)
    rows = _rows_in(stored, spans, JsonLinesFormat(names), names)
    return InputTable(
        file=file,
        columns=names,
        rows=rows,
        lines=lines if isinstance(rows, StoredRows) else tuple(lines),
        encoding=encoding,
        delimiter="JSON lines",
        faults=tuple(diagnostics),
    )


R = TypeVar("R")

OnRows: TypeAlias = Callable[[str, int], None]
"""Called with a step as text, e.g. `Reading a.csv`, and the number of rows so far."""

EVERY = 20_000
"""Rows between two calls; count."""


def counted(rows: Iterable[R], step: str, on_rows: OnRows | None) -> Iterator[R]:
    """Yield rows and report their number from time to time.

    Args:
        rows: The rows, or any iterable with one entry for each.
        step: The step, as text.
        on_rows: Called with the number of rows read so far; None for no report.
    """
    if on_rows is None:
        yield from rows
        return
    for number, row in enumerate(rows):
        if number % EVERY == 0:
            on_rows(step, number)
        yield row


class RowFormat(Protocol):
    """Converts a record of a file to a row."""

    def row(self, record: str) -> dict[str, str]:
        """Return the row of a record."""
        ...


class CsvFormat:
    """Records of delimited files."""

    def __init__(self, columns: tuple[str, ...], delimiter: str) -> None:
        """Set the delimiter and the names of the fields."""
        self._columns, self._delimiter = columns, delimiter

    def row(self, record: str) -> dict[str, str]:
        """Return the row of a record."""
        (cells,) = csv.reader((record,), delimiter=self._delimiter, strict=True)
        return dict(zip(self._columns, cells, strict=True))


class JsonLinesFormat:
    """Records that are JSON objects; missing columns are empty."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        """Store the columns of the whole file."""
        self._columns = columns

    def row(self, record: str) -> dict[str, str]:
        """Return the row of a record."""
        cells = {str(key): cell_text(value) for key, value in json.loads(record).items()}
        return {column: cells.get(column, "") for column in self._columns}


def cell_text(value: object) -> str:
    """Return a JSON value as a cell of a table: texts unchanged, null as empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class StoredRows(Sequence[Mapping[str, str]]):
    """Rows that are read from a file's bytes on demand."""

    def __init__(self, stored: bytes, spans: array[int], reading: RowFormat) -> None:
        """Set the bytes (UTF-8) and the start and end of each record, in turn."""
        self._stored, self._spans, self._reading = memoryview(stored), spans, reading

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return len(self._spans) // 2

    @overload
    def __getitem__(self, position: int) -> Mapping[str, str]: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Mapping[str, str]]: ...

    def __getitem__(self, position: int | slice) -> Mapping[str, str] | Sequence[Mapping[str, str]]:
        """Return the row at an index, or those of a slice."""
        if isinstance(position, slice):
            return [self[item] for item in range(*position.indices(len(self)))]
        at = range(len(self))[position] * 2
        return self._reading.row(str(self._stored[self._spans[at] : self._spans[at + 1]], "utf-8"))


def lines_of(stored: bytes) -> Iterator[str]:
    """Yield the lines of UTF-8 bytes with their ends, one at a time; decoding all of them would double the memory."""
    return iter(io.TextIOWrapper(io.BytesIO(stored), encoding="utf-8", newline=""))


class CountedLines:
    """Lines for a reader, with a count of their bytes."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Start before the first line."""
        self._lines = iter(lines)
        self.n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        """Return the lines."""
        return self

    def __next__(self) -> str:
        """Return the next line."""
        line = next(self._lines)
        self.n_bytes += len(line) if line.isascii() else len(line.encode("utf-8"))
        return line


_PROMPT = ("prompt", "question", "query", "input", "instruction", "user", "user_message")

_RESPONSE = ("response", "completion", "answer", "output", "reply", "generation", "assistant")

_EXPECTED = (
    "expected",
    "expected_answer",
    "expected_output",
    "expected_response",
    "correct_answer",
    "reference_answer",
    "gold_answer",
    "ideal",
    "ideal_answer",
    "ground_truth",
    "target",
    "gold",
)

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
    """Detected roles of a recorded file's columns, without unknown ones.

    Attributes:
        columns: Column of each role (`id`, `turn`, `prompt`, `response`, `context`, `expected`, ...).
        persons: Columns with labels of people.
        models: Columns with labels of models.
        rules: Columns with labels of rules.
        reference: Column with final labels; empty for none.
        groups: Columns by which dialogues may be grouped.
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
    """Return the detected columns, by their names and content."""
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
    if (expected := _named(table.columns, _EXPECTED)) and not _is_small(_values(table, expected)):
        columns["expected"] = expected
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
    """Return the column whose name looks like source material; empty for none."""
    return _named(columns, _CONTEXT)


def guess_lines(table: InputTable, guess: Guess) -> tuple[str, ...]:
    """Return the detected roles as text, with the values that match no label."""
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
            text = f"{len(unfit)} values of {column} fit" if len(unfit) > 1 else f"1 value of {column} fits"
            lines.append(f'             ({text} no label, e.g. "{shown}")')
    return tuple(lines)


def column_meaning(columns: Sequence[str], meaning: str) -> str:
    """Return the column that probably contains the prompt, the expected answer or the id; empty for none."""
    return _named(columns, {"prompt": _PROMPT, "expected": _EXPECTED, "id": _ID}[meaning])


def _named(columns: Sequence[str], names: Sequence[str]) -> str:
    plain = {column.strip().lower().replace(" ", "_"): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), "")


def _values(table: InputTable, column: str) -> list[str]:
    return [text for row in table.rows if (text := row[column].strip())]


def _kind(column: str) -> str:
    """Return the probable kind of annotator behind a column's labels; empty if it seems to contain none."""
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    for kind, pattern in (("reference", _REFERENCE), ("rule", _RULE), ("model", _MODEL), ("person", _PERSON)):
        if pattern.search(name):
            return kind
    return ""


def _is_small(values: Sequence[str]) -> bool:
    """Return whether a column repeats a few values, as labels do."""
    return 1 < len(set(values)) <= min(_MOST_LABELS, max(2, len(values) // 2)) and len(values) > len(set(values))


def _labels(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    small = [set(values) for values in columns if 1 < len(set(values)) <= min(_MOST_LABELS, max(2, len(values) // 2))]
    return tuple(sorted({label for labels in small for label in labels}))


def _fits(values: Sequence[str], labels: Sequence[str]) -> bool:
    return bool(values) and sum(value in labels for value in values) >= 0.6 * len(values)


def _splits(values: Sequence[str]) -> bool:
    return 1 < len(set(values)) <= min(_MOST_GROUPS, len(values) // 2)
