"""Loads studies: files become a `Study` with the version of its code, or a list of all diagnostics."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.config.applications import CodeSpec
from theodolite.config.assembly import study_to_domain
from theodolite.config.load_context import Entry, Found, LoadContext, ResourceResolver
from theodolite.config.permissions import SERVING, read_file, study_file
from theodolite.config.study import StudySpec
from theodolite.config.tables import OnRows
from theodolite.config.validation import validated
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, YamlSource, read_yaml
from theodolite.domain.application import Application, AriaClass, CodeVersion, PythonCallable
from theodolite.domain.errors import InputError, Severity
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.live import RecordedDialogue


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedStudy:
    """A study without errors, with the content of its files.

    Attributes:
        study: The study to measure.
        recordings: Dialogues of recorded applications, in file order; those of a large file are read
            on demand.
        folder: The study's folder.
        file: Name of the study file within `files`.
        notes: Notes and open items.
        found: Names that are defined outside the study file.
        readings: How tables were read, e.g. `answers.csv: 2,250 rows, UTF-8, comma`.
        lines: Section and name to the line of the study file, for messages.
        files: Files of the folder that belong to the study, besides its own file.
        outside: Files read from outside the folder, by permission: name in the study to resolved path.
        code: Reads versions of the code of its applications; None for a study without files.
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
        """Return the study with its recordings as records in memory, since a run needs each of them many times."""
        return replace(self, recordings=tuple(self.recordings))

    def line_of(self, section: str, name: str) -> int:
        """Return the line of an entry in the study file; 0 if it is not there."""
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
        path: A study file, or a folder that contains one.
        environ: The environment, to report which keys are not set; None for no report.
        resolver: Finds resources that the study folder does not contain; default: the shipped ones.
        instead: Texts that replace files of the folder, by path, e.g. a draft of `schemas/tone.yaml`.
        looks_at_code: Whether functions and classes that the study names must exist; their code is not run.
        on_rows: Called while long tables are read, to show progress.

    Raises:
        InvalidStudyError: If its files have errors; lists all of them.
    """
    location, known = Path(path), resolver or ResourceResolver()
    reading = _read(location, environ, known, instead or {}, looks_at_code=looks_at_code, on_rows=on_rows)
    if reading.loaded is None:
        raise InvalidStudyError(reading.placed)
    return reading.loaded


def check_study(
    path: Path | str, *, environ: Mapping[str, str] | None = None, looks_at_code: bool = False
) -> tuple[LocatedDiagnostic, ...]:
    """Return all errors of a study, worst first; its notes and open items if it has none.

    Errors can make a note untrue (a judge that cannot be read leaves
    no annotator), so notes wait until there are no errors.
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
    diagnostics = tuple(diagnostic for diagnostic in placed if diagnostic.severity is Severity.ERROR)
    if study is None or diagnostics:
        return _Reading(loaded=None, placed=diagnostics)
    reader = _code_reader(entry, file, context)
    try:
        study = replace(study, applications=tuple(with_code(application, reader) for application in study.applications))
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
    """Return the positions of the entries of the file's sections."""
    return {(str(path[0]), str(path[1])): key.line for path, key in source.keys.items() if len(path) == 2}


IGNORED_FOLDERS = ("__pycache__", "node_modules", "venv", "*.egg-info")
"""Folders excluded from versions, as are hidden ones, virtual environments and folders of other studies."""

IGNORED_FILES = ("*.pyc", "*.pyo", "*.log", "*.tmp", "*.swp", "*~", "*.db-wal", "*.db-shm", "*-journal")
"""Files excluded from versions; hidden files are excluded too."""

STUDY_FOLDERS = frozenset(
    {
        *("guidelines", "schemas", "questionnaires", "trees", "translations", "personas", "parameters", "scenarios"),
        *("series", "taxonomies"),
    }
)
"""Folders of a study's own material, excluded from the code of an application in the same folder."""

OUTPUTS = (
    *("report*.html", "results*.json", "compare*.html", "compare*.json", "monitor*.html", "monitor*.json"),
    *("tree-*.json", "answers*.zip", "answers*.jsonl", "tasks*.json", "labels*.html", "labels*.csv", "labels*.jsonl"),
    *("argilla*.json", "argilla*.jsonl", "export.csv", "export.jsonl", "export.parquet", "export-chat.jsonl"),
    "release-review*.csv",
)
"""Files that commands write next to a study."""

