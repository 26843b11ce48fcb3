"""Import of other tools' results as a study."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import trust_new_study
from theodolite.bootstrap.plugins import plugin_importers
from theodolite.config.tables import table_of, unreadable
from theodolite.config.tool_formats import FORMATS, ResultFormat, is_results, read_results
from theodolite.config.tool_results import DEFAULT_APPLICATION, Criterion, ToolDialogue, ToolResults, ToolScore
from theodolite.config.tool_study import ToolStudy, inspect_results, study_of_results
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, few_of
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.errors import InputError, TheodoliteError, did_you_mean
from theodolite.domain.live import RecordedTurn
from theodolite.gateways.extras import read_inspect_log
from theodolite.plugins import Importer

_NOTHING_WRITTEN = "Nothing was written."


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """Columns of a table with results.

    Attributes:
        columns: Meaning to column: `id`, `turn`, `prompt`, `response`, `context`, `application`.
        scores: Name of the scorer to its column.
        kind: Kind of annotator behind the scores.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    kind: AnnotatorKind = AnnotatorKind.RULE


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedStudy:
    """A study made of results files.

    Attributes:
        path: The study file.
        results: The content of the files.
        made: The files that were written, with counts.
    """

    path: Path
    results: tuple[ToolResults, ...]
    made: ToolStudy


def import_results(folder: Path, files: Sequence[Path], mapping: TableMapping | None = None) -> ImportedStudy:
    """Write a study with the dialogues and scores of results files.

    Args:
        folder: Folder of the new study.
        files: Results: logs of Inspect, JSON, JSON Lines or tables.
        mapping: Columns of tables.

    Raises:
        InvalidStudyError: If a file has errors; lists those of all files.
        InputError: If a study exists there already, or Inspect is not installed.
    """
    path = folder / "study.yaml"
    if path.exists():
        message = f"`{path}` exists and stays unchanged; name another folder"
        raise InputError(message)
    importers = (*plugin_importers(), *SHIPPED_IMPORTERS)
    results = tuple(_read(file, mapping or TableMapping(), importers) for file in files)
    if diagnostics := tuple(diagnostic for each in results for diagnostic in each.faults):
        raise InvalidStudyError(diagnostics, ending=_NOTHING_WRITTEN)
    made = study_of_results(folder.resolve().name or "imported", results)
    for name, content in made.files.items():
        write_whole(folder / name, content)
    trust_new_study(folder)
    return ImportedStudy(path=path, results=results, made=made)


def _inspect_results(path: str, stored: bytes) -> ToolResults:
    header, samples = read_inspect_log(Path(path))
    return inspect_results(header, samples, file=Path(path).name, sha256=hashlib.sha256(stored).hexdigest())


SHIPPED_IMPORTERS: tuple[Importer | ResultFormat, ...] = (
    Importer(
        name="Inspect",
        fits=lambda name, _: name.endswith(".eval"),
        read=_inspect_results,
    ),
    *FORMATS,
)
"""The formats that the package reads; any other file is read as a table."""


def _read(file: Path, mapping: TableMapping, importers: Sequence[Importer | ResultFormat]) -> ToolResults:
    try:
        stored = file.read_bytes()
    except OSError as error:
        diagnostic = LocatedDiagnostic(file=str(file), message=f"cannot be read: {unreadable(error)}")
        return ToolResults(tool="", file=file.name, faults=(diagnostic,))
    for importer in importers:
        if isinstance(importer, Importer) and _fits(importer, file.name, stored):
            return _read_by(importer, file, stored)
    formats = tuple(each for each in importers if isinstance(each, ResultFormat))
    if mapping.columns or not is_results(stored, formats):
        return _table_results(stored, file.name, mapping)
    return read_results(stored, file.name, formats)


def _fits(importer: Importer, name: str, stored: bytes) -> bool:
    try:
        return bool(importer.fits(name, stored))
    except Exception as error:  # the code of a plugin may raise anything; this is the boundary
        message = f"importer `{importer.name}` failed on `{name}`: {type(error).__name__}: {error}"
        raise InputError(message) from error


