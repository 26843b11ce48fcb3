"""Files of studies in a shared database, so that workers on other machines need no folder of the study."""

from __future__ import annotations

import base64
import fnmatch
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from theodolite.bootstrap.connections import NOTHING_PASSED
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.config.loading import IGNORED_FILES, IGNORED_FOLDERS, OUTPUT_FOLDERS, OUTPUTS, LoadedStudy
from theodolite.config.permissions import SERVING, WORKSPACE_NAME
from theodolite.config.required_access import named_code
from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.identity import version_of
from theodolite.domain.run import Run

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

MOST_BYTES = 64 * 2**20
"""Size of the files of a study that a database stores; bytes."""

SECRET_FILES = (
    *("*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx", "*.keytab", "id_rsa*", "id_ed25519*"),
    *("*credential*", "*secret*", "*password*", "keys.*"),
)
"""Names of files that usually contain secrets; they are stored only if the study itself names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFileContent:
    """Content of one file.

    Attributes:
        text: The text, or base64 of bytes that are not UTF-8.
        is_base64: Whether the text is base64.
    """

    text: str
    is_base64: bool = False

    @classmethod
    def of(cls, raw: bytes) -> Self:
        """Return the content of a file with these bytes."""
        try:
            return cls(text=raw.decode("utf-8"))
        except UnicodeDecodeError:
            return cls(text=base64.b64encode(raw).decode("ascii"), is_base64=True)

    @property
    def raw(self) -> bytes:
        """The bytes of the file."""
        return base64.b64decode(self.text) if self.is_base64 else self.text.encode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One file of a study in the database.

    Attributes:
        path: Path below the study's folder, with slashes.
        content: Content hash of the `StudyFileContent`.
    """

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFiles:
    """Files of a version of a study; stored under the version of its plan.

    Attributes:
        study: Name of the study.
        file: Name of the study file.
        files: All files, in order of their paths.
    """

    study: str
    file: str
    files: tuple[StoredFile, ...]


def store_study_files(context: StudyContext, tell: Callable[[str], None]) -> None:
    """Store the files of a study in the database of `DATABASE_URL`, unless it has them.

    Without that variable nothing is stored: workers on this machine read the folder.

    Args:
        context: The study.
        tell: Receives a sentence if workers on other machines need the folder.
    """
    is_of_files = context.loaded.code is not None and context.passed == NOTHING_PASSED and context.shard is None
    if not context.environ.get(DATABASE_VARIABLE) or not is_of_files:
        return
    try:
        contents = {path: StudyFileContent.of(raw) for path, raw in study_files(context.loaded).items()}
    except (InputError, OSError) as error:
        tell(f"workers on other machines need the study's folder: {error}")
        return
    files = StudyFiles(
        study=context.loaded.study.name,
        file=context.loaded.file,
        files=tuple(StoredFile(path=path, content=version_of(contents[path])) for path in sorted(contents)),
    )
    store, plan = context.store, version_of(context.plan)
    if files in store.filed(StudyFiles, plan)[-1:]:
        return
    for content in contents.values():
        store.keep(content)
    store.file(plan, files)


def study_files(loaded: LoadedStudy) -> Mapping[str, bytes]:
    """Return the files that a study needs on another machine, by path below its folder.

    These are the files that the study reads and, since code may import and read others, for a study with code
    also the other files of its folder, except hidden files, results, server settings and `SECRET_FILES`.

    Raises:
        InputError: If the study needs files outside its folder or files with secrets, or the files are too large.
        OSError: If a file cannot be read.
    """
    if loaded.outside:
        message = f"it reads files outside its folder (`{next(iter(loaded.outside))}`)"
        raise InputError(message)
    home = loaded.folder.resolve()
    paths = {PurePosixPath(loaded.file), *map(PurePosixPath, loaded.files)}
    if named_code(loaded.study):
        paths |= {*_files_of_folder(home), *_code_of_applications(loaded)}
    result: dict[str, bytes] = {}
    size = 0
    for path in sorted(paths):
        real = (home / path).resolve()
        if not real.is_relative_to(home):
            message = f"`{path}` is a link to a file outside its folder"
            raise InputError(message)
        size += real.stat().st_size
        if size > MOST_BYTES:
            message = f"its files have more than {MOST_BYTES >> 20} MB, which the database does not store"
            raise InputError(message)
        result[path.as_posix()] = real.read_bytes()
    return result


def _code_of_applications(loaded: LoadedStudy) -> Iterator[PurePosixPath]:
    """Yield the files that belong to the version of an application's code, without those of installed packages.

    Raises:
        InputError: If one of them is outside the study's folder or usually contains secrets.
    """
    for application in loaded.study.applications:
        connection = application.connection
        if not isinstance(connection, PythonCallable | AriaClass):
            continue
        folder = PurePosixPath(connection.code.folder)
        if ".." in folder.parts or folder.is_absolute():
            message = f"the code of application `{application.name}` is outside its folder"
            raise InputError(message)
        for name in connection.code.files:
            path = folder / name
            if _is_secret(path.name):
                message = (
                    f"`{path}` belongs to the code of application `{application.name}` and may contain secrets; "
                    "list it under the application's `ignore`"
                )
                raise InputError(message)
            if (loaded.folder / path).is_file():
                yield path


