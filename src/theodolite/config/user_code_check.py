"""Code that a study names: where it is, and why a function or class cannot be imported."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, find_spec
from pathlib import Path

from theodolite.aria import BASE_MODULE
from theodolite.config.outbound_data import code_variables
from theodolite.config.permissions import StudyPaths
from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.domain.fault import Severity, did_you_mean
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


_REMEDY = "install it where theodolite is installed, or put it beside the study"

_CUNNING = frozenset({"__getattr__", "exec", "eval", "globals", "vars", "locals", "setattr", "__path__", "modules"})
"""Names with which a module may make up others, or find modules elsewhere: what it holds cannot be told."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """Why a function or class cannot be had.

    Attributes:
        words: What is wrong, and what to do.
        severity: A note where another machine may have what is missing on this one, as with keys.
    """

    words: str
    severity: Severity = Severity.FAULT


@dataclass(frozen=True, slots=True)
class _Source:
    """A Python file that can be read.

    Attributes:
        file: Its name, without folders.
        tree: What it holds.
        names: Names that it has once it has run, as far as it says them.
        is_open: Whether it may have others, too.
    """

    file: str
    tree: ast.Module
    names: frozenset[str]
    is_open: bool


def code_problem(target: str, *, folder: Path, form: str) -> CodeProblem | None:
    """Return why a function or class cannot be had; None where it can, and where that cannot be told.

    Args:
        target: `module:Name` or `file.py:Name`, well formed; a file is there.
        folder: The study's folder: modules are looked for in it first.
        form: `Class` where only a class will do.
    """
    module, _, name = target.rpartition(":")
    given = BASE_MODULE if form == "Class" else ""  # to whoever comes without it
    if module == given:
        return None
    file = folder / module if module.endswith(".py") else _file_of(module, folder)
    source = _read(file) if isinstance(file, Path) else file
    if not isinstance(source, _Source):
        return source
    home = folder / Path(module).parent if module.endswith(".py") else folder
    return _lost_import(source, home, given) or _lost_name(source, module, name, form)


def _file_of(module: str, folder: Path) -> Path | CodeProblem | None:
    """Return the file of a module, or what to say of one that is not there; None where it has no Python file."""
    first, *inner = module.split(".")
    spec, named = _spec(first, folder), first
    for part in inner:
        if spec is None or _is_cunning(spec):
            break
        named, places = f"{named}.{part}", list(spec.submodule_search_locations or ())
        spec = PathFinder.find_spec(named, places) if places else None
    if spec is None:
        beside = [path.stem for path in folder.glob("*.py")] if named == first else []
        tail = did_you_mean(named, beside) or f"; {_REMEDY}"
        return CodeProblem(f"module `{named}` cannot be imported: there is none of this name here{tail}", Severity.NOTE)
    return Path(spec.origin) if named == module and spec.origin and spec.origin.endswith(".py") else None


def _spec(name: str, folder: Path) -> ModuleSpec | None:
    """Return where a module of one word comes from; None for nowhere."""
    try:
        return PathFinder.find_spec(name, [str(folder)]) or find_spec(name)
    except Exception:  # noqa: BLE001 - somebody else's finder: it may raise anything, and leaves it open
        return ModuleSpec(name, None)


def _is_cunning(package: ModuleSpec) -> bool:
    """Tell whether a package may have modules that are not in its folder."""
    source = _read(Path(package.origin)) if package.origin and package.origin.endswith(".py") else None
    if source is None:  # an extension, or a folder without a file of its own
        return not package.submodule_search_locations
    return isinstance(source, _Source) and source.is_open


def _read(file: Path) -> _Source | CodeProblem:
    """Return a Python file, or why Python cannot read it; nothing of it is run."""
    import symtable  # loads late: only `check` reads code

    try:
        with warnings.catch_warnings(action="ignore"):
            text = decode_source(file.read_bytes())
            compile(text, file.name, "exec", dont_inherit=True)  # finds more than the two after it
            tree, table = ast.parse(text, file.name), symtable.symtable(text, file.name, "exec")
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        return CodeProblem(f"`{file.name}` cannot be imported: {type(error).__name__}: {error.msg} ({file.name}{line})")
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return CodeProblem(f"`{file.name}` cannot be imported: {type(error).__name__}: {error}")
    nodes = list(ast.walk(tree))
    held = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    held |= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    spoken = {node.id for node in nodes if isinstance(node, ast.Name)} | held
    spoken |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    takes_over = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes)
    return _Source(file.name, tree, frozenset(held), takes_over or bool(_CUNNING & spoken))


def _lost_import(source: _Source, folder: Path, given: str) -> CodeProblem | None:
    """Return what to say of a module that a file imports whatever happens, and that is not there."""
    for node in source.tree.body:
        lost = next((name for name in _imported(node) if name != given and _spec(name, folder) is None), "")
        if lost:
            where = f"({source.file}, line {node.lineno})"
            words = f"`{source.file}` cannot be imported: there is no module `{lost}` here {where}; {_REMEDY}"
            return CodeProblem(words, Severity.NOTE)
    return None


def _imported(node: ast.stmt) -> Iterator[str]:
    """Yield the first words of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module.partition(".")[0]


def _lost_name(source: _Source, module: str, name: str, form: str) -> CodeProblem | None:
    """Return what to say of a name that a module does not have, or that is no class where only one will do."""
    if name not in source.names:
        shown = sorted(known for known in source.names if not known.startswith("_"))
        return None if source.is_open else CodeProblem(f"`{module}` has no `{name}`{did_you_mean(name, shown)}")
    is_function = any(isinstance(node, _FUNCTIONS) and node.name == name for node in source.tree.body)
    if form != "Class" or not is_function or source.is_open or _is_bound_again(source.tree, name):
        return None
    return CodeProblem(f"`{module}:{name}` is a function; expected a class")


def _is_bound_again(tree: ast.Module, name: str) -> bool:
    """Tell whether a function may have become something else, by a decorator or a second binding."""
    makers = [node for node in tree.body if isinstance(node, _FUNCTIONS) and node.name == name]
    stores = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    decorated = any(node.decorator_list for node in makers)
    return decorated or any(isinstance(node.ctx, ast.Store) for node in stores) or any(classes)