def _read_by(importer: Importer, file: Path, stored: bytes) -> ToolResults:
    """Return the content of a file by an importer, with its hash and name.

    Raises:
        InputError: If the importer raises an exception, or returns another object.
    """
    try:
        results = importer.read(str(file), stored)
    except TheodoliteError:
        raise
    except Exception as error:  # the code of a plugin may raise anything; this is the boundary
        message = f"importer `{importer.name}` failed on `{file.name}`: {type(error).__name__}: {error}"
        raise InputError(message) from error
    if not isinstance(results, ToolResults):
        got = type(results).__name__
        message = f"importer `{importer.name}` must return `ToolResults` for `{file.name}`, got {got}"
        raise InputError(message)
    return replace(results, file=file.name, sha256=hashlib.sha256(stored).hexdigest())


def _table_results(stored: bytes, file: str, mapping: TableMapping) -> ToolResults:
    """Return the rows of a table as dialogues, by the columns that the user names."""
    table = table_of(stored, file)
    names = {"prompt": "prompt", "response": "response", **mapping.columns}
    columns = [*names.values(), *mapping.scores.values()]
    diagnostics = list(table.faults)
    for column in dict.fromkeys(columns if table.columns and not table.faults else ()):
        if column not in table.columns:
            near = did_you_mean(column, table.columns) or f"; columns are {', '.join(table.columns)}"
            diagnostics.append(LocatedDiagnostic(file=file, line=1, message=f"has no column `{column}`{near}"))
    if diagnostics:
        return ToolResults(tool="table", file=file, sha256=table.sha256, faults=few_of(diagnostics, file))
    known = {*columns}
    grouped: dict[tuple[str, str], list[tuple[int, int, Mapping[str, str]]]] = {}
    for number, (row, line) in enumerate(zip(table.rows, table.lines, strict=True), start=1):
        turn = row[names["turn"]].strip() if "turn" in names else "1"
        if not (turn.isdecimal() and int(turn) > 0):
            message = f"has `{turn}` in column `{names['turn']}`; expected the number of the turn, from 1"
            diagnostics.append(LocatedDiagnostic(file=file, line=line, message=message))
            continue
        key = row[names["id"]].strip() if "id" in names else f"row-{number}"
        application = row[names["application"]].strip() if "application" in names else ""
        grouped.setdefault((key, application or DEFAULT_APPLICATION), []).append((int(turn), line, row))
    dialogues = [
        _table_dialogue(key, application, rows, names, mapping, known) for (key, application), rows in grouped.items()
    ]
    return ToolResults(
        tool="table", file=file, sha256=table.sha256, dialogues=tuple(dialogues), faults=few_of(diagnostics, file)
    )


def _table_dialogue(
    key: str,
    application: str,
    rows: list[tuple[int, int, Mapping[str, str]]],
    names: Mapping[str, str],
    mapping: TableMapping,
    known: set[str],
) -> ToolDialogue:
    ordered = sorted(rows, key=lambda row: row[0])
    turns = tuple(
        RecordedTurn(
            prompt=row[names["prompt"]],
            response=row[names["response"]],
            context=row[names["context"]] if "context" in names else "",
        )
        for _, _, row in ordered
    )
    first = ordered[0][2]
    scores = []
    for scorer, column in mapping.scores.items():
        value = next((text for _, _, row in ordered if (text := row[column].strip())), "")
        criterion = Criterion(guideline=scorer, annotator=scorer, kind=mapping.kind)
        outcome = Outcome.ANSWERED if value else Outcome.MISSING
        scores.append(ToolScore(criterion=criterion, value=value, outcome=outcome))
    return ToolDialogue(
        key=key,
        application=application,
        turns=turns,
        line=min(line for _, line, _ in rows),
        columns={name: text for name, text in first.items() if name not in known and text},
        scores=tuple(scores),
    )
