"""Checks of a study with its drafts and unsaved texts, and their way to the study's files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from theodolite.config.editable_files import EditableFiles, require_size
from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import IGNORED_FOLDERS, OUTPUT_FOLDERS, LoadedStudy, load_study
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.config.required_access import code_hash_of, hosts_of, named_code, named_keys
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import InputError, Severity
from theodolite.domain.identity import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReading:
    """A study from its files and drafts.

    Attributes:
        loaded: The study; None if it has errors.
        diagnostics: Errors, notes and open items, as listed by `theodolite check`.
        added_access: Code, keys and private hosts that the files of the folder do not name, as text.
    """

    loaded: LoadedStudy | None
    diagnostics: tuple[LocatedDiagnostic, ...]
    added_access: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsavedReading:
    """A study without faults from its files, its drafts and an unsaved text.

    Attributes:
        loaded: The study.
        added_access: Code and keys that the files of the folder do not name, in words.
        known_hosts: Hosts that the files of the folder call.
    """

    loaded: LoadedStudy
    added_access: tuple[str, ...]
    known_hosts: frozenset[str]


OPERATOR_ONLY = "only the operator adds code, keys and private hosts"
"""Reason why a draft is refused."""

_READINGS: dict[str, tuple[object, DraftReading]] = {}
"""The latest results by the study's storage, each with a key that changes with every file."""

_MOST_READINGS = 16


def check(
    files: EditableFiles, *, resolver: ResourceResolver | None = None, environ: Mapping[str, str] | None = None
) -> DraftReading:
    """Return the study from its files and drafts, with all findings of `theodolite check`.

    The latest results are cached until a file changes.
    """
    stamp = (_stamp(files), environ is None, files.accepted_keys)
    key = str(files.storage)
    if key not in _READINGS or _READINGS[key][0] != stamp:
        _READINGS.pop(key, None)
        _READINGS[key] = (stamp, _check(files, resolver, environ))
        while len(_READINGS) > _MOST_READINGS:
            _READINGS.pop(next(iter(_READINGS)))
    return _READINGS[key][1]


def _stamp(files: EditableFiles) -> str:
    """Return a key that changes with every file or draft."""
    folders = [files.folder, files.storage / "drafts"]
    entries = sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.is_file())
    ignored = files.folder / WORKSPACE_NAME
    shown = [path for path in entries if not path.is_relative_to(ignored) or path.is_relative_to(folders[1])]
    return digest(*(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in shown))


def _check(files: EditableFiles, resolver: ResourceResolver | None, environ: Mapping[str, str] | None) -> DraftReading:
    if not files.drafts():
        return _reading(files.folder, files.main, resolver, environ)
    with _with_texts(files) as folder:
        reading = _reading(folder, files.main, resolver, environ)
        added = (*_refused(files, reading, resolver), *_refused_hosts(files, reading, resolver))
        return replace(reading, added_access=added)


def _refused(files: EditableFiles, reading: DraftReading, resolver: ResourceResolver | None) -> tuple[str, ...]:
    """Return the code and keys that a study names and the files of the folder do not, without accepted keys."""
    if reading.loaded is None:
        return ()
    saved = _reading(files.folder, files.main, resolver, None).loaded
    added = added_access(saved, reading.loaded)
    return tuple(item for item in added if item not in {f"key `{use}`" for use in files.accepted_keys})


def _refused_hosts(files: EditableFiles, reading: DraftReading, resolver: ResourceResolver | None) -> tuple[str, ...]:
    """Return the hosts that a study calls and the files of the folder do not, and that are not permitted."""
    if reading.loaded is None or files.host_problem is None:
        return ()
    saved = _reading(files.folder, files.main, resolver, None).loaded
    added = {*hosts_of(reading.loaded.study)} - {*(hosts_of(saved.study) if saved else ())}
    problems = {host: files.host_problem(host) for host in sorted(added) if " " not in host}
    return tuple(f"host `{host}`: {problem}" for host, problem in problems.items() if problem)


def added_errors(
    files: EditableFiles,
    changes: Mapping[str, str | None],
    *,
    new_names: Mapping[str, str] | None = None,
    resolver: ResourceResolver | None = None,
) -> tuple[LocatedDiagnostic, ...]:
    """Return the errors of `theodolite check` that unsaved changes would add.

    Args:
        files: The files of the study.
        changes: Texts by file; None for a deleted file.
        new_names: New names of renamed files, whose errors stay the same.
        resolver: Finds resources that the study's folder does not contain.
    """
    files.storage.mkdir(parents=True, exist_ok=True, mode=0o700)
    before, after = (_errors_with(files, texts, resolver) for texts in ({}, changes))
    names = new_names or {}
    known = {(names.get(error.file, error.file), error.message) for error in before}
    return tuple(error for error in after if (error.file, error.message) not in known)