OUTPUT_FOLDERS = ("series-report*", "export-inspect", "export-hugging-face", "release-bundle*", "documents*")
"""Folders that commands write next to a study."""

MOST_FILES = 20_000
"""Files of one application's folder."""

SLOW_S = 1.0
"""Hashing time above which hashes are cached between commands; seconds."""

SETTLED_NS = 2_000_000_000
"""Age above which a file's size and time show whether it changed; nanoseconds. Younger files are read again."""

_STUDY = re.compile(rb"^(?:study|pack)\s*:", re.MULTILINE)


@dataclass(slots=True)
class FileHashes:
    """Hashes of files, cached by path, size and modification time."""

    known: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    spent_s: float = 0.0

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file."""
        status, key = path.stat(), str(path)
        known = self.known.get(key)
        if known is not None and known[:2] == (status.st_size, status.st_mtime_ns):
            return known[2]
        started = time.monotonic()
        with path.open("rb") as file:
            result = hashlib.file_digest(file, "sha256").hexdigest()
        self.spent_s += time.monotonic() - started
        if time.time_ns() - status.st_mtime_ns > SETTLED_NS:
            self.known[key] = (status.st_size, status.st_mtime_ns, result)
        return result

    def read(self, file: Path) -> None:
        """Load the state of an earlier command; unreadable state counts as empty."""
        try:
            entries = json.loads(file.read_text(encoding="utf-8"))
            self.known |= {path: (int(size), int(at), str(sha)) for path, (size, at, sha) in entries.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return

    def write(self, file: Path) -> None:
        """Store hashes for the next command if hashing was slow and the workspace is writable."""
        if self.spent_s < SLOW_S:
            return
        try:
            temporary = file.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(self.known), encoding="utf-8")
            temporary.replace(file)
        except OSError:
            return


_HASHES = FileHashes()

HASHES_FILE = Path(".theodolite") / "code-hashes.json"
"""File of cached hashes in the study's folder, once it has a workspace."""


@dataclass(frozen=True)
class CodeReader:
    """Reads versions of the code of one study's applications.

    Attributes:
        folder: The study's folder.
        material: Files that belong to the study itself, by path in its folder.
        ignored: Patterns of files excluded from versions, by application.
    """

    folder: Path
    material: frozenset[str] = frozenset()
    ignored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def _remembered(self) -> Path:
        file = self.folder / HASHES_FILE
        _HASHES.read(file)
        return file

    def version(self, application: Application) -> CodeVersion:
        """Return the current version of an application's code; empty for applications without code.

        Raises:
            InputError: If its folder cannot be read, or contains too many files.
        """
        connection = application.connection
        if not isinstance(connection, PythonCallable | AriaClass):
            return CodeVersion()
        remembered = self._remembered
        root, only = self._root(connection.target)
        files = {}
        for path in self._files(application.name, root, only):
            files[path.relative_to(root).as_posix()] = _HASHES.of(path)
            if len(files) > MOST_FILES:
                message = (
                    f"application `{application.name}`: its folder `{root}` holds more than {MOST_FILES:,} files, which"
                    " all belong to its version; give the application a folder of its own, or leave files out by"
                    " `ignore`"
                )
                raise InputError(message)
        _HASHES.write(remembered)
        interpreter, distributions = _python(connection, self.folder)
        folder = Path(os.path.relpath(root, self.folder.resolve())).as_posix() if only is None else ""
        return CodeVersion(
            folder="" if folder == "." else folder, files=files, interpreter=interpreter, distributions=distributions
        )

    def change(self, application: Application) -> str:
        """Return the differences of an application's code from its recorded version; empty if there are none."""
        connection = application.connection
        if not isinstance(connection, PythonCallable | AriaClass) or not connection.code.interpreter:
            return ""
        changes = connection.code.changes_to(self.version(application))
        return ", ".join(changes[:3])

    def _root(self, target: str) -> tuple[Path, Path | None]:
        """Return the folder of a target's code, and its single file if the rest of the folder does not belong to it."""
        module = target.rpartition(":")[0]
        study = self.folder.resolve()
        if module.endswith(".py"):
            return (study / module).resolve().parent, None
        first = module.partition(".")[0]
        candidate = study / first
        if candidate.is_dir():
            return candidate, None
        if (study / f"{first}.py").is_file():
            return study, None
        spec = PathFinder.find_spec(first)
        if spec is not None and spec.submodule_search_locations:
            return Path(next(iter(spec.submodule_search_locations))).resolve(), Path()
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            return Path(spec.origin).resolve().parent, Path(spec.origin).resolve()
        return study, Path()

    def _files(self, name: str, root: Path, only: Path | None) -> Iterator[Path]:
        """Yield the files of an application's version, in order."""
        if only is not None and only.is_absolute():
            yield only
            return
        study = self.folder.resolve()
        if only is not None and root == study:  # a module that is nowhere: its own note
            return
        patterns = (*IGNORED_FILES, *self.ignored.get(name, ()))
        for folder, folders, files in os.walk(root, followlinks=True):
            place = Path(folder)
            folders[:] = sorted(item for item in folders if self._is_code(place / item, root, study, patterns))
            for file in sorted(files):
                path = place / file
                if not _matches(path.relative_to(root), (".*", *patterns)) and self._is_own(path, study):
                    yield path

    def _is_code(self, folder: Path, root: Path, study: Path, patterns: tuple[str, ...]) -> bool:
        """Return whether a folder belongs to the code."""
        if _matches(folder.relative_to(root), (".*", *IGNORED_FOLDERS, *patterns)):
            return False
        if (folder / "pyvenv.cfg").exists() or (folder / "study.yaml").exists():
            return False
        if (folder / "report.html").exists() and (folder / "results.json").exists():  # made by `--out`
            return False
        is_loop = folder.is_symlink() and folder.resolve() in {*folder.parents, root}
        is_study_s = folder.name in STUDY_FOLDERS or _matches(Path(folder.name), OUTPUT_FOLDERS)
        return not is_loop and not (folder.parent == study and is_study_s)

    def _is_own(self, path: Path, study: Path) -> bool:
        """Return whether a file belongs to the application rather than to the study or its results."""
        if not path.is_file():
            return False
        if path.is_relative_to(study) and path.relative_to(study).as_posix() in self.material:
            return False
        if path.parent != study:
            return True
        if _matches(Path(path.name), (*OUTPUTS, SERVING)):
            return False
        return path.suffix not in {".yaml", ".yml"} or not _STUDY.search(path.read_bytes())