def _files_of_folder(home: Path) -> Iterator[PurePosixPath]:
    """Yield the files of a study's folder that its code may need, without links that lead out of it."""
    for parent, folders, names in os.walk(home):
        place = Path(parent)
        left_out = (*IGNORED_FOLDERS, *(OUTPUT_FOLDERS if place == home else ()))
        folders[:] = [
            name for name in sorted(folders) if not _is_left_out(name, left_out) and not _is_venv(place, name)
        ]
        patterns = (*IGNORED_FILES, SERVING, *(OUTPUTS if place == home else ()))
        for name in names:
            file = place / name
            if _is_left_out(name, patterns) or _is_secret(name):
                continue
            if file.is_file() and file.resolve().is_relative_to(home):
                yield PurePosixPath(file.relative_to(home).as_posix())


def _is_left_out(name: str, patterns: Collection[str]) -> bool:
    return name.startswith(".") or any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _is_secret(name: str) -> bool:
    return not name.endswith(".py") and any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in SECRET_FILES)


def _is_venv(parent: Path, name: str) -> bool:
    return (parent / name / "pyvenv.cfg").exists()


def write_study_files(store: DjangoStore, files: StudyFiles, folder: Path) -> Path:
    """Write stored files to a folder and return the path of the study file.

    Args:
        store: The database.
        files: The files.
        folder: The folder; created if missing.

    Raises:
        InputError: If a path leads out of the folder.
        StorageUnavailable: If a file cannot be written.
    """
    contents = store.records(StudyFileContent, {file.content for file in files.files})
    for file in files.files:
        path = PurePosixPath(file.path)
        if path.is_absolute() or ".." in path.parts or "\\" in file.path or Path(file.path).drive:
            message = (
                f"the database has the file `{file.path}` for study `{files.study}`, which leads out of its folder"
            )
            raise InputError(message)
        try:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents[file.content].raw)
        except OSError as error:
            message = f"the study's file `{file.path}` cannot be written to `{folder}`: {error.strerror}"
            raise StorageUnavailable(message) from error
    return folder / files.file


@dataclass(slots=True, kw_only=True)
class StoredStudies:
    """Studies with their latest run in an open database, and their files in a folder that is deleted at the end.

    Attributes:
        store: The database.
        folder: Folder of the files.
        permit: Asks for the permission to run a study's code and to send keys.
        tell: Receives notes of one sentence.
        names: Names of the studies; empty for all.
        refused: Why this machine cannot work on an open run, by the version of its plan.
    """

    store: DjangoStore
    folder: Path
    permit: Callable[[StudyContext], None]
    tell: Callable[[str], None]
    names: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    _opened: dict[str, StudyContext] = field(default_factory=dict)

    def contexts(self) -> list[StudyContext]:
        """Return the studies with an open run, in order of the start of their runs.

        A study whose run has ended is closed; a study that this machine cannot run is reported once and skipped.
        """
        runs = [run for run in self.store.open_runs() if not self.names or run.study in self.names]
        versions = {run.plan_version for run in runs}
        for version in self._opened.keys() - versions:
            self._close(version)
        for version in self.refused.keys() - versions:
            del self.refused[version]
        for run in runs:
            if run.plan_version not in self._opened:
                self._try_to_open(run)
        return [self._opened[run.plan_version] for run in runs if run.plan_version in self._opened]

    def close(self) -> None:
        """Close all studies."""
        for version in list(self._opened):
            self._close(version)

    def _try_to_open(self, run: Run) -> None:
        before = self.refused.get(run.plan_version)
        if before not in {None, _NO_FILES}:
            return  # neither its files nor the permissions of this machine change while the worker runs
        stored = self.store.filed(StudyFiles, run.plan_version)
        why = self._open(run, stored[-1]) if stored else _NO_FILES
        if why and why != before:
            self.tell(f"run {run.number} of `{run.study}` is left to other workers: {why}")
        self.refused |= {run.plan_version: why} if why else {}
        if not why:
            self.refused.pop(run.plan_version, None)

    def _open(self, run: Run, files: StudyFiles) -> str:
        """Open a study from its files, and return why that failed; empty if it is open."""
        folder = self.folder / run.plan_version[:16]
        try:
            context = open_study(str(write_study_files(self.store, files, folder)))
        except InputError as error:
            return " ".join(str(error).split())
        try:
            if version_of(context.plan) != run.plan_version:
                return _OTHER_VERSION
            self.permit(context)
        except InputError as error:
            return str(error)
        else:
            self._opened[run.plan_version] = context
            return ""
        finally:
            if run.plan_version not in self._opened:
                context.close()

    def _close(self, version: str) -> None:
        context = self._opened.pop(version)
        context.close()
        shutil.rmtree(context.loaded.folder, ignore_errors=True)


_NO_FILES = "the database does not have its files; start a worker in a copy of its folder"

_OTHER_VERSION = (
    "its files are another version of the study on this machine; install the same versions of theodolite, Python "
    "and the packages that its applications use"
)


@contextmanager
def stored_studies(
    database_url: str,
    *,
    permit: Callable[[StudyContext], None],
    tell: Callable[[str], None],
    names: tuple[str, ...] = (),
) -> Iterator[StoredStudies]:
    """Open a database and yield its studies with open runs; their files are deleted at the end.

    Args:
        database_url: Address of the PostgreSQL database.
        permit: Asks for permissions.
        tell: Receives notes.
        names: Names of the studies; empty for all.

    Raises:
        StoreError: If the database cannot be opened.
    """
    with tempfile.TemporaryDirectory(prefix="theodolite-worker-", ignore_cleanup_errors=True) as folder:
        store = open_store(Path(folder) / WORKSPACE_NAME, database_url)
        studies = StoredStudies(store=store, folder=Path(folder), permit=permit, tell=tell, names=names)
        try:
            yield studies
        finally:
            studies.close()
            store.disconnect()
