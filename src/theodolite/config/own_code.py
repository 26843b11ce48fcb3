"""Own code: whether the functions and classes that a study names are there, told without running any of it.

What is said here would end a run for certain. What only shows when code runs (a module
that raises, a name that is made up on the way) is left to `check-application`.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, find_spec
from pathlib import Path

from theodolite.aria import BASE_MODULE
from theodolite.domain.fault import Severity, did_you_mean

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