def _matches(path: Path, patterns: Iterable[str]) -> bool:
    texts = (path.name, path.as_posix())
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in texts)


def _python(connection: PythonCallable | AriaClass, study: Path) -> tuple[str, tuple[str, ...]]:
    """Return the interpreter of the code and its distributions; a requirements file replaces the distributions."""
    runtime = connection.runtime
    if runtime.python:
        interpreter, folders = _named(study / runtime.python)
    else:
        interpreter = f"{platform.python_implementation()} {platform.python_version()}"
        folders = [Path(path) for path in sys.path if path]
    if not runtime.requirements:
        return interpreter, _distributions(folders)
    lines = (study / runtime.requirements).read_text(encoding="utf-8", errors="replace").splitlines()
    requested = (line.partition(" #")[0].strip() for line in lines)
    return interpreter, tuple(sorted(line for line in requested if line and not line.startswith("#")))


def _named(program: Path) -> tuple[str, list[Path]]:
    """Return the name of an interpreter and the location of its libraries, without running code."""
    home = program.parent.parent
    libraries = [*home.glob("lib/python3*/site-packages"), *home.glob("lib/python3*/dist-packages")]
    libraries += [*home.glob("Lib/site-packages")]
    settings = home / "pyvenv.cfg"
    if settings.is_file():
        pairs = (line.partition("=") for line in settings.read_text(encoding="utf-8").splitlines())
        stated = {key.strip(): value.strip() for key, _, value in pairs}
        version = stated.get("version") or stated.get("version_info", "")
        return f"Python {version}".strip(), libraries
    return f"{program.resolve().name} {_HASHES.of(program.resolve())[:12]}", libraries


def _distributions(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the installed distributions by their folder names, except Theodolite itself."""
    result = {_distribution(path.name) for folder in paths if folder.is_dir() for path in folder.glob("*.dist-info")}
    return tuple(sorted(result - {""}))


def _distribution(folder: str) -> str:
    name, _, version = folder.removesuffix(".dist-info").partition("-")
    return "" if name.lower() == "theodolite" else f"{name.lower()}=={version}"


def with_code(application: Application, reader: CodeReader) -> Application:
    """Return an application with the version of its code.

    Raises:
        InputError: If its folder cannot be read.
    """
    connection = application.connection
    if not isinstance(connection, PythonCallable | AriaClass):
        return application
    return replace(application, connection=replace(connection, code=reader.version(application)))
