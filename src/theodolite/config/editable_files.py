"""Files of a study in the browser editor: reading, saving with history, renaming, deleting, and drafts.

On a server the saved texts are drafts next to the study's files until a person applies them; a live event reads only
the files.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from theodolite.config.loading import IGNORED_FOLDERS, OUTPUT_FOLDERS, OUTPUTS
from theodolite.config.permissions import SERVING, USUAL
from theodolite.config.saved_texts import SavedTexts, TextDraft, TextVersion
from theodolite.config.tables import unreadable
from theodolite.config.yaml_edits import paths_of, with_value
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.identity import digest

EDITABLE = (".yaml", ".yml", ".md", ".txt", ".csv", ".tsv", ".json", ".jsonl")
"""Suffixes of editable files; code and pictures are excluded."""

LARGEST = 1_000_000
"""Maximum size of an editable file; bytes."""

MOST_LISTED = 500
"""Maximum number of listed files; count."""

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
        is_missing: Whether the file does not exist; its stored versions can be restored.
    """

    name: str
    text: str
    is_draft: bool = False
    is_missing: bool = False

    @property
    def version(self) -> str:
        """Hash of the text, empty for a missing file; a save names the hash that it replaces."""
        return "" if self.is_missing else digest("study file", self.text)[:16]


class EditConflict(Conflict):
    """The file has changed since the page was opened; `current` is the new text."""

    def __init__(self, current: StudyText) -> None:
        """Store the name and the current text."""
        super().__init__(f"`{current.name}` has changed since you opened the page")
        self.current = current


