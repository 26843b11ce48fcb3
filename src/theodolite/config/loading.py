"""Loads studies: a study folder becomes a `Study` with its recordings, or all its diagnostics at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.config.assembly import study_to_domain
from theodolite.config.code_applications import CodeSpec
from theodolite.config.code_version import CodeReader, with_code
from theodolite.config.diagnostics import InvalidStudyError, LocatedDiagnostic
from theodolite.config.load_context import Entry, Found, LoadContext
from theodolite.config.resources import ResourceResolver
from theodolite.config.study import StudySpec
from theodolite.config.study_files import read_file, study_file
from theodolite.config.tables import OnRows
from theodolite.config.validation import validated
from theodolite.config.yaml_source import YamlSource, read_yaml
from theodolite.domain.errors import InputError
from theodolite.domain.fault import Severity
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.recording import RecordedDialogue


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedStudy:
    """A study that holds no faults, with everything its files bring.

    Attributes:
        study: What is to be measured.
        recordings: Dialogues of recorded applications, in the order of the file; those of a large file are read
            whenever they are asked for.
        folder: The study's folder.
        file: Name of the study's file in it.
        notes: Notes and open items.
        found: Names that were found outside of the study file.
        readings: How tables were read, e.g. `answers.csv: 2,250 rows, UTF-8, comma`.
        lines: Section and name to the line of the study file, for messages.
        files: Files of the folder that the study is made of, beside its own file.
        outside: Files that were read from outside of the folder, by permission: name in the study to resolved path.
        code: Reads versions of the code of its applications; None for a study of no files.
    """

    study: Study
    recordings: Sequence[RecordedDialogue]
    folder: Path
    file: str
    notes: tuple[LocatedDiagnostic, ...] = ()
    found: tuple[Found, ...] = ()
    readings: tuple[str, ...] = ()
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    outside: Mapping[str, Path] = field(default_factory=dict)
    code: CodeReader | None = None

    def with_held_recordings(self) -> LoadedStudy:
        """Return the study with its recordings as records: a run needs each of them many times."""
        return replace(self, recordings=tuple(self.recordings))

    def line_of(self, section: str, name: str) -> int:
        """Return the line in which the study's file names an entry; 0 where it does not."""
        return self.lines.get((section, name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    loaded: LoadedStudy | None
    placed: tuple[LocatedDiagnostic, ...]


def load_study(
    path: Path | str,
    *,
    environ: Mapping[str, str] | None = None,
    resolver: ResourceResolver | None = None,
    instead: Mapping[str, bytes] | None = None,
    looks_at_code: bool = False,
    on_rows: OnRows | None = None,
) -> LoadedStudy:
    """Return the study of a file or folder.

    Args:
        path: A study file, or a folder that holds one.
        environ: The environment, to note which keys are not set; None asks nothing.
        resolver: Finds resources that the study folder does not contain; default: the shipped ones.
        instead: What is read in place of files of the folder, by path, e.g. a draft of `schemas/tone.yaml`.
        looks_at_code: Whether functions and classes that the study names must be there; nothing of them is run.
        on_rows: Called while long tables are gone through, so that somebody who waits can be told.

    Raises:
        InvalidStudyError: If its files hold faults; all of them at once.
    """
    place, known = Path(path), resolver or ResourceResolver()
    reading = _read(place, environ, known, instead or {}, looks_at_code=looks_at_code, on_rows=on_rows)
    if reading.loaded is None:
        raise InvalidStudyError(reading.placed)
    return reading.loaded


def check_study(
    path: Path | str, *, environ: Mapping[str, str] | None = None, looks_at_code: bool = False
) -> tuple[LocatedDiagnostic, ...]:
    """Return everything that is wrong with a study, worst first; its notes and open items where nothing is.

    What is wrong can make a note untrue (a judge that cannot be read leaves
    nobody who labels), so notes wait until there are no faults.
    """
    return _read(Path(path), environ, ResourceResolver(), {}, looks_at_code=looks_at_code).placed


def _read(
    path: Path,
    environ: Mapping[str, str] | None,
    resolver: ResourceResolver,
    instead: Mapping[str, bytes],
    *,
    looks_at_code: bool,
    on_rows: OnRows | None = None,
) -> _Reading:
    file = study_file(path)
    if isinstance(file, LocatedDiagnostic):
        return _Reading(loaded=None, placed=(file,))
    raw = read_file(file)
    if isinstance(raw, LocatedDiagnostic):
        return _Reading(loaded=None, placed=(raw,))
    context = LoadContext(
        folder=file.parent, resolver=resolver, instead=instead, looks_at_code=looks_at_code, on_rows=on_rows
    )
    return _read_source(file, raw, environ, context)


def _read_source(file: Path, raw: bytes, environ: Mapping[str, str] | None, context: LoadContext) -> _Reading:
    source = read_yaml(raw, file.name)
    spec = validated(source, StudySpec, owner="the study") if source.content else None
    context.diagnostics.first = file.name
    context.diagnostics.add(*source.faults)
    if spec is None:
        return _Reading(loaded=None, placed=context.diagnostics.in_order())
    entry = Entry(name=spec.study, spec=spec, source=source, path=())
    study, recordings = study_to_domain(entry, context, environ)
    placed = context.diagnostics.in_order()
    faults = tuple(fault for fault in placed if fault.severity is Severity.FAULT)
    if study is None or faults:
        return _Reading(loaded=None, placed=faults)
    reader = _code_reader(entry, file, context)
    try:
        study = replace(study, applications=tuple(with_code(one, reader) for one in study.applications))
    except (InputError, OSError) as error:
        return _Reading(loaded=None, placed=(LocatedDiagnostic(file=file.name, line=0, message=str(error)),))
    loaded = LoadedStudy(
        study=study,
        recordings=recordings,
        folder=file.parent,
        file=file.name,
        notes=placed,
        found=tuple(dict.fromkeys(context.found)),
        readings=tuple(f"{table.file}: {table.described}" for table in context.tables.values()),
        lines=_lines(source),
        files=tuple(context.files),
        outside=dict(context.paths.outside),
        code=reader,
    )
    return _Reading(loaded=loaded, placed=placed)


def _code_reader(entry: Entry[StudySpec], file: Path, context: LoadContext) -> CodeReader:
    applications = entry.spec.applications
    ignored = {name: tuple(spec.ignore) for name, spec in applications.items() if isinstance(spec, CodeSpec)}
    material = frozenset({file.name, *context.files} - context.code)
    return CodeReader(folder=file.parent, material=material, ignored=ignored)


def _lines(source: YamlSource) -> dict[tuple[str, str], int]:
    """Return where the file names the entries of its sections."""
    return {(str(path[0]), str(path[1])): spot.line for path, spot in source.keys.items() if len(path) == 2}
