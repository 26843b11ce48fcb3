"""Loading a study's own Python functions that label; applications load their code in processes of their own."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.gateways.foreign_function import raised_words


def load_callable(target: str, *, folder: Path, what: str) -> Callable[..., Any]:
    """Return the function that `module:function` or `file.py:function` names.

    Args:
        target: The name as the study writes it.
        folder: The study's folder: files are relative to it and modules are
            looked for in it first.
        what: What needs the function, for messages.

    Raises:
        InputError: If there is no such function or its module cannot be loaded.
    """
    found = _named(target, folder=folder, what=what)
    if callable(found):
        function: Callable[..., Any] = found
        return function
    message = f"{what}: `{target}` is a {type(found).__name__}; expected a function"
    raise InputError(message)


def _named(target: str, *, folder: Path, what: str) -> Any:
    module_name, _, name = target.rpartition(":")
    if not module_name or not name:
        message = f"`call` of {what} must be `module:function` or `file.py:function`; got `{target}`"
        raise InputError(message)
    found: Any = _module(module_name, folder, what)
    for part in name.split("."):
        known = [name for name in dir(found) if not name.startswith("_")]
        found = getattr(found, part, None)
        if found is None:
            message = f"{what}: `{module_name}` has no `{part}`{did_you_mean(part, known)}"
            raise InputError(message)
    return found


def _module(name: str, folder: Path, what: str) -> ModuleType:
    if not name.endswith(".py"):
        return _run(lambda: importlib.import_module(name), folder, f"{what}: module `{name}`")
    file = folder / name
    if not file.is_file():
        message = f"{what}: there is no file `{name}` in the study's folder"
        raise InputError(message)
    return _run(lambda: _load_file(file), file.parent, f"{what}: file `{name}`")


def _load_file(file: Path) -> ModuleType:
    """Run a file as a module of its own name, so that two studies' files never mix."""
    path = str(file.resolve())
    name = f"theodolite_study_{file.stem}_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        message = "it is no Python file"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _run(load: Callable[[], ModuleType], folder: Path, what: str) -> ModuleType:
    try:
        with _importing_from(folder):
            return load()
    except (Exception, SystemExit) as error:  # somebody else's module: it may raise anything
        message = f"{what} cannot be loaded: {raised_words(error)}{_remedy(error)}"
        raise InputError(message) from error


def _remedy(error: BaseException) -> str:
    """Return what to do about a module that nobody has installed; empty for everything else."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    return "; install it where theodolite is installed, or put it beside the study"


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Look for modules in a folder first, as Python does for a script that lies there; and last ever after.

    What a function imports when it is called must still be found then.
    """
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    # A file that was written a moment ago may be missing in the finder's cache.
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)
        if entry not in sys.path:
            sys.path.append(entry)
