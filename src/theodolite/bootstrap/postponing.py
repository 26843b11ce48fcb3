"""Postponing: parts of other people's packages that are loaded when somebody first uses them.

Django's fields name its forms, its forms name its templates, and its models name its
system checks. A command that tests and measures uses none of these, and loading
them takes as long as loading everything of Django that it does use.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from threading import RLock
from types import ModuleType

UNUSED_BY_RUNS = ("django.forms", "django.core.checks", "sqlparse")
"""What the tables of runs name and never use."""

_ONE_AT_A_TIME = RLock()


class _Postponed(ModuleType):
    """A module that is loaded when something in it is first asked for.

    Python's own `LazyLoader` loads a module as soon as a second one imports it (Python 3.11).
    """

    def __getattr__(self, name: str) -> object:
        with _ONE_AT_A_TIME:
            loader = self.__dict__.pop("_loader", None)
            if loader is not None:
                loader.exec_module(self)
        if name in self.__dict__:
            return self.__dict__[name]
        message = f"module `{self.__name__}` has no attribute `{name}`"
        raise AttributeError(message)


def postpone(*names: str) -> None:
    """Let modules be loaded when something in them is first asked for, and not when they are imported.

    Args:
        names: Modules, with all that they import; those that are loaded already stay so.
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        module = _Postponed(name)
        vars(module).update(__spec__=spec, __file__=spec.origin, __package__=spec.parent, _loader=spec.loader)
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        sys.modules[name] = module
        package, _, own_name = name.rpartition(".")
        if package:
            setattr(sys.modules[package], own_name, module)