@dataclass(frozen=True, slots=True, kw_only=True)
class EditableFiles:
    """The files of one study.

    Attributes:
        folder: The study's folder.
        main: Name of the study file.
        storage: Folder of stored versions and drafts, in a workspace.
        has_drafts: Whether a save makes a draft; otherwise it writes the file.
        accepted_keys: Keys with their receivers that a draft may add, e.g. `TEAM_KEY to api.example.org`.
        host_problem: Returns why a draft must not add a host, empty if it may; None to permit all hosts.
    """

    folder: Path
    storage: Path
    main: str = USUAL
    has_drafts: bool = False
    accepted_keys: frozenset[str] = frozenset()
    host_problem: Callable[[str], str] | None = None

    @property
    def saved(self) -> SavedTexts:
        """Stored versions and drafts."""
        return SavedTexts(storage=self.storage)

    def names(self) -> tuple[str, ...]:
        """Return the editable files, the study file first."""
        drafts = {name: self.saved.draft(name) for name in self.drafts()}
        deleted = {name for name, draft in drafts.items() if draft is None or draft.text is None}
        there = {*self._in_folder(), *drafts} - deleted
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
        return self.saved.drafts()

    def deleted(self) -> tuple[str, ...]:
        """Return the names of files that no longer exist and have stored versions."""
        there = self.names()
        return tuple(name for name in self.saved.files() if name not in there and self._is_missing(name))

    def _is_missing(self, name: str) -> bool:
        try:
            return self.known(name) is None
        except InputError:
            return False

    def read(self, name: str) -> StudyText:
        """Return the text of a file; of its draft if there is one.

        Raises:
            InputError: If the name is not allowed, or the file is too large or not a text file.
            NotFound: If there is no such file.
        """
        known = self.known(name)
        if known is None:
            message = f"there is no file `{name}` in the study's folder"
            raise NotFound(message)
        return known

    def read_or_missing(self, name: str) -> StudyText:
        """Return the text of a file, or a missing text if it does not exist.

        Raises:
            InputError: If the name is not allowed, or the file is too large or not a text file.
        """
        return self.known(name) or StudyText(
            name=name, text="", is_missing=True, is_draft=self.saved.draft(name) is not None
        )

    def known(self, name: str) -> StudyText | None:
        """Return the text of a file; None if it does not exist.

        Raises:
            InputError: If the name is not allowed, or the file is too large or not a text file.
        """
        path, draft = self.path(name), self.saved.draft(name)
        if draft is not None:
            return None if draft.text is None else StudyText(name=name, text=draft.text, is_draft=True)
        return StudyText(name=name, text=_text_of(path, name)) if path.is_file() else None

    def _same_as_seen(self, name: str, seen: str) -> StudyText | None:
        """Return the text of a file; None if it does not exist.

        Raises:
            EditConflict: If it is not the version that the page showed.
        """
        known = self.known(name)
        if (known.version if known else "") != seen:
            raise EditConflict(known or self.read_or_missing(name))
        return known

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
        text = text.replace("\r\n", "\n")
        require_size(name, text)
        with self.saved.locked():
            self._save(name, text, seen)
        return self.read(name)

    def _save(self, name: str, text: str, seen: str) -> None:
        path = self.path(name)
        known = self._same_as_seen(name, seen)
        if known is None:
            _require_free_name(path, name)
        if known is not None and known.text == text:
            return
        if known is not None:
            self.saved.store(name, known.text)
        self._write(path, name, text)
        self.saved.store(name, text)

    def delete(self, name: str, *, seen: str) -> None:
        """Delete a file; its text is stored as a version, so that it can be restored.

        Args:
            name: Path in the study's folder.
            seen: Version that the page showed.

        Raises:
            EditConflict: If the file has changed since.
            InputError: If the study needs the file, or it cannot be deleted.
            NotFound: If there is no such file.
        """
        with self.saved.locked():
            known = self._same_as_seen(name, seen)
            self.after_deleting(name)
            self.saved.store(name, known.text if known else "")
            self._remove(name)

    def after_deleting(self, name: str) -> dict[str, str | None]:
        """Return the files that a deletion changes, as `after_renaming` does.

        Raises:
            InputError: If the name is not allowed, or the study needs the file.
            NotFound: If there is no such file.
        """
        _require_movable(name, self.main)
        self.read(name)
        return {name: None}

    def rename(self, name: str, new: str, *, seen: str) -> None:
        """Rename a file, and change the keys of the study file that name it; versions of the old name are kept.

        Args:
            name: Path in the study's folder.
            new: The new path.
            seen: Version that the page showed.

        Raises:
            EditConflict: If the file has changed since.
            InputError: If a name is not allowed or in use, or a file cannot be written.
            NotFound: If there is no file of the old name.
        """
        with self.saved.locked():
            self._same_as_seen(name, seen)
            texts = self.after_renaming(name, new)
            for changed, text in texts.items():
                if text is None:
                    self.saved.store(changed, self.read(changed).text)
                else:
                    self._save(changed, text, self.read_or_missing(changed).version)
            if not self.has_drafts:
                _replace_with(self.path(name), self.path(new))
            self._remove(name)

    def after_renaming(self, name: str, new: str) -> dict[str, str | None]:
        """Return the files that a new name of a file changes: their texts, None for a deleted file.

        Raises:
            InputError: If a name is not allowed or in use.
            NotFound: If there is no file of the old name.
        """
        for one in (name, new):
            _require_movable(one, self.main)
        known, main = self.read(name), self.read(self.main)
        if self.known(new) is not None:
            message = f"`{new}` exists already; choose another name"
            raise InputError(message)
        _require_free_name(self.path(new), new)
        text = with_renamed(main.text, name, new)
        return {new: known.text, **({self.main: text} if text != main.text else {}), name: None}

    def _remove(self, name: str) -> None:
        """Delete a file, or draft its deletion."""
        path = self.path(name)
        try:
            if self.has_drafts and path.is_file():
                self._write_draft(path, name, None)
            elif self.has_drafts:
                self.saved.discard(name)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            message = f"`{name}` cannot be deleted: {unreadable(error)}"
            raise InputError(message) from error

    def _write_draft(self, path: Path, name: str, text: str | None) -> None:
        draft = self.saved.draft(name)
        base = draft.base if draft is not None else _hash_of(path)
        self.saved.write_draft(name, TextDraft(base=base, text=text))

    def _write(self, path: Path, name: str, text: str) -> None:
        """Write a text, as a draft or as the file itself; line endings and a byte order mark are preserved."""
        try:
            if self.has_drafts:
                self._write_draft(path, name, text)
            else:
                _replace(path, text)
        except OSError as error:
            message = f"`{name}` cannot be written: {unreadable(error)}"
            raise InputError(message) from error

    def versions(self, name: str) -> tuple[TextVersion, ...]:
        """Return the stored versions of a file, latest first."""
        return self.saved.versions(name)

    def version(self, name: str, number: int) -> str:
        """Return the text of a stored version.

        Raises:
            NotFound: If there is no version of this number.
        """
        self.path(name)
        return self.saved.version(name, number)

    def apply_draft(self, name: str) -> None:
        """Write the draft of a file to the file, or delete the file."""
        drafted = self.known(name)
        if drafted is None:
            self.path(name).unlink(missing_ok=True)
        else:
            _replace(self.path(name), drafted.text)
        self.saved.discard(name)

    def discard(self, name: str) -> None:
        """Delete the draft of a file; its versions are kept."""
        self.path(name)
        with self.saved.locked():
            self.saved.discard(name)

    def require_same_base(self, name: str) -> None:
        """Refuse a draft of a file that has changed on disk.

        Raises:
            Conflict: If it has changed since its draft was started.
        """
        draft = self.saved.draft(name)
        if draft is not None and draft.base != _hash_of(self.path(name)):
            message = (
                f"`{name}` was changed on the machine after its draft was begun; copy your text, discard the draft"
            )
            raise Conflict(message)

    def path(self, name: str) -> Path:
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


def with_renamed(text: str, name: str, new: str) -> str:
    """Return the text of a study in which the values that name a file have its new name.

    Values that cannot be changed alone stay; the check of the study reports them.

    Example:
        >>> with_renamed("cases: {file: a.csv}  # few", "a.csv", "b.csv")
        'cases: {file: b.csv}  # few'
    """
    for path in paths_of(text, name):
        with suppress(InputError):
            text = with_value(text, path, new)
    return text


_STUDY_FILES = (USUAL, "study.yml")


def _is_study(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _STUDY_FILES)


def _is_editable(name: str) -> bool:
    return name.endswith(EDITABLE) and name != SERVING and not _matches(name, OUTPUTS)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _require_movable(name: str, main: str) -> None:
    if name == main:
        message = f"`{name}` is the study itself; it cannot be renamed or deleted"
        raise InputError(message)


def _require_free_name(path: Path, name: str) -> None:
    if path.name in _STUDY_FILES:
        message = f"`{name}` is the name of another study's file; choose another name"
        raise InputError(message)


def require_size(name: str, text: str) -> None:
    """Refuse a text that is too large to be edited.

    Raises:
        InputError: If it is larger than `LARGEST`.
    """
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


def _replace_with(path: Path, target: Path) -> None:
    """Copy the bytes and the mode of a file to a file of the same text, whose line endings may differ."""
    target.write_bytes(path.read_bytes())
    shutil.copymode(path, target)
