"""Files of a study in the browser editor: reading, saving with history, drafts, and diagnostics.

Every saved text is kept: a save stores the text before and after it in the workspace. On a server the saved texts are
drafts next to the study's files until a person applies them; a live event reads only the files.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import quote

from filelock import FileLock

from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import IGNORED_FOLDERS, OUTPUT_FOLDERS, OUTPUTS, LoadedStudy, load_study
from theodolite.config.permissions import SERVING, USUAL, WORKSPACE_NAME, write_private
from theodolite.config.required_access import code_hash_of, hosts_of, named_code, named_keys
from theodolite.config.tables import unreadable
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.identity import digest

EDITABLE = (".yaml", ".yml", ".md", ".txt", ".csv", ".tsv", ".json", ".jsonl")
"""Suffixes of editable files; code and pictures are excluded."""

LARGEST = 1_000_000
"""Maximum size of an editable file; bytes."""

MOST_LISTED = 500
"""Maximum number of listed files; count."""

MOST_VERSIONS = 200
"""Maximum number of stored versions per file; count. The oldest are deleted first."""

_DEPTH = 3

_PART = re.compile(r"(?!(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[A-Za-z0-9_](?:[\w .-]*[\w-])?")
"""Names of files and folders, without those that Windows reserves."""

_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyText:
    """The text of one file.

    Attributes:
        name: Path in the study's folder, with `/`.
        text: The text; lines end in a line feed.
        is_draft: Whether the text is saved as a draft, so that the file in the folder differs.
    """

    name: str
    text: str
    is_draft: bool = False

    @property
    def version(self) -> str:
        """Hash of the text; a save names the hash that it replaces."""
        return digest("study file", self.text)[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVersion:
    """A stored version of a file.

    Attributes:
        number: Counts up from 1.
        saved_at: Time of storage; UTC.
    """

    number: int
    saved_at: datetime


class EditConflict(Conflict):
    """The file has changed since the page was opened; `current` is the new text."""

    def __init__(self, current: StudyText) -> None:
        """Store the name and the current text."""
        super().__init__(f"`{current.name}` has changed since you opened the page")
        self.current = current


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReading:
    """A study from its files and drafts.

    Attributes:
        loaded: The study; None if it has errors.
        diagnostics: Errors, notes and open items, as listed by `theodolite check`.
        added_access: Code and keys that the files of the folder do not name, as text.
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


_READINGS: dict[str, tuple[object, DraftReading]] = {}
"""The latest results by the study's storage, each with a key that changes with every file."""

