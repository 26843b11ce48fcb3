"""Code of a study: the functions and classes that it names, and the hash by which a permission knows them."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path

from theodolite.config.study_keys import code_variables
from theodolite.config.study_paths import StudyPaths
from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.domain.study import Study

_OWN_PACKAGE = "theodolite"
_IMPORTABLE = frozenset({".py", ".pyc", ".pyd", ".so", ".pth", ".zip", ".egg"})
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCode:
    """One function or class that a study names.

    Attributes:
        target: `file.py:function`, `module:function`, or the same of a class.
        users: Applications and judges that run it, e.g. `application bot`.
        programs: Interpreters that run it and files of libraries that are installed for it; none for the usual ones.
        variables: Environment variables that it sees beside the usual ones.
    """

    target: str
    users: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The name, with what else runs for it and what it sees."""
        sees = f", which sees {' and '.join(self.variables)}" if self.variables else ""
        return " with ".join([self.target, *self.programs]) + sees


def named_code(study: Study) -> tuple[NamedCode, ...]:
    """Return the functions and classes that a run of the study calls, without those of this package.

    One of this package counts where the study names the interpreter that runs it, or libraries to install.
    """
    users: dict[NamedCode, list[str]] = {}
    for code, user in _named(study):
        if code.programs or code.target.partition(":")[0].partition(".")[0] != _OWN_PACKAGE:
            users.setdefault(code, []).append(user)
    return tuple(replace(code, users=tuple(named)) for code, named in users.items())


def _named(study: Study) -> Iterator[tuple[NamedCode, str]]:
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, PythonCallable | AriaClass):
            programs = tuple(filter(None, (connection.runtime.python, connection.runtime.requirements)))
            code = NamedCode(target=connection.target, programs=programs, variables=code_variables(connection))
            yield code, f"application {application.name}"
    for annotator in study.annotators:
        if isinstance(annotator.labelling, PythonLabeller):
            yield NamedCode(target=annotator.labelling.target), f"judge {annotator.name}"


def code_hash_of(study: Study, folder: Path) -> str:
    """Return the hash of the code that a study names and of every file of its folder that Python can import.

    Args:
        study: The study.
        folder: Its folder.
    """
    seen = hashlib.sha256()
    for code in named_code(study):
        seen.update(code.shown.encode() + b"\0")
    for file in _code_files(study, folder):
        seen.update(str(file).encode() + b"\0" + hashlib.sha256((folder / file).read_bytes()).digest())
    return seen.hexdigest()


def _code_files(study: Study, folder: Path) -> list[Path]:
    """Return paths of code below the folder, and of named files outside of it, sorted; no virtual environments."""
    named = [Path(code.target.rpartition(":")[0]) for code in named_code(study)]
    files = {file for file in named if file.suffix == ".py" and (folder / file).is_file()}
    programs = (Path(program) for code in named_code(study) for program in code.programs)
    files |= {program for program in programs if _lies_in(folder / program, folder)}  # others come with the system
    for parent, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _PASSED_OVER]
        paths = (Path(parent) / name for name in names)
        files |= {path.relative_to(folder) for path in paths if path.suffix in _IMPORTABLE and path.is_file()}
    return sorted(files)


def _lies_in(file: Path, folder: Path) -> bool:
    return file.is_file() and file.resolve().is_relative_to(folder.resolve())


def foreign_module(target: str, paths: StudyPaths) -> str:
    """Return why a study may not name a function of a module; empty where it may.

    Args:
        target: `module:function` or `module:Class`.
        paths: Finds files of the study.
    """
    first = target.partition(":")[0].partition(".")[0]
    if first in sys.stdlib_module_names or first in sys.builtin_module_names:
        return (
            f"`{target}` belongs to Python's standard library, which holds no application;"
            f" name a file of yours, e.g. `{first}_app.py:answer`"
        )
    spec = PathFinder.find_spec(first, [str(paths.folder.resolve())])
    if spec is None:
        return ""
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    refusals = (paths.refusal_of(Path(place), shown=f"module {first}") for place in places)
    return next((refusal.message for refusal in refusals if refusal is not None), "")
