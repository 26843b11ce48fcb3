"""A stand-in for the base class's own module, for classes that come without it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from theodolite.aria import BASE_MODULE, AriaDialogAPI


class _StandIn(MetaPathFinder, Loader):
    """Finds the base class's module where nobody else does, and fills it with ours."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == BASE_MODULE else None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["AriaDialogAPI"] = AriaDialogAPI


@contextmanager
def base_class_at_hand() -> Iterator[None]:
    """Let `from aria_dialog_api_base import AriaDialogAPI` work while a class is loaded.

    A module of that name in the study's folder or among the installed ones comes
    first. The stand-in is forgotten afterwards, so that it hides no other
    study's own.
    """
    finder = _StandIn()
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        module = sys.modules.get(BASE_MODULE)
        if module is not None and isinstance(getattr(module, "__loader__", None), _StandIn):
            del sys.modules[BASE_MODULE]