_MOST_READINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EditableFiles:
    """The files of one study.

    Attributes:
        folder: The study's folder.
        main: Name of the study file.
        storage: Folder of stored versions and drafts, in a workspace.
        has_drafts: Whether a save makes a draft; otherwise it writes the file.
        accepted_keys: Keys with their receivers that a draft may add, e.g. `TEAM_KEY to api.example.org`.
    """

    folder: Path
    storage: Path
    main: str = USUAL
    has_drafts: bool = False
    accepted_keys: frozenset[str] = frozenset()

    def names(self) -> tuple[str, ...]:
        """Return the editable files, the study file first."""
        there = {*self._in_folder(), *self.drafts()}
        return tuple(sorted(there, key=lambda name: (name != self.main, "/" in name, name))[:MOST_LISTED])

    def _in_folder(self) -> Iterator[str]:
        levels = [self.folder]
        for _ in range(_DEPTH):
            below = []
            for entry in sorted(entry for level in levels for entry in level.iterdir()):
                if entry.is_symlink() or entry.name.startswith(".") or _is_study(entry):
                    continue
                if entry.is_dir():
                    below += [] if _matches(entry.name, (*IGNORED_FOLDERS, *OUTPUT_FOLDERS)) else [entry]
                elif _is_editable(entry.name):
                    yield entry.relative_to(self.folder).as_posix()
            levels = below

    def drafts(self) -> tuple[str, ...]:
        """Return the names of files with a draft."""
        folder = self.storage / "drafts"
        entries = folder.glob("*.json") if folder.is_dir() else ()
        return tuple(sorted(json.loads(entry.read_text(encoding="utf-8"))["name"] for entry in entries))

    def read(self, name: str) -> StudyText:
        """Return the text of a file; of its draft if there is one.

        Raises:
            InputError: If the name is not allowed, or the file is too large or not a text file.
            NotFound: If there is no such file.
        """
        path = self._path(name)
        draft = self._draft(name)
        if draft is not None:
            return StudyText(name=name, text=draft["text"], is_draft=True)
        if not path.is_file():
            message = f"there is no file `{name}` in the study's folder"
            raise NotFound(message)
        return StudyText(name=name, text=_text_of(path, name))

    def save(self, name: str, text: str, *, seen: str) -> StudyText:
        """Save a text, and store it as a version.

        Args:
            name: Path in the study's folder.
            text: The text.
            seen: Version that the page showed; empty for a new file.

        Raises:
            EditConflict: If the file has changed since.
            InputError: If the name or the text is not allowed, or the file cannot be written.
        """
        path, text = self._path(name), text.replace("\r\n", "\n")
        _require_size(name, text)
        with self._locked():
            known = self.read(name) if path.is_file() or self._draft(name) is not None else None
            if known is None and path.name in _STUDY_FILES:
                message = f"`{name}` is the name of another study's file; choose another name"
                raise InputError(message)
            if known is not None and known.version != seen:
                raise EditConflict(known)
            if known is not None and known.text == text:
                return known
            if known is not None and self._latest(name) != known.text:
                self._store(name, known.text)
            self._write(path, name, text)
            self._store(name, text)
        return self.read(name)

    def _write(self, path: Path, name: str, text: str) -> None:
        """Write a text, as a draft or as the file itself; line endings and a byte order mark are preserved."""
        try:
            if self.has_drafts:
                draft = self._draft(name) or {"name": name, "base": _hash_of(path)}
                _written(self._draft_path(name), json.dumps(draft | {"text": text}))
            else:
                _replace(path, text)
        except OSError as error:
            message = f"`{name}` cannot be written: {unreadable(error)}"
            raise InputError(message) from error

    def versions(self, name: str) -> tuple[TextVersion, ...]:
        """Return the stored versions of a file, latest first."""
        folder = self._versions(name)
        files = sorted(folder.glob("*.txt"), reverse=True) if folder.is_dir() else []
        return tuple(
            TextVersion(number=int(file.stem), saved_at=datetime.fromtimestamp(file.stat().st_mtime, UTC))
            for file in files
        )

    def version(self, name: str, number: int) -> str:
        """Return the text of a stored version.

        Raises:
            NotFound: If there is no version of this number.
        """
        self._path(name)
        file = self._versions(name) / f"{number:06d}.txt"
        if not file.is_file():
            message = f"there is no version {number} of `{name}`"
            raise NotFound(message)
        return file.read_bytes().decode("utf-8")

    def _latest(self, name: str) -> str | None:
        known = self.versions(name)
        return self.version(name, known[0].number) if known else None

    def _store(self, name: str, text: str) -> None:
        known = self.versions(name)
        _written(self._versions(name) / f"{known[0].number + 1 if known else 1:06d}.txt", text)
        for old in known[MOST_VERSIONS - 1 :]:
            (self._versions(name) / f"{old.number:06d}.txt").unlink(missing_ok=True)

    def check(
        self, *, resolver: ResourceResolver | None = None, environ: Mapping[str, str] | None = None
    ) -> DraftReading:
        """Return the study from its files and drafts, with all findings of `theodolite check`.

        The latest results are cached until a file changes.
        """
        stamp = (self._stamp(), environ is None, self.accepted_keys)
        key = str(self.storage)
        if key not in _READINGS or _READINGS[key][0] != stamp:
            _READINGS.pop(key, None)
            _READINGS[key] = (stamp, self._check(resolver, environ))
            while len(_READINGS) > _MOST_READINGS:
                _READINGS.pop(next(iter(_READINGS)))
        return _READINGS[key][1]

    def _stamp(self) -> str:
        """Return a key that changes with every file or draft."""
        folders = [self.folder, self.storage / "drafts"]
        entries = sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.is_file())
        ignored = self.folder / WORKSPACE_NAME
        shown = [path for path in entries if not path.is_relative_to(ignored) or path.is_relative_to(folders[1])]
        return digest(*(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in shown))

    def _check(self, resolver: ResourceResolver | None, environ: Mapping[str, str] | None) -> DraftReading:
        if not self.drafts():
            return _reading(self.folder, self.main, resolver, environ)
        with self._with_texts() as folder:
            reading = _reading(folder, self.main, resolver, environ)
            return replace(reading, added_access=self._refused(reading, resolver))

    def _refused(self, reading: DraftReading, resolver: ResourceResolver | None) -> tuple[str, ...]:
        """Return the code and keys that a study names and the files of the folder do not, without accepted keys."""
        if reading.loaded is None:
            return ()
        added = added_access(_reading(self.folder, self.main, resolver, None).loaded, reading.loaded)
        return tuple(item for item in added if item not in {f"key `{use}`" for use in self.accepted_keys})

    @contextmanager
    def with_unsaved(
        self, name: str, text: str, *, resolver: ResourceResolver | None = None
    ) -> Iterator[UnsavedReading]:
        """Give the study as it reads with an unsaved text in place of one file; nothing is saved.

        Recordings can be read inside the context only.

        Raises:
            InputError: If the name is not allowed, or the text is too large.
            InvalidStudyError: If the study has faults with this text.
        """
        self._path(name)
        _require_size(name, text)
        self.storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._with_texts({name: text.replace("\r\n", "\n")}) as folder:
            reading = _reading(folder, self.main, resolver, None)
            if reading.loaded is None:
                raise InvalidStudyError(reading.diagnostics, ending="Correct the errors first.")
            saved = _reading(self.folder, self.main, resolver, None).loaded
            yield UnsavedReading(
                loaded=replace(reading.loaded, folder=self.folder, code=None),
                added_access=self._refused(reading, resolver) if self.has_drafts else (),
                known_hosts=frozenset(hosts_of(saved.study) if saved else ()),
            )

    def apply(self, *, resolver: ResourceResolver | None = None) -> tuple[str, ...]:
        """Write the drafts to the study's files, and return their names.

        Raises:
            InvalidStudyError: If the study would have errors.
            InputError: If it would run code or send keys that the files do not name yet.
            Conflict: If a file has changed on disk since its draft was started.
        """
        with self._locked():
            names = self.drafts()
            reading = self.check(resolver=resolver)
            if reading.loaded is None:
                raise InvalidStudyError(reading.diagnostics, ending="Nothing was written.")
            if reading.added_access:
                message = f"the draft adds {'; '.join(reading.added_access)}; only the operator adds code and keys"
                raise InputError(message)
            for name in names:
                self._require_same_base(name)
            for name in names:
                _replace(self._path(name), self.read(name).text)
                self._draft_path(name).unlink()
        return names

    def discard(self, name: str) -> None:
        """Delete the draft of a file; its versions are kept."""
        self._path(name)
        with self._locked():
            self._draft_path(name).unlink(missing_ok=True)

    def _require_same_base(self, name: str) -> None:
        draft = self._draft(name)
        if draft is not None and draft["base"] != _hash_of(self._path(name)):
            message = (
                f"`{name}` was changed on the machine after its draft was begun; copy your text, discard the draft"
            )
            raise Conflict(message)

    @contextmanager
    def _with_texts(self, unsaved: Mapping[str, str] | None = None) -> Iterator[Path]:
        """Give a copy of the folder in which drafts and unsaved texts replace the files; other files are linked."""
        with TemporaryDirectory(dir=self.storage) as made:
            folder = Path(made) / self.folder.name
            ignored = shutil.ignore_patterns(".*", *OUTPUT_FOLDERS, *IGNORED_FOLDERS)
            shutil.copytree(self.folder, folder, ignore=ignored, copy_function=_link)
            texts = {name: self.read(name).text for name in self.drafts()} | dict(unsaved or {})
            for name, text in texts.items():
                path = folder / name
                path.unlink(missing_ok=True)  # it may be a link to the file of the study
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            yield folder

    def _path(self, name: str) -> Path:
        """Return the path of a file.

        Raises:
            InputError: If the name leads outside the folder, or the file is not editable.
        """
        parts = PurePosixPath(name).parts
        is_name = "/".join(parts) == name and 0 < len(parts) <= _DEPTH and len(name) <= _LONGEST_NAME
        if not is_name or not all(_PART.fullmatch(part) for part in parts) or not _is_editable(parts[-1]):
            message = (
                f"`{name}` cannot be edited here; expected a name of letters, digits, `-` and `_` that ends in"
                f" {', '.join(EDITABLE)}, in at most {_DEPTH - 1} folders"
            )
            raise InputError(message)
        path = self.folder / name
        if any(
            _is_study(parent) for parent in path.parents if parent.is_relative_to(self.folder) and parent != self.folder
        ):
            message = f"`{name}` belongs to another study"
            raise InputError(message)
        if path.is_symlink() or not path.resolve().is_relative_to(self.folder.resolve()):
            message = f"`{name}` is a link to another place, and cannot be edited here"
            raise InputError(message)
        return path

    def _draft_path(self, name: str) -> Path:
        return self.storage / "drafts" / f"{quote(name, safe='')}.json"

    def _draft(self, name: str) -> dict[str, str] | None:
        file = self._draft_path(name)
        draft: dict[str, str] | None = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
        return draft

    def _versions(self, name: str) -> Path:
        return self.storage / "versions" / quote(name, safe="")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Serialise saves of several processes."""
        self.storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self.storage / "lock", timeout=30):
            yield


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


_STUDY_FILES = (USUAL, "study.yml")


def _is_study(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _STUDY_FILES)


def _is_editable(name: str) -> bool:
    return name.endswith(EDITABLE) and name != SERVING and not _matches(name, OUTPUTS)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _require_size(name: str, text: str) -> None:
    if len(text.encode("utf-8", "replace")) > LARGEST:
        message = f"`{name}` is larger than {LARGEST:,} bytes; edit it on the machine itself"
        raise InputError(message)


def _text_of(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > LARGEST:
            message = f"`{name}` is larger than {LARGEST:,} bytes; edit it on the machine itself"
            raise InputError(message)
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"`{name}` is not UTF-8; save it as UTF-8 on the machine itself"
        raise InputError(message) from error
    except OSError as error:
        message = f"`{name}` cannot be read: {unreadable(error)}"
        raise InputError(message) from error


def _hash_of(path: Path) -> str:
    return digest("file", path.read_bytes().hex()) if path.is_file() else ""


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, text)


def _replace(path: Path, text: str) -> None:
    """Write a file atomically, preserving mode, line endings and byte order mark."""
    before = path.read_bytes() if path.is_file() else b""
    raw = (text.replace("\n", "\r\n") if b"\r\n" in before else text).encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes((b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b"") + raw)
        if before:
            shutil.copymode(path, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target)
    return target