def _errors_with(
    files: EditableFiles, changes: Mapping[str, str | None], resolver: ResourceResolver | None
) -> tuple[LocatedDiagnostic, ...]:
    with _with_texts(files, changes) as folder:
        result = _reading(folder, files.main, resolver, None).diagnostics
    return tuple(error for error in result if error.severity is Severity.ERROR)


@contextmanager
def with_unsaved(
    files: EditableFiles, name: str, text: str, *, resolver: ResourceResolver | None = None
) -> Iterator[UnsavedReading]:
    """Give the study as it reads with an unsaved text in place of one file; nothing is saved.

    Recordings can be read inside the context only.

    Raises:
        InputError: If the name is not allowed, or the text is too large.
        InvalidStudyError: If the study has faults with this text.
    """
    files.path(name)
    require_size(name, text)
    files.storage.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _with_texts(files, {name: text.replace("\r\n", "\n")}) as folder:
        reading = _reading(folder, files.main, resolver, None)
        if reading.loaded is None:
            raise InvalidStudyError(reading.diagnostics, ending="Correct the errors first.")
        saved = _reading(files.folder, files.main, resolver, None).loaded
        yield UnsavedReading(
            loaded=replace(reading.loaded, folder=files.folder, code=None),
            added_access=_refused(files, reading, resolver) if files.has_drafts else (),
            known_hosts=frozenset(hosts_of(saved.study) if saved else ()),
        )


def apply(files: EditableFiles, *, resolver: ResourceResolver | None = None) -> tuple[str, ...]:
    """Write the drafts to the study's files, and return their names.

    Raises:
        InvalidStudyError: If the study would have errors.
        InputError: If it would run code, send keys or call private hosts that the files do not name yet.
        Conflict: If a file has changed on disk since its draft was started.
    """
    with files.saved.locked():
        names = files.drafts()
        reading = _check(files, resolver, None)  # not the cached result: addresses of hosts may have changed
        if reading.loaded is None:
            raise InvalidStudyError(reading.diagnostics, ending="Nothing was written.")
        if reading.added_access:
            message = f"the draft adds {'; '.join(reading.added_access)}; {OPERATOR_ONLY}"
            raise InputError(message)
        for name in names:
            files.require_same_base(name)
        for name in sorted(names, key=lambda name: files.known(name) is None):  # deletions come last
            files.apply_draft(name)
    return names


@contextmanager
def _with_texts(files: EditableFiles, unsaved: Mapping[str, str | None] | None = None) -> Iterator[Path]:
    """Give a copy of the folder in which drafts and unsaved texts replace the files; other files are linked."""
    with TemporaryDirectory(dir=files.storage) as made:
        folder = Path(made) / files.folder.name
        ignored = shutil.ignore_patterns(".*", *OUTPUT_FOLDERS, *IGNORED_FOLDERS)
        shutil.copytree(files.folder, folder, ignore=ignored, copy_function=_link)
        drafted = {name: files.known(name) for name in files.drafts()}
        texts = {name: text.text if text else None for name, text in drafted.items()} | dict(unsaved or {})
        for name, text in texts.items():
            path = folder / name
            path.unlink(missing_ok=True)  # it may be a link to the file of the study
            if text is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        yield folder


def added_access(before: LoadedStudy | None, after: LoadedStudy) -> tuple[str, ...]:
    """Return the code and keys that a study has started to name, as text.

    Args:
        before: The study before; None if its files had errors.
        after: The study afterwards.
    """
    known = {code.shown for code in named_code(before.study)} if before else set()
    sent = {use.shown for use in named_keys(before.study)} if before else set()
    code = [f"code `{code.shown}`" for code in named_code(after.study) if code.shown not in known]
    keys = [f"key `{use.shown}`" for use in named_keys(after.study) if use.needs_permission and use.shown not in sent]
    changed = []
    # Both hashes are of the code that remains: a study may stop naming code without the operator.
    if before and not code and code_hash_of(after.study, before.folder) != code_hash_of(after.study, after.folder):
        changed = ["changed code"]
    return (*code, *keys, *changed)


def _reading(
    folder: Path, main: str, resolver: ResourceResolver | None, environ: Mapping[str, str] | None
) -> DraftReading:
    try:
        loaded = load_study(folder / main, environ=environ, resolver=resolver, looks_at_code=True)
    except InvalidStudyError as error:
        return DraftReading(loaded=None, diagnostics=error.placed)
    return DraftReading(loaded=loaded, diagnostics=loaded.notes)


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target)
    return target
